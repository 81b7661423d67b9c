package entities

import "github.com/ctxd/ctxd/entities/names"

// A Skip tells which entities to leave out, those that do not exist for the one who
// asks: the answer is that of a store without them, nothing of them is counted, ranked
// or told. It is called with the Store locked and must not call it. A nil Skip leaves
// out none and costs nothing.
type Skip func(e *Entity) bool

// skipByID returns the same for an index of names.
func (s *Store) skipByID(skip Skip) func(id string) bool {
	if skip == nil {
		return nil
	}
	return func(id string) bool { return skip(s.byID[id]) }
}

// Named returns the entities with that name or alias, compared without case:
// the live ones, or when there are none those that are archived. By id.
func (s *Store) Named(name string, skip Skip) []*Entity {
	key := Fold(name)
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.liveOrArchived(s.names.Exact(key, s.skipByID(skip)))
}

// MatchName reports whether fold is the fold of a name or alias, and whether it
// is the beginning of one: a longer text can only be a name while it is.
func (s *Store) MatchName(fold string, skip Skip) (whole, beginning bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.names.Match(fold, s.skipByID(skip))
}

// Complete returns the live entities that typed may mean (see
// names.Index.Complete), of the given types, or of any when types is empty. With
// publicOnly private ones do not exist.
func (s *Store) Complete(typed string, types []string, limit int, publicOnly bool) []names.Hit {
	kinds := foldAll(types)
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.names.Complete(typed, kinds, limit, publicOnly)
}

// CompleteShown is Complete of public entities by the names that hides does not tell of (see names.Index.CompleteShown).
// hides must not ask the Store.
func (s *Store) CompleteShown(typed string, types []string, limit int, hides func(id, name string) bool) []names.Hit {
	kinds := foldAll(types)
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.names.CompleteShown(typed, kinds, limit, hides)
}

func foldAll(list []string) []string {
	out := make([]string, len(list))
	for i, t := range list {
		out[i] = Fold(t)
	}
	return out
}

// Handled returns the entities with a handle (see names.Handle), compared without
// case: the live ones, or when there are none those that are archived. By id. O(1), but for
// the first call.
func (s *Store) Handled(handle string, skip Skip) []*Entity {
	s.mu.RLock()
	if !s.names.HasHandles() {
		s.mu.RUnlock()
		s.mu.Lock()
		s.names.Handled("", nil)
		s.mu.Unlock()
		s.mu.RLock()
	}
	defer s.mu.RUnlock()
	return s.liveOrArchived(s.names.Handled(handle, s.skipByID(skip)))
}

// liveOrArchived returns the live entities of a list, or when there are none those
// archived.
func (s *Store) liveOrArchived(ids []string) []*Entity {
	var live, archived []*Entity
	for _, id := range ids {
		if e := s.byID[id]; e.Live() {
			live = append(live, e)
		} else if e != nil {
			archived = append(archived, e)
		}
	}
	if len(live) > 0 {
		return live
	}
	return archived
}
