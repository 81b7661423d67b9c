package memory

import (
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/kv"
)

// Touched returns the memory or the context that a change may give another place among the handles, ""
// for none. To count a use changes nothing else of a memory.
func Touched(ch kv.Change) (memoryID, contextID string) {
	if _, _, ok := Records.Of(ch); ok {
		return ch.ID, ""
	}
	if _, _, ok := uses.Of(ch); ok {
		return ch.ID, ""
	}
	if _, _, ok := StoredContexts.Of(ch); ok {
		return "", ch.ID
	}
	return "", ""
}

// LastUsed is when a memory was used or changed last. O(1).
func (s *Store) LastUsed(m *Record) time.Time {
	s.mu.RLock()
	defer s.mu.RUnlock()
	u := s.use[m.ID]
	if u == nil || u.LastUsedAt == nil || u.LastUsedAt.Before(m.UpdatedAt) {
		return m.UpdatedAt
	}
	return *u.LastUsedAt
}

// StoredContexts is All for contexts.
func (s *Store) StoredContexts() iter.Seq[*StoredContext] {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Values(slices.Collect(maps.Values(s.contexts)))
}

// StoredContext is Stored for a context.
func (s *Store) StoredContext(id string) *StoredContext {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.contexts[id]
}

// ShowsHandle reports whether the handle is made of nothing that a reader is not shown.
func (m *Record) ShowsHandle(v *audience.View) bool { return !hidesHandle(v, m) }
