package memory_test

import (
	"math"
	"testing"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/record"
)

func TestMEM45_ScoresAreIntegerHundredths(t *testing.T) {
	for _, c := range []struct {
		outcomes []string
		want     float64
	}{
		{nil, 0.5},
		{[]string{"worked"}, 0.7},
		{[]string{"worked", "worked"}, 0.9},
		{[]string{"worked", "worked", "worked"}, 1},
		{[]string{"failed"}, 0.2},
		{[]string{"failed", "failed"}, 0},
		{[]string{"failed", "failed", "worked"}, 0.2},
		{[]string{"partial"}, 0.55},
		{[]string{"unknown"}, 0.5},
		{[]string{"failed", "failed", "failed", "unknown"}, 0},
	} {
		u := new(record.MemoryUse)
		for _, o := range c.outcomes {
			memory.ApplyOutcome(u, o)
		}
		if got := memory.Score(u); got != memory.ToHundredths(c.want) || len(c.outcomes) > 0 && u.Score != c.want {
			t.Errorf("%v: score %d and %v, want %v", c.outcomes, got, u.Score, c.want)
		}
	}
}

// lower is the formula of Wilson in binary.
func lower(worked, failed int) float64 {
	const z = 1.96
	n := float64(worked + failed)
	p := float64(worked) / n
	return (p + z*z/(2*n) - z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))) / (1 + z*z/n)
}

func TestMEM46_WilsonIsTheLowerBound(t *testing.T) {
	for _, c := range []struct{ worked, failed, want int }{
		{0, 0, 50}, {1, 0, 21}, {0, 1, 0}, {2, 0, 34}, {3, 0, 44}, {5, 0, 57}, {10, 0, 72}, {8, 2, 49}, {100, 0, 96}, {5, 5, 24},
	} {
		if got := memory.WilsonBound(c.worked, c.failed); got != c.want {
			t.Errorf("Wilson(%d, %d) = %d, want %d", c.worked, c.failed, got, c.want)
		}
	}
	check := func(worked, failed int) {
		exact := 100 * max(lower(worked, failed), 0)
		if math.Abs(exact-math.Floor(exact)-0.5) < 1e-6 {
			return // binary cannot tell which way it rounds
		}
		if got := memory.WilsonBound(worked, failed); got != int(math.Round(exact)) {
			t.Fatalf("Wilson(%d, %d) = %d, and the formula says %v", worked, failed, got, exact)
		}
	}
	for worked := range 120 {
		for failed := range 120 {
			if worked+failed > 0 {
				check(worked, failed)
			}
		}
	}
	check(499_999, 1)
	check(499_999, 2)
	check(3_000_000_000, 1_000_000_000)
}
