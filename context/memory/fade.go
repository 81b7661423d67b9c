package memory

// This file says how sure a memory is that nobody repeats. What a model took out of a conversation, or said itself,
// fades: its confidence is multiplied by exp(-0.01) for each whole period of 24 hours since it was created, supported
// or changed. What a person or a program wrote down does not, nor do names, values and what is pinned.
//
// Nothing is written when it fades: readers of a memory ask [ConfidenceAt]. It is pure, O(1), and may be called
// concurrently.

import (
	"math"
	"time"

	"github.com/ctxd/ctxd/entities/record"
)

const (
	perPeriod = 0.01
	period    = 24 * time.Hour
)

// Fades reports whether a memory fades at all.
func Fades(m *record.MemoryRecord) bool {
	return (m.Source.Kind == "extraction" || m.Source.Kind == "assistant") &&
		m.Kind != record.MemoryIdentity && m.Kind != record.MemoryValue && !m.Pinned && !m.AlwaysInject
}

// ConfidenceAt returns how sure a memory is at a time, from 0 to 1. Before the time that its confidence is of, as with a
// clock that was set back, it is what is stored.
func ConfidenceAt(m *record.MemoryRecord, now time.Time) float64 {
	if !Fades(m) {
		return m.Confidence
	}
	n := periods(m, now)
	if n <= 0 {
		return m.Confidence
	}
	return m.Confidence * math.Exp(-perPeriod*float64(n))
}

// nextFade returns when Confidence is another next, the zero time for one that does not fade.
func nextFade(m *record.MemoryRecord, now time.Time) time.Time {
	if !Fades(m) {
		return time.Time{}
	}
	return m.ConfidenceAt.Add(period * time.Duration(max(0, periods(m, now))+1))
}

// periods are the whole ones that have passed since the time of the confidence.
func periods(m *record.MemoryRecord, now time.Time) int64 {
	return int64(now.Sub(m.ConfidenceAt) / period)
}
