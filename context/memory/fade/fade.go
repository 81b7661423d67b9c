package fade

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

// Confidence returns how sure a memory is at a time, from 0 to 1. Before the time that its confidence is of, as with a
// clock that was set back, it is what is stored.
func Confidence(m *record.MemoryRecord, now time.Time) float64 {
	if !Fades(m) {
		return m.Confidence
	}
	n := periods(m, now)
	if n <= 0 {
		return m.Confidence
	}
	return m.Confidence * math.Exp(-perPeriod*float64(n))
}

// Next returns when Confidence is another next, the zero time for one that does not fade.
func Next(m *record.MemoryRecord, now time.Time) time.Time {
	if !Fades(m) {
		return time.Time{}
	}
	return m.ConfidenceAt.Add(period * time.Duration(max(0, periods(m, now))+1))
}

// periods are the whole ones that have passed since the time of the confidence.
func periods(m *record.MemoryRecord, now time.Time) int64 {
	return int64(now.Sub(m.ConfidenceAt) / period)
}
