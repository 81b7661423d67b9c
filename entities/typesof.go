package entities

import (
	"slices"

	"github.com/ctxd/ctxd/entities/kv"
)

// TypeKey is what records about a type are kept by: two types of one name have two keys.
func TypeKey(t *Type) string { return typeKey(Fold(t.Name), t.Vault) }

// typeKey is TypeKey for a folded name. No name has a line break.
func typeKey(fold, vault string) string {
	if vault == "" {
		return fold
	}
	return fold + "\n" + vault
}

// CountOf returns the number of live entities of a type. O(1) while no other has its name,
// else O(n) in the entities of that name.
func (s *Store) CountOf(t *Type) int {
	key := Fold(t.Name)
	s.mu.Early().RLock()
	defer s.mu.Early().RUnlock()
	m, named := s.byType[key], s.types[key]
	if m == nil {
		return 0
	}
	if len(named.All()) == 1 {
		return len(m.ids)
	}
	n := 0
	for _, e := range m.ids {
		if named.Of(e) == t {
			n++
		}
	}
	return n
}

// ForgetTypes removes the types of a vault whose own entities are gone, and returns the keys
// of their records (see TypeKey). Of a type that entities of others still have, everybody's
// becomes what these have values of.
func ForgetTypes(tx *kv.Tx, vault string) (keys []string, err error) {
	all := make(map[string]*NamedTypes)
	for key, named := range TypeRecords.All(tx, "") {
		if named.OfVault(vault) != nil {
			all[key] = named
			keys = append(keys, typeKey(key, vault))
		}
	}
	if tx.Err() != nil || len(all) == 0 {
		return nil, tx.Err()
	}
	used := make(map[string]map[string]bool) // by the key of the type, the folds of fields
	for _, e := range EntityRecords.All(tx, "") {
		key := Fold(e.Type)
		named := all[key]
		if named == nil || named.Of(e).Vault != vault || named.Without(vault).Of(e) != nil {
			continue
		}
		if used[key] == nil {
			used[key] = make(map[string]bool)
		}
		for name := range e.Fields {
			used[key][Fold(name)] = true
		}
	}
	if err := tx.Err(); err != nil {
		return nil, err
	}
	for key, named := range all {
		next := named.Without(vault)
		if fields := used[key]; fields != nil {
			next = next.With(everybodys(named, named.OfVault(vault), fields))
		}
		if err := putNamed(tx, key, next); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// everybodys returns a type of a vault as one of everybody, with the fields whose folds are
// used and with those that are computed.
func everybodys(named *NamedTypes, t *Type, used map[string]bool) *Type {
	out := *t
	out.Vault, out.Version = "", named.Next()
	out.Fields = slices.DeleteFunc(slices.Clone(t.Fields), func(f Field) bool {
		return !used[Fold(f.Name)] && !f.Type.IsComputed()
	})
	return &out
}

// Since format 7 of the store a type may be that of a vault, and an entity that comes from a
// file says of which.

// UpgradeVaults brings the types and entities of a store of format 6 or older into format 7.
// of are the vaults of the entities that come from files, by the id of the entity. It returns
// for the folds of the names of inferred types the vaults whose types they have become; ""
// stands for everybody.
//
// An inferred type becomes that of the vault whose notes have it. Of several each gets one,
// with the fields that its entities have values of. Whose a declared type is was not kept: it
// stays everybody's until a vault declares it again (see PutType).
func UpgradeVaults(tx *kv.Tx, of map[string]string) (inferred map[string][]string, err error) {
	used := make(map[string]map[string]map[string]bool) // folds of fields by vault by the fold of the type
	for id, e := range EntityRecords.All(tx, "") {
		vault := ""
		if e.VaultBacked {
			vault = of[id]
		}
		key := Fold(e.Type)
		if used[key] == nil {
			used[key] = make(map[string]map[string]bool)
		}
		if used[key][vault] == nil {
			used[key][vault] = make(map[string]bool)
		}
		for name := range e.Fields {
			used[key][vault][Fold(name)] = true
		}
		if vault == "" {
			continue
		}
		e.Vault = vault
		if err := EntityRecords.Put(tx, id, e); err != nil {
			return nil, err
		}
	}
	if tx.Err() != nil {
		return nil, tx.Err()
	}
	inferred = make(map[string][]string)
	for key, named := range TypeRecords.All(tx, "") {
		next := named
		if named.Inferred {
			next, inferred[key] = divide(named, used[key])
		} else {
			next.Unclaimed = len(of) > 0
		}
		if err := TypeRecords.Put(tx, key, next); err != nil {
			return nil, err
		}
	}
	return inferred, tx.Err()
}

// divide gives an inferred type to the vaults that have entities of it, with the fields that
// each uses. It returns the types and the vaults.
func divide(named *NamedTypes, used map[string]map[string]bool) (*NamedTypes, []string) {
	var vaults []string
	for vault := range used {
		if vault != "" {
			vaults = append(vaults, vault)
		}
	}
	slices.Sort(vaults)
	if len(vaults) == 0 {
		return named, []string{""}
	}
	next := named.Without("")
	for _, vault := range vaults {
		t := named.Type
		t.Vault = vault
		if len(vaults) > 1 {
			unused := func(f Field) bool { return !used[vault][Fold(f.Name)] }
			t.Fields = slices.DeleteFunc(slices.Clone(t.Fields), unused)
		}
		next = next.With(&t)
	}
	if used[""] != nil && len(vaults) > 1 {
		vaults, next = append(vaults, ""), next.With(&named.Type)
	}
	return next, vaults
}
