package memory

import (
	"cmp"
	"iter"
	"slices"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities/record"
)

// Owner returns what has a handle, and whether the handle is a former one, as far as the reader sees it; kind
// is "" for nothing. O(1).
func (s *Store) Owner(v *audience.View, h string) (kind, id string, former bool) {
	folded := refs.FoldHandle(h)
	s.mu.RLock()
	by := s.byHandle[folded]
	m, c := s.byID[by.ID], s.contexts[by.ID]
	s.mu.RUnlock()
	switch {
	case by.Kind == KindMemory && Sees(v, m) && !hidesHandle(v, m) && (!v.Hides() || m.isCalled(folded)):
		return KindMemory, m.ID, refs.FoldHandle(m.Handle) != folded
	case by.Kind == KindContext && c != nil && v.Sees(c.Private) && c.ShowsHandle(v) && (!v.Hides() || c.isCalled(folded)):
		return KindContext, c.ID, refs.FoldHandle(c.Handle) != folded
	}
	return "", "", false
}

// ByNumber returns the id of the memory with a number, "" for none that the reader sees.
func (s *Store) ByNumber(v *audience.View, number int64) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	id := s.byNumber[number]
	if !Sees(v, s.byID[id]) {
		return ""
	}
	return id
}

// ByID returns what has an id, KindMemory or KindContext; "" for nothing that the reader sees.
func (s *Store) ByID(v *audience.View, id string) (kind string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	switch {
	case Sees(v, s.byID[id]):
		return KindMemory
	case s.seesContext(v)(id):
		return KindContext
	}
	return ""
}

// Single returns the ids of the memory that a reference to one memory leads to: itself or what it was merged
// into, and behind one that is superseded what holds now, as far as the reader sees them. retracted
// reports that it leads to one that was wrong, and then to nothing.
func (s *Store) Single(v *audience.View, id string) (ids []string, retracted bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for range maxMerges + 1 {
		m := s.merged(v, id)
		switch {
		case m == nil, slices.Contains(ids, m.ID):
			return ids, false
		case m.Status == record.MemoryRetracted:
			return ids, len(ids) == 0
		}
		ids = append(ids, m.ID)
		if m.Status != record.MemorySuperseded {
			break
		}
		id = m.SupersededBy
	}
	return ids, false
}

// merged returns a memory, or what it was merged into; nil where that leads to nothing. Hold s.mu.
func (s *Store) merged(v *audience.View, id string) *Record {
	for range maxMerges + 1 {
		m := s.as(v, s.byID[id])
		if m == nil || m.Status != record.MemoryMerged {
			return m
		}
		id = m.MergedInto
	}
	return nil
}

// Group returns the ids of the memories of a group that are found by default and that the reader sees, in
// the order of references: the last changed first, then by id. The key is an id, or the fold of a tag or
// domain. O(n log n), n memories in the group.
func (s *Store) Group(v *audience.View, kind audience.GroupKind, key string) []string {
	s.mu.RLock()
	list := s.current(v, s.groups.Members(kind, key))
	s.mu.RUnlock()
	if v.Hides() && kind < audience.GroupEntity {
		list = slices.DeleteFunc(list, func(m *Record) bool { return !showsLabel(v, kind, m, key) })
	}
	return inOrder(list)
}

// showsLabel reports whether a reader is shown the tag or domain by which a memory belongs to a group.
func showsLabel(v *audience.View, kind audience.GroupKind, m *Record, fold string) bool {
	labels := m.Tags
	if kind == audience.GroupDomain {
		labels = m.Domains
	}
	return slices.ContainsFunc(labels, func(label string) bool {
		return audience.LabelWithin(label, fold) && v.TextOf("", label) == label
	})
}

// current returns the memories with ids that are found by default, each as often as its id comes. Hold s.mu.
func (s *Store) current(v *audience.View, ids iter.Seq[string]) []*Record {
	var list []*Record
	for id := range ids {
		m := s.as(v, s.byID[id])
		if m != nil && m.Current() {
			list = append(list, m)
		}
	}
	return list
}

// inOrder returns the ids of memories in the order of references, each once.
func inOrder(list []*Record) []string {
	slices.SortFunc(list, func(a, b *Record) int {
		return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(a.ID, b.ID))
	})
	list = slices.CompactFunc(list, func(a, b *Record) bool { return a.ID == b.ID })
	ids := make([]string, len(list))
	for i, m := range list {
		ids[i] = m.ID
	}
	return ids
}

// Labelled returns the folds of the tags or domains with a handle, in their order.
func (s *Store) Labelled(kind audience.GroupKind, h string) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.groups.Handled(kind, refs.FoldHandle(h))
}

// Tree returns the ids of the memories that belong to a context or to one below it, in the order of Group,
// as far as the reader sees them. The context itself has depth 0; deeper tells that there are contexts below
// those of the deepest level that is looked at. O(n log n).
func (s *Store) Tree(v *audience.View, id string, deepest int) (ids []string, deeper bool) {
	s.mu.RLock()
	list := s.current(v, func(yield func(string) bool) {
		for c, depth := range s.groups.Tree(id, s.seesContext(v)) {
			if depth > deepest {
				deeper = true
				return
			}
			for m := range s.groups.In(c) {
				if !yield(m) {
					return
				}
			}
		}
	})
	s.mu.RUnlock()
	return inOrder(list), deeper
}

// seesContext returns the test of what contexts are there for a reader. Hold s.mu when it is called.
func (s *Store) seesContext(v *audience.View) func(id string) bool {
	return func(id string) bool {
		c := s.contexts[id]
		return c != nil && v.Sees(c.Private)
	}
}

// Called returns the contexts that a audience.ContextNameKey names, as the reader sees them: of several those highest
// in the tree, by id. beginning reports whether a longer text may name one.
func (s *Store) Called(v *audience.View, key string) (list []*Context, beginning bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	ids, beginning := s.groups.Called(key)
	sees, least := s.seesContext(v), 0
	for _, id := range ids {
		c := s.contexts[id]
		if !sees(id) || v.TextOf("", c.Name) != c.Name {
			continue
		}
		depth := s.groups.Depth(id, maxContextDepth, sees)
		if depth < least {
			list = nil
		}
		if len(list) == 0 || depth == least {
			list, least = append(list, s.shownContext(v, c)), depth
		}
	}
	return list, beginning
}
