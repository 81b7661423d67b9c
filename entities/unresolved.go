package entities

import "slices"

// CountUnresolved counts the references of live entities that lead to no record: of those
// that pick chooses, the ids and texts in their references that leads does not say yes to.
func (s *Store) CountUnresolved(pick func(*Entity) bool, leads func(f Field, ref string) bool) (n int) {
	for _, e := range slices.Collect(s.All()) {
		if !e.Live() || !pick(e) {
			continue
		}
		t := s.Type(e.Type)
		if t == nil {
			continue
		}
		for _, f := range t.Fields {
			if !f.Type.IsRef() {
				continue
			}
			for _, ref := range e.Strings(f.Name) {
				if !leads(f, ref) {
					n++
				}
			}
		}
	}
	return n
}
