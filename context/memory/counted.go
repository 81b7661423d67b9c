package memory

import (
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/record"
)

// maxCounted is how many levels below a context are counted with it, as many as a reference takes in.
const maxCounted = 10

// Counted returns contexts with how many memories that a reader sees belong to each, and to each with what
// lies below it as far as he sees that. O(memories in what lies below them).
func (s *Store) Counted(v *audience.View, list []*Context) []record.CountedContext {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]record.CountedContext, len(list))
	for i, c := range list {
		out[i] = record.CountedContext{Context: *c, ContextCounts: s.countsOf(v, c.ID)}
	}
	return out
}

// countsOf counts the active and contested memories of a context that a reader sees. One that belongs to
// several contexts of a tree counts once there.
func (s *Store) countsOf(v *audience.View, id string) record.ContextCounts {
	n := record.ContextCounts{Memories: s.membersOf(v, id)}
	if len(s.groups.Below(id)) == 0 {
		n.WithBelow = n.Memories
		return n
	}
	seen := make(map[string]bool)
	for below, depth := range s.groups.Tree(id, s.seesContext(v)) {
		if depth > maxCounted {
			break
		}
		for m := range s.groups.In(below) {
			if seen[m] {
				continue
			}
			if r := s.as(v, s.byID[m]); r != nil && r.Current() {
				seen[m] = true
			}
		}
	}
	n.WithBelow = len(seen)
	return n
}
