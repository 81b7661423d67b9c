package record

import "slices"

// NamedTypes are the types of one name. Each vault may have its own, declared in its folder
// or inferred from its notes, and there may be one of everybody beside them, put by a client
// or inferred from notes of no vault. A nil NamedTypes has none.
type NamedTypes struct {
	Type          // of everybody; version 0: there is none, and only its name counts
	Vaults []Type `json:"vaults,omitempty"` // of vaults, by the name of the vault
	// Unclaimed says that the type of everybody is declared since a time when it was not kept
	// by whom: the first vault that declares it has declared it.
	Unclaimed bool `json:"unclaimed,omitempty"`
}

// Everybody returns the type of everybody, nil for none.
func (n *NamedTypes) Everybody() *Type {
	if n == nil || n.Version == 0 {
		return nil
	}
	return &n.Type
}

// OfVault returns the type of a vault, nil for none; that of everybody for "".
func (n *NamedTypes) OfVault(vault string) *Type {
	if n == nil || vault == "" {
		return n.Everybody()
	}
	for i := range n.Vaults {
		if n.Vaults[i].Vault == vault {
			return &n.Vaults[i]
		}
	}
	return nil
}

// All returns the types, that of everybody first, then by vault.
func (n *NamedTypes) All() []*Type {
	if n == nil {
		return nil
	}
	list := make([]*Type, 0, 1+len(n.Vaults))
	if t := n.Everybody(); t != nil {
		list = append(list, t)
	}
	for i := range n.Vaults {
		list = append(list, &n.Vaults[i])
	}
	return list
}

// Only returns the type that is meant where no vault is named: that of everybody, or the
// only one. several says that there are more, and that nobody knows which.
func (n *NamedTypes) Only() (t *Type, several bool) {
	if t := n.Everybody(); t != nil || n == nil {
		return t, false
	}
	if len(n.Vaults) == 1 {
		return &n.Vaults[0], false
	}
	return nil, len(n.Vaults) > 1
}

// Own returns the type that notes of a vault have, "" for none: the one that the vault
// declares, else the one of everybody if it is declared, else the one inferred from these
// notes. Notes of no vault also have what a vault declares when nobody else declares it.
// nil says that they have none yet.
func (n *NamedTypes) Own(vault string) *Type {
	if vault == "" {
		return n.In("", false)
	}
	own := n.OfVault(vault)
	if every := n.Everybody(); every != nil && !every.Inferred && (own == nil || own.Inferred) {
		return every
	}
	return own
}

// Of returns the type of an entity, or nil. O(1) in everything but the number of vaults
// that have a type of the name.
func (n *NamedTypes) Of(e *Entity) *Type { return n.In(e.Vault, e.VaultBacked) }

// In returns the type of entities that come from a file of the vault, or of those that do
// not come from a file and had the vault's type before, "" for no vault.
//
// That of a file is what Own says. For others a declared type comes before an inferred one,
// and that of everybody before those of vaults. Where neither has any, it is that of another
// vault, the first by name if there are several: values that show something are better than
// none.
func (n *NamedTypes) In(vault string, file bool) *Type {
	if n == nil {
		return nil
	}
	if len(n.Vaults) == 0 { // nearly always
		return n.Everybody()
	}
	if file {
		if own := n.Own(vault); own != nil {
			return own
		}
	}
	every := n.Everybody()
	if every != nil && (file || !every.Inferred) {
		return every
	}
	of := n.OfVault(vault)
	if vault == "" || of == nil {
		at := slices.IndexFunc(n.Vaults, func(t Type) bool { return !t.Inferred })
		of = &n.Vaults[max(at, 0)]
	}
	if every != nil && of.Inferred {
		return every
	}
	return of
}

// With returns n with one of its types replaced by t or added; n stays as it is.
func (n *NamedTypes) With(t *Type) *NamedTypes {
	out := &NamedTypes{Type: Type{Name: t.Name, Fields: []Field{}}}
	if n != nil {
		*out = *n
		out.Vaults = slices.Clone(n.Vaults)
	}
	if t.Vault == "" {
		out.Type = *t
		return out
	}
	at, found := slices.BinarySearchFunc(out.Vaults, t.Vault, func(t Type, vault string) int {
		switch {
		case t.Vault < vault:
			return -1
		case t.Vault > vault:
			return 1
		}
		return 0
	})
	if found {
		out.Vaults[at] = *t
	} else {
		out.Vaults = slices.Insert(out.Vaults, at, *t)
	}
	return out
}

// Without returns n without the type of a vault, "" for that of everybody, nil when none is
// left; n stays as it is.
func (n *NamedTypes) Without(vault string) *NamedTypes {
	if n == nil {
		return nil
	}
	out := *n
	if vault == "" {
		out.Type, out.Unclaimed = Type{Name: n.Name, Fields: []Field{}}, false
	}
	out.Vaults = slices.DeleteFunc(slices.Clone(n.Vaults), func(t Type) bool { return vault != "" && t.Vault == vault })
	if out.Version == 0 && len(out.Vaults) == 0 {
		return nil
	}
	return &out
}

// Next returns the version of the next change of one of the types. It is more than that of
// any other, so that a version says which of them it is of.
func (n *NamedTypes) Next() int {
	last := 0
	for _, t := range n.All() {
		last = max(last, t.Version)
	}
	return last + 1
}
