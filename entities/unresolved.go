package entities

// EachRef visits the references in fields of live entities, of those that pick chooses: ids, and texts that lead to no record.
func (s *Store) EachRef(pick func(*Entity) bool, visit func(e *Entity, f Field, ref string)) {
	for e := range s.All() {
		if !e.Live() || !pick(e) {
			continue
		}
		t := s.TypeOf(e)
		if t == nil {
			continue
		}
		for _, f := range t.Fields {
			if !f.Type.IsRef() {
				continue
			}
			for _, ref := range e.Strings(f.Name) {
				visit(e, f, ref)
			}
		}
	}
}

// ResolveRef returns the id of the record that a text in a field means, in a note of id from; the text itself where it is an
// id, and where nothing is called so.
func (s *Store) ResolveRef(f Field, text, from string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.resolveText(f, text, from)
}
