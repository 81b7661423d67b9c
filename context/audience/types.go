package audience

import "github.com/ctxd/ctxd/entities"

// A type is for a remote reader as public notes alone have made it. One of a vault
// does not exist for who sees no note of that vault: its name says that there is the vault.

// TypesNamed returns the types of a name, nil for none.
func (v *View) TypesNamed(name string) *entities.NamedTypes {
	named := v.entities.TypesNamed(name)
	if !v.hides || named == nil {
		return named
	}
	var out *entities.NamedTypes
	for _, t := range named.All() {
		if public := v.shownType(t); public != nil {
			out = out.With(public)
		}
	}
	return out
}

// Type returns the type that entities of that name get which come from no vault, or nil.
func (v *View) Type(name string) *entities.Type { return v.TypesNamed(name).In("", false) }

// TypeOf returns the type of an entity that the reader sees, or nil.
func (v *View) TypeOf(e *entities.Entity) *entities.Type {
	t := v.entities.TypeOf(e)
	if v.hides && t != nil {
		return v.notes.PublicType(t)
	}
	return t
}

// FindType returns the type of a vault, or for "" that of everybody or the only one. The
// error names the vaults that have one, and is one of a type that the reader may not know
// of as of one that there is not.
func (v *View) FindType(name, vault string) (*entities.Type, error) {
	return entities.FindType(v.TypesNamed(name), name, vault)
}

// Types returns the declared types by name, then by vault, each as Type does.
func (v *View) Types() []*entities.Type {
	all := v.entities.Types()
	if !v.hides {
		return all
	}
	list := make([]*entities.Type, 0, len(all))
	for _, t := range all {
		if public := v.shownType(t); public != nil {
			list = append(list, public)
		}
	}
	return list
}

// shownType returns a type of the store as a remote reader sees it, nil for one that does not
// exist for the reader.
func (v *View) shownType(t *entities.Type) *entities.Type {
	if t.Vault != "" && !v.seen().sees(t.Vault, v.notes, v.SeesNote) {
		return nil
	}
	return v.notes.PublicType(t)
}

// Count returns the number of live entities of a type.
func (v *View) Count(t *entities.Type) int {
	if !v.masks() {
		return v.entities.CountOf(t)
	}
	n := 0
	for _, e := range v.entities.OfType(t.Name) {
		if own := v.entities.TypeOf(e); own != nil && own.Vault == t.Vault && v.SeesEntity(e) {
			n++
		}
	}
	return n
}
