package wql

import (
	"math"
	"strconv"
)

// RangeText writes a range of keys as people write it.
func (c indexClass) RangeText(low, high int64) string {
	lowest, highest := low == math.MinInt64, high == math.MaxInt64
	// The end of < and > is the neighbour of the number that was written.
	from, above := c.endText(low, low-1)
	to, below := c.endText(high, high+1)
	atLeast, atMost := "at least ", "at most "
	if above {
		atLeast = "above "
	}
	if below {
		atMost = "below "
	}
	from, to = atLeast+from, atMost+to
	switch {
	case lowest && highest:
		return "at all"
	case low == high:
		return "= " + c.KeyText(low)
	case lowest:
		return to
	case highest:
		return from
	}
	return from + " and " + to
}

// endText writes the end of a range, or its neighbour outside when that is the
// rounder number.
func (c indexClass) endText(key, outside int64) (text string, isOutside bool) {
	text = c.KeyText(key)
	if c != classNumber {
		return text, false
	}
	if other := c.KeyText(outside); len(other) < len(text) {
		return other, true
	}
	return text, false
}

// KeyText writes a key of a class with an order.
func (c indexClass) KeyText(key int64) string {
	switch c {
	case classDay:
		return formatDay(key)
	case classMicros:
		s, _ := valueText(&datum{Kind: kindInstant, Int: key})
		return s
	}
	return strconv.FormatFloat(keyNumber(key), 'g', -1, 64)
}
