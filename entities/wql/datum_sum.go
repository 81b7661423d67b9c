package wql

import "math"

// exactSum adds numbers without rounding, so that the sum does not depend on the
// order the rows came in, and however many there are, in the memory of a few.
// The parts do not overlap, and grow (Shewchuk, Adaptive Precision
// Floating-Point Arithmetic, 1997).
type exactSum []float64

// Add adds a number.
func (s *exactSum) Add(x float64) {
	n := 0
	for _, y := range *s {
		if math.Abs(x) < math.Abs(y) {
			x, y = y, x
		}
		high := x + y
		if low := y - (high - x); low != 0 {
			(*s)[n] = low
			n++
		}
		x = high
	}
	*s = (*s)[:n]
	*s = append(*s, x)
}

// Total is the sum, rounded once.
func (s *exactSum) Total() float64 {
	parts := *s
	n := len(parts) - 1
	if n < 0 {
		return 0
	}
	high, low := parts[n], 0.0
	for n > 0 && low == 0 {
		n--
		x, y := high, parts[n]
		high = x + y
		low = y - (high - x)
	}
	// Half way between two numbers, what is left says which one is nearer.
	if n > 0 && (low < 0) == (parts[n-1] < 0) && low != 0 {
		if twice := high + 2*low; twice-high == 2*low {
			high = twice
		}
	}
	return high
}
