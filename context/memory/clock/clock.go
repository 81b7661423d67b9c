package clock

import (
	"cmp"
	"slices"
	"time"
)

// Log has when the memories with their numbers were written.
type Log struct {
	now time.Time
	all []written
}

type written struct {
	number int64
	latest time.Time // of this one and those before it
}

// New begins a log of at most n memories.
func New(now time.Time, n int) *Log { return &Log{now, make([]written, 0, n)} }

// Add notes a memory. Times that are still to come count for nothing: there the clock stood in the future.
func (l *Log) Add(number int64, at time.Time) {
	if !at.After(l.now) {
		l.all = append(l.all, written{number, at})
	}
}

// Latest returns a function that tells when the last memory was written of those with smaller numbers, the zero time for
// none.
func (l *Log) Latest() func(number int64) time.Time {
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
