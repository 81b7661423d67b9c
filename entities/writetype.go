package entities

import (
	"context"
	"fmt"
	"slices"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// PutType declares a type or changes it, and returns it with what there is to
// say about it: unknown target types and queries over types that are not
// declared yet are warnings. A query that can't run is an error. A change that
// leaves values of existing entities without a field to show them is a
// Conflict that counts them, unless force is set; the values stay in their
// records and show again when the field is declared again.
//
// A type without a Vault is everybody's. It takes the place of those that were inferred
// from notes, and ifVersion is then about the one that Only finds. A vault that declares a
// type of everybody of which is not known whose it is takes it over.
func (s *Store) PutType(ctx context.Context, t Type, ifVersion *int, force bool) (*Type, []Diagnostic, error) {
	var out *Type
	var found []Diagnostic
	err := s.db.Update(ctx, func(tx *kv.Tx) (err error) {
		out, found, err = s.PutTypeTx(tx, t, ifVersion, force)
		return err
	})
	return out, found, err
}

// PutTypeTx is PutType inside a transaction of the caller.
func (s *Store) PutTypeTx(tx *kv.Tx, t Type, ifVersion *int, force bool) (*Type, []Diagnostic, error) {
	record, err := CheckType(t, s.opts.Limits.Fields)
	if err != nil {
		return nil, nil, err
	}
	key := Fold(record.Name)
	named, err := TypeRecords.Get(tx, key)
	if err != nil {
		return nil, nil, err
	}
	record.Version = named.Next()
	old := named.OfVault(record.Vault)
	if old == nil && record.Vault == "" {
		old, _ = named.Only()
	}
	have := 0
	if old != nil {
		have = old.Version
	}
	if ifVersion != nil && *ifVersion != have {
		return nil, nil, fault.Stale("type", record.Name, have, *ifVersion)
	}
	next := named.With(record)
	switch {
	case record.Inferred:
	case record.Vault == "":
		next.Vaults = slices.DeleteFunc(next.Vaults, func(t Type) bool { return t.Inferred })
		next.Unclaimed = false
	case next.Unclaimed:
		next = next.Without("")
	}
	if named != nil && !force {
		if err := checkOrphans(tx, next, record); err != nil {
			return nil, nil, err
		}
	}
	found, err := s.diagnose(tx, record)
	if err != nil {
		return nil, nil, err
	}
	return record, found, TypeRecords.Put(tx, key, next)
}

// checkOrphans refuses a change of a type that hides values of its entities. named are the
// types of the name after the change.
func checkOrphans(tx *kv.Tx, named *NamedTypes, t *Type) error {
	orphans, example := 0, ""
	for _, e := range EntityRecords.All(tx, "") {
		if Fold(e.Type) != Fold(t.Name) || named.Of(e).Vault != t.Vault {
			continue
		}
		for name, value := range e.Fields {
			if f, ok := t.Field(name); ok {
				if v, err := f.Check(value); err == nil && v != nil {
					continue
				}
			}
			orphans++
			if example == "" || name < example {
				example = name
			}
		}
	}
	if err := tx.Err(); err != nil || orphans == 0 {
		return err
	}
	return fault.Clash(fault.State, "the change would hide %d values that entities of type %s have, of field %q first",
		orphans, t.Name, example).WithRef(t.Name).
		WithHint("keep the fields as they are, or repeat with force: the values stay stored and show when the field is declared again")
}

// diagnose checks what a type refers to: its own name counts as declared.
func (s *Store) diagnose(tx *kv.Tx, t *Type) ([]Diagnostic, error) {
	found := []Diagnostic{}
	for i, f := range t.Fields {
		if f.TargetType != "" && Fold(f.TargetType) != Fold(t.Name) {
			target, err := TypeRecords.Get(tx, Fold(f.TargetType))
			if err != nil {
				return nil, err
			}
			if target == nil {
				found = append(found, Diagnostic{
					Field: f.Name, Line: 1, Column: 1, Severity: record.SeverityWarning,
					Message: fmt.Sprintf("target type %s is not declared yet", f.TargetType),
					Hint:    "declare it with types.put; until then references are accepted as they are",
				})
			}
		}
		if !f.Type.IsComputed() || s.opts.CheckQuery == nil {
			continue
		}
		for _, d := range s.opts.CheckQuery(t, f) {
			if d.Severity == record.SeverityError {
				return nil, &fault.Error{
					Kind: fault.Query, Field: fmt.Sprintf("fields[%d].query", i), Msg: d.Message, Hint: d.Hint,
					Line: d.Line, Column: d.Column, Ref: t.Name,
				}
			}
			d.Field = f.Name
			found = append(found, d)
		}
	}
	return found, nil
}

// DeleteType removes a type: that of a vault, or for "" the one that Only finds. While
// entities would be without a type, those that are archived ones included, that is a Conflict that
// counts them; with force they are archived, and come back when the type is declared
// again and they are restored.
func (s *Store) DeleteType(ctx context.Context, name, vault string, force bool) (*Type, error) {
	var t *Type
	err := s.db.Update(ctx, func(tx *kv.Tx) (err error) {
		named, err := TypeRecords.Get(tx, Fold(name))
		if err != nil {
			return err
		}
		t, err = FindType(named, name, vault)
		if err != nil {
			return err
		}
		next := named.Without(t.Vault)
		var ids []string
		for id, e := range EntityRecords.All(tx, "") {
			if Fold(e.Type) == Fold(name) && next.Of(e) == nil {
				ids = append(ids, id)
			}
		}
		if err := tx.Err(); err != nil {
			return err
		}
		if len(ids) > 0 && !force {
			return fault.Clash(fault.State, "%d entities are of type %s", len(ids), t.Name).WithRef(t.Name).
				WithHint("delete them first, or repeat with force to archive them")
		}
		for _, id := range ids {
			if err := s.ArchiveTx(tx, id); err != nil {
				return err
			}
		}
		return putNamed(tx, Fold(name), next)
	})
	return t, err
}

// FindType returns the type of a vault, or for "" the one that Only finds. name is how the
// types are called, of which there may be none.
func FindType(named *NamedTypes, name, vault string) (*Type, error) {
	if vault != "" {
		if t := named.OfVault(vault); t != nil {
			return t, nil
		}
		return nil, fault.New(fault.NotFound, "vault %s has no type %s of its own", quoted(vault), quoted(name)).
			WithRef(name).WithHint("types.list shows the types and whose they are")
	}
	t, several := named.Only()
	switch {
	case several:
		candidates := make([]fault.Candidate, len(named.Vaults))
		for i := range named.Vaults {
			candidates[i] = fault.Candidate{ID: named.Vaults[i].Vault}
		}
		return nil, fault.Clash(fault.Ambiguous, "%d vaults have a type %s of their own", len(candidates), named.Name).
			WithRef(named.Name).WithCandidates(candidates).
			WithHint("name the vault, as in {\"name\":%s,\"vault\":%s}", quoted(named.Name), quoted(candidates[0].ID))
	case t == nil:
		return nil, fault.New(fault.NotFound, "there is no type %s", quoted(name)).
			WithRef(name).WithHint("types.list shows the declared types")
	}
	return t, nil
}

// putNamed stores the types of a name, nil for none.
func putNamed(tx *kv.Tx, key string, named *NamedTypes) error {
	if named == nil {
		return TypeRecords.Delete(tx, key)
	}
	return TypeRecords.Put(tx, key, named)
}
