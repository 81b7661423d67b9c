package entities

import (
	"maps"
	"slices"
	"sync"
)

// typeMembers are the live entities of a type. Store.mu guards all but sorting.
type typeMembers struct {
	ids     map[string]*Entity
	sorted  []*Entity           // nil: to be made
	before  []*Entity           // the last sorted, while that is nil and not too much has changed
	changed map[string]struct{} // ids of those that came, went or changed since

	sorting sync.Mutex // held by the one that sorts for all; taken before Store.mu
}

// put takes an entity in.
func (m *typeMembers) put(e *Entity) {
	m.ids[e.ID] = e
	m.change(e.ID)
}

// remove takes an entity out.
func (m *typeMembers) remove(id string) {
	delete(m.ids, id)
	m.change(id)
}

func (m *typeMembers) change(id string) {
	switch {
	case m.sorted != nil:
		m.before, m.sorted, m.changed = m.sorted, nil, map[string]struct{}{id: {}}
	case m.changed != nil:
		m.changed[id] = struct{}{}
		if m.before != nil && len(m.changed) > 64+len(m.before)/8 {
			m.before, m.changed = nil, nil // to sort all is no more work
		}
	}
}

// merge makes the sorted list from the last one and what has changed since.
func (m *typeMembers) merge() {
	fresh := make([]*Entity, 0, len(m.changed))
	for id := range m.changed {
		if e := m.ids[id]; e != nil {
			fresh = append(fresh, e)
		}
	}
	slices.SortFunc(fresh, CompareEntities)
	list := make([]*Entity, 0, len(m.ids))
	for _, e := range m.before {
		if _, changed := m.changed[e.ID]; changed {
			continue
		}
		for len(fresh) > 0 && CompareEntities(fresh[0], e) < 0 {
			list, fresh = append(list, fresh[0]), fresh[1:]
		}
		list = append(list, e)
	}
	list = append(list, fresh...)
	m.sorted = list
	m.before, m.changed = nil, nil
}

// OfType returns the live entities of a type in natural order of their names,
// then by id. The slice is shared and not to be changed. O(1) unless the type
// changed since the last call: O(n) then, and O(n log n) after many changes, of
// which commits wait for no more than the former.
func (s *Store) OfType(name string) []*Entity {
	key := Fold(name)
	s.mu.Early().RLock()
	m := s.byType[key]
	if m == nil {
		s.mu.Early().RUnlock()
		return nil
	}
	sorted := m.sorted
	s.mu.Early().RUnlock()
	if sorted != nil {
		return sorted
	}
	m.sorting.Lock()
	defer m.sorting.Unlock()
	s.mu.Early().Lock()
	defer s.mu.Early().Unlock()
	if m.sorted == nil && m.before == nil {
		list := slices.Collect(maps.Values(m.ids))
		m.changed = make(map[string]struct{})
		s.mu.Early().Unlock()
		slices.SortFunc(list, CompareEntities)
		s.mu.Early().Lock()
		m.before = list
	}
	if m.sorted == nil {
		m.merge()
	}
	return m.sorted
}
