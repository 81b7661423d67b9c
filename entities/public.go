package entities

import "sync"

// PublicUse is what the live entities of a type show of it that are not private.
type PublicUse struct {
	Fields map[string]bool // names of the declared fields of which one has a value
}

// publicUses keeps what PublicUse worked out.
type publicUses struct {
	mu  sync.Mutex
	gen uint64 // of the entities that known is about
	of  map[*Type]*PublicUse
}

// PublicUse returns what the entities of a type that are not private show of it,
// nil when there are none. It is shared and not to be changed. O(n) in the entities of
// the type, once after each change of any entity, else O(1): only readers who see no
// private record ask.
func (s *Store) PublicUse(t *Type) *PublicUse {
	key := Fold(t.Name)
	u := &s.publicUses
	u.mu.Lock()
	defer u.mu.Unlock()
	s.mu.Early().RLock()
	defer s.mu.Early().RUnlock()
	if u.gen != s.gen || u.of == nil {
		u.gen, u.of = s.gen, make(map[*Type]*PublicUse)
	}
	use, known := u.of[t]
	if !known {
		use = publicUse(s.byType[key], func(e *Entity) bool { return s.types[key].Of(e) == t })
		u.of[t] = use
	}
	return use
}

func publicUse(m *typeMembers, is func(*Entity) bool) *PublicUse {
	if m == nil {
		return nil
	}
	var use *PublicUse
	for _, e := range m.ids {
		if e.Private || !is(e) {
			continue
		}
		if use == nil {
			use = &PublicUse{Fields: make(map[string]bool)}
		}
		for name := range e.Fields {
			use.Fields[name] = true
		}
	}
	return use
}
