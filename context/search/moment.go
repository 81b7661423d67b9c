package search

import (
	"strconv"
	"strings"
	"time"
)

// Dates are the ways to write a date, as in messages.
const Dates = "today, yesterday, 7d, 2w, 2026-01 or 2026-01-31"

// maxAgo is how many days or weeks back a date may be.
const maxAgo = 100_000

// Moment reads a date as people write it: today, yesterday, 7d and 2w ago, a year, a month
// or a day, which mean where they begin in the calendar of now; or a time (RFC 3339).
func Moment(text string, now time.Time) (time.Time, bool) {
	text = strings.ToLower(text)
	switch text {
	case "today":
		return daysBefore(now, 0), true
	case "yesterday":
		return daysBefore(now, 1), true
	}
	if n := len(text) - 1; n > 0 && (text[n] == 'd' || text[n] == 'w') {
		days, err := strconv.ParseUint(text[:n], 10, 32)
		if err != nil || days > maxAgo {
			return time.Time{}, false
		}
		if text[n] == 'w' {
			days *= 7
		}
		return daysBefore(now, int(days)), true
	}
	for _, layout := range [...]string{time.DateOnly, "2006-01", "2006"} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, true
		}
	}
	t, err := time.Parse(time.RFC3339, strings.ToUpper(text))
	return t, err == nil
}

// daysBefore is the beginning of a day of the calendar, which need not have 24 hours.
func daysBefore(now time.Time, days int) time.Time {
	y, m, d := now.Date()
	return time.Date(y, m, d-days, 0, 0, 0, 0, now.Location())
}
