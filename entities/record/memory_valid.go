package record

import (
	"time"

	"github.com/ctxd/ctxd/entities/text"
)

// Holds reports whether what a memory says holds at a time, as far as is known: not before ValidFrom, and not after ValidTo.
func (m *MemoryRecord) Holds(at time.Time) bool {
	return (m.ValidFrom == nil || !m.ValidFrom.After(at)) && (m.ValidTo == nil || !at.After(*m.ValidTo))
}

// Validity says when a memory holds that does not hold at a time: "until 2020-05-01", "from 2039-01-01"; "" for one that does, and for
// one whose status says already that it does not.
func (m *MemoryRecord) Validity(at time.Time) string {
	switch {
	case !m.Current():
	case m.ValidTo != nil && at.After(*m.ValidTo):
		return "until " + text.Day(*m.ValidTo)
	case m.ValidFrom != nil && m.ValidFrom.After(at):
		return "from " + text.Day(*m.ValidFrom)
	}
	return ""
}

// NextChange returns the first time after another one at which Holds changes, zero for never.
func (m *MemoryRecord) NextChange(at time.Time) (next time.Time) {
	if m.ValidTo != nil && !m.ValidTo.Before(at) {
		next = m.ValidTo.Add(1) // both ends are within
	}
	if m.ValidFrom != nil && m.ValidFrom.After(at) {
		next = *m.ValidFrom
	}
	return next
}
