package memory

// A [writeTimes] finds out when memories were written, where the clock of the machine stood wrong for a time. Numbers
// are given in order, so a memory was not written before one with a smaller number. Making one costs O(n log n), asking
// it O(log n); it is for one goroutine and keeps nothing after that.

import (
	"cmp"
	"slices"
	"time"
)

// writeTimes has when the memories with their numbers were written.
type writeTimes struct {
	now time.Time
	all []written
}

type written struct {
	number int64
	latest time.Time // of this one and those before it
}

// newWriteTimes begins a log of at most n memories.
func newWriteTimes(now time.Time, n int) *writeTimes { return &writeTimes{now, make([]written, 0, n)} }

// Add notes a memory. Times that are still to come count for nothing: there the clock stood in the future.
func (l *writeTimes) Add(number int64, at time.Time) {
	if !at.After(l.now) {
		l.all = append(l.all, written{number, at})
	}
}

// Latest returns a function that tells when the last memory was written of those with smaller numbers, the zero time for
// none.
func (l *writeTimes) Latest() func(number int64) time.Time {
	all := l.all
	slices.SortFunc(all, func(a, b written) int { return cmp.Compare(a.number, b.number) })
	for i := 1; i < len(all); i++ {
		if all[i-1].latest.After(all[i].latest) {
			all[i].latest = all[i-1].latest
		}
	}
	return func(number int64) time.Time {
		i, _ := slices.BinarySearchFunc(all, number, func(w written, n int64) int { return cmp.Compare(w.number, n) })
		if i == 0 {
			return time.Time{}
		}
		return all[i-1].latest
	}
}
