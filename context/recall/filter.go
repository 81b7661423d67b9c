package recall

import (
	"slices"
	"time"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/memory/document"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/record"
)

// heldOnce are the statuses of memories that may have held at an earlier time.
var heldOnce = []string{
	record.MemoryActive, record.MemoryContested, record.MemorySuperseded, record.MemoryDeprecated,
}

// keepMemory returns the test of the memories that may be found; nil for those that are usually found.
func (s *run) keepMemory() func(text.Doc) bool {
	f := s.req.Memories
	f.After, f.Before, f.Pinned = s.req.After, s.req.Before, nil
	all := len(f.Tiers)+len(f.Kinds)+len(f.Status)+len(f.Tags)+len(f.Contexts)+len(f.EntityIDs) == 0
	at := s.req.AsOf
	in := s.req.InConversation
	if all && in == "" && f.After.IsZero() && f.Before.IsZero() && at.IsZero() {
		if s.req.AnyValidity {
			return nil
		}
		usual := s.in.Memories.Source.Usual
		holds := document.Keep(s.holds)
		return func(d text.Doc) bool { return usual(d) && holds(d) }
	}
	if !at.IsZero() && len(f.Status) == 0 {
		f.Status = heldOnce
	}
	chosen := s.in.Store.Chooser(s.v, f)
	return document.Keep(func(m *memory.Record) bool {
		return (at.IsZero() || s.held(m, at)) && (in == "" || m.Source.ConversationID == in) && s.holds(m) && chosen(m)
	})
}

// holds reports whether a memory holds now, or on the days that the question is about. One of another status is found by
// that alone.
func (s *run) holds(m *memory.Record) bool {
	switch span := s.read.Span; {
	case s.req.AnyValidity || !s.req.AsOf.IsZero() || !m.Current():
		return true
	case span != nil:
		return span.Meets(m.ValidFrom, m.ValidTo)
	}
	return m.Holds(s.now)
}

// held reports whether a memory held at a time, as far as is known.
func (s *run) held(m *memory.Record, at time.Time) bool {
	from := m.CreatedAt
	if m.ValidFrom != nil {
		from = *m.ValidFrom
	}
	if from.After(at) {
		return false
	}
	if m.ValidTo != nil {
		return !at.After(*m.ValidTo)
	}
	by := s.in.Store.Stored(m.SupersededBy)
	return by == nil || at.Before(by.CreatedAt)
}

// saidThen returns what a memory said at a time: its last version that was written until then, its first
// one when it holds for longer than it is written down.
func (s *run) saidThen(m *record.Memory, at time.Time) (string, error) {
	if !m.UpdatedAt.After(at) {
		return m.Statement, nil
	}
	versions, err := s.in.Store.Versions(s.ctx, s.v, m.ID)
	if err != nil || len(versions) == 0 {
		return m.Statement, err
	}
	latest := versions[0]
	if m.Version > latest.Version+1 && !latest.UpdatedAt.After(at) { // when it changed is not known
		return m.Statement, nil
	}
	i := slices.IndexFunc(versions, func(was memory.Version) bool { return !was.UpdatedAt.After(at) })
	if i < 0 {
		i = len(versions) - 1
	}
	return versions[i].Statement, nil
}

// keepMessage returns the test of the messages that may be found; nil for those that are usually found.
func (s *run) keepMessage() func(text.Doc) bool {
	r := &s.req
	if r.InConversation == "" && r.After.IsZero() && r.Before.IsZero() && len(r.Memories.Tiers) == 0 {
		return nil
	}
	day := s.now.Add(-24 * time.Hour)
	return func(d text.Doc) bool {
		if !s.in.Messages.Source.Usual(d) {
			return false
		}
		m := s.in.Message(d, s.v.Hides())
		tier := record.TierHistory
		if m.CreatedAt.After(day) {
			tier = record.TierWorking
		}
		return (r.InConversation == "" || m.Conversation == r.InConversation) &&
			(len(r.Memories.Tiers) == 0 || slices.Contains(r.Memories.Tiers, tier)) &&
			(r.After.IsZero() || !m.CreatedAt.Before(r.After)) && (r.Before.IsZero() || m.CreatedAt.Before(r.Before))
	}
}
