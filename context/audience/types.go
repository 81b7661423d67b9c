package audience

import "github.com/ctxd/ctxd/entities"

// Type returns a declared type, or nil. For a remote reader it is as public notes
// alone have made it.
func (v *View) Type(name string) *entities.Type {
	if !v.hides {
		return v.entities.Type(name)
	}
	return v.notes.PublicType(name)
}

// Types returns the declared types by name, each as Type does.
func (v *View) Types() []*entities.Type {
	if !v.hides {
		return v.entities.Types()
	}
	return v.notes.PublicTypes()
}

// Count returns the number of live entities of a type.
func (v *View) Count(typeName string) int {
	if !v.masks() {
		return v.entities.Count(typeName)
	}
	n := 0
	for _, e := range v.entities.OfType(typeName) {
		if v.SeesEntity(e) {
			n++
		}
	}
	return n
}
