package entities

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// Patch says what is to change of an entity; nil members stay as they are.
type Patch struct {
	ID      string
	Name    *string
	Aliases *[]string
	Fields  Values // a nil value empties the field
	NoteID  *string
	Private *bool
}

// Put writes an entity: it replaces the one of that id, absent members are
// cleared, an unknown id creates it; the note that an entity is made from stays.
// Of e the Store takes ID (a new one when empty), Type, Name, Aliases, Fields,
// NoteID, Private, and CreatedAt and Vault when the entity is new; the rest is the Store's.
// ifVersion is the version that the caller changes, 0 for a new entity, nil for any.
func (s *Store) Put(ctx context.Context, e Entity, ifVersion *int) (*Entity, error) {
	var id string
	err := s.db.Update(ctx, func(tx *kv.Tx) error {
		record, err := s.PutTx(tx, e, PutOptions{IfVersion: ifVersion})
		if err != nil {
			return err
		}
		id = record.ID
		return nil
	})
	return s.after(id, err)
}

// PutMany writes up to MaxMany entities in one transaction: all or none. They
// may refer to each other. An error names the entity as "entities[i]".
func (s *Store) PutMany(ctx context.Context, list []Entity) ([]*Entity, error) {
	if len(list) > MaxMany {
		return nil, fault.TooLarge("entities", len(list), MaxMany, "items")
	}
	ids := make([]string, len(list))
	err := s.db.Update(ctx, func(tx *kv.Tx) error {
		for i, e := range list {
			record, err := s.PutTx(tx, e, PutOptions{})
			if err != nil {
				return fault.Under(fmt.Sprintf("entities[%d]", i), err)
			}
			ids[i] = record.ID
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]*Entity, len(ids))
	for i, id := range ids {
		out[i] = s.Get(id)
	}
	return out, nil
}

// after returns the entity as it is after a write.
func (s *Store) after(id string, err error) (*Entity, error) {
	if err != nil {
		return nil, err
	}
	e := s.Get(id)
	if e == nil { // deleted by another caller since
		return nil, fault.Missing("entity", id)
	}
	return e, nil
}

// PutOptions say how PutTx writes.
type PutOptions struct {
	IfVersion   *int
	FromNote    bool // the write comes from the note: it may change a vault-backed entity
	VaultBacked bool // the note is a file of a vault
	Lenient     bool // values that do not fit are left out and told to Problem instead of refused
	Problem     func(error)
}

// PutTx is Put inside a transaction of the caller.
func (s *Store) PutTx(tx *kv.Tx, e Entity, opts PutOptions) (*Entity, error) {
	if e.ID == "" {
		e.ID = s.opts.NewID()
	}
	if err := CheckID("id", e.ID); err != nil {
		return nil, err
	}
	old, err := EntityRecords.Get(tx, e.ID)
	if err != nil {
		return nil, err
	}
	if old != nil && !opts.FromNote {
		e.Vault = old.Vault
	}
	named, err := TypeRecords.Shared(tx, Fold(e.Type))
	if err != nil {
		return nil, err
	}
	t := named.In(e.Vault, opts.VaultBacked)
	if t == nil {
		return nil, UnknownType(e.Type)
	}
	if !opts.VaultBacked {
		e.Vault = cmp.Or(t.Vault, e.Vault)
	}
	if err := checkWritable(old, e.ID, opts.IfVersion, opts.FromNote); err != nil {
		return nil, err
	}
	if old != nil && !opts.FromNote {
		if e.NoteID == "" {
			e.NoteID, err = s.ownNote(tx, old)
		} else {
			err = s.checkNote(tx, old, e.NoteID)
		}
		if err != nil {
			return nil, err
		}
	}
	record, err := s.build(tx, t, e, old, opts)
	if err != nil {
		return nil, err
	}
	if err := s.moved(tx, old, record, opts.FromNote); err != nil {
		return nil, err
	}
	return record, EntityRecords.Put(tx, record.ID, record)
}

// build checks e and makes the record that replaces old.
func (s *Store) build(tx *kv.Tx, t *Type, e Entity, old *Entity, opts PutOptions) (*Entity, error) {
	name, err := CheckName("name", e.Name, s.opts.Limits.Name)
	if err != nil {
		return nil, err
	}
	aliases, err := CheckAliases(e.Aliases, s.opts.Limits.Name)
	if err != nil {
		return nil, err
	}
	if e.NoteID != "" {
		if err := CheckID("noteId", e.NoteID); err != nil {
			return nil, err
		}
	}
	var values Values
	if opts.Lenient {
		var problems []error
		values, problems = ParseValues(t, e.Fields, s.opts.Limits.FieldBytes)
		for _, problem := range problems {
			opts.Problem(problem)
		}
	} else if values, err = CheckValues(t, e.Fields, s.opts.Limits.FieldBytes); err != nil {
		return nil, err
	}
	now := s.now(tx)
	record := &Entity{
		ID: e.ID, Type: t.Name, Name: name, Aliases: aliases, Fields: values, NoteID: e.NoteID,
		Private: e.Private, VaultBacked: opts.VaultBacked, CreatedAt: now, UpdatedAt: now, Version: 1,
		Sources: e.Sources, Vault: e.Vault,
	}
	switch {
	case old != nil:
		record.CreatedAt, record.ArchivedAt, record.Version = old.CreatedAt, old.ArchivedAt, old.Version+1
		record.UpdatedAt = later(now, old.UpdatedAt)
		if !opts.FromNote {
			record.Sources = old.Sources // of the texts that stay
		} else {
			record.Private = old.Private // said by a client; the note's own word is added when it is read
		}
	case !e.CreatedAt.IsZero():
		record.CreatedAt = e.CreatedAt.UTC()
	}
	return record, nil
}

// now is the time of a transaction, as records carry it.
func (s *Store) now(tx *kv.Tx) time.Time { return tx.Now(s.opts.Now).UTC().Truncate(time.Millisecond) }

// later is now, but not before a record was changed last: a clock may be set back.
func later(now, last time.Time) time.Time {
	if now.Before(last) {
		return last
	}
	return now
}

// checkWritable refuses a write to a record that moved on or that belongs to a
// file.
func checkWritable(old *Entity, id string, ifVersion *int, fromNote bool) error {
	if ifVersion != nil {
		have := 0
		if old != nil {
			have = old.Version
		}
		if have != *ifVersion {
			return fault.Stale("entity", id, have, *ifVersion)
		}
	}
	if old != nil && old.VaultBacked && !fromNote {
		return fault.Clash(fault.VaultBacked, "entity %q comes from a file of a vault", id).WithRef(id).
			WithHint("edit the file: the entity follows")
	}
	return nil
}

// ownNote returns the note that an entity is made from, "" for none. It stays that of
// the entity whatever clients write: by it is known whether the entity is private.
func (s *Store) ownNote(tx *kv.Tx, e *Entity) (string, error) {
	s.mu.Early().RLock()
	makes := s.resolve.Makes
	s.mu.Early().RUnlock()
	if e.NoteID == "" || makes == nil {
		return "", nil
	}
	if made, err := makes(tx, e.NoteID, e.ID); err != nil || !made {
		return "", err
	}
	return e.NoteID, nil
}

// checkNote refuses another note for an entity that is made from one.
func (s *Store) checkNote(tx *kv.Tx, e *Entity, noteID string) error {
	own, err := s.ownNote(tx, e)
	if err == nil && own != "" && noteID != own {
		err = fault.Clash(fault.VaultBacked, "entity %q is made from note %q", e.ID, own).WithRef(e.ID).
			WithHint("leave noteId as it is: the entity follows that note")
	}
	return err
}

// Patch changes the given members of an entity.
func (s *Store) Patch(ctx context.Context, p Patch, ifVersion *int) (*Entity, error) {
	if err := CheckID("id", p.ID); err != nil {
		return nil, err
	}
	err := s.db.Update(ctx, func(tx *kv.Tx) error { return s.PatchTx(tx, p, ifVersion) })
	return s.after(p.ID, err)
}

// PatchTx is Patch inside a transaction of the caller.
func (s *Store) PatchTx(tx *kv.Tx, p Patch, ifVersion *int) error {
	return s.changeTx(tx, p.ID, ifVersion, func(tx *kv.Tx, e *Entity) error {
		if e.VaultBacked && (p.Name != nil || p.Aliases != nil || p.Fields != nil || p.NoteID != nil) {
			return checkWritable(e, e.ID, nil, false)
		}
		if p.NoteID != nil {
			if err := s.checkNote(tx, e, *p.NoteID); err != nil {
				return err
			}
		}
		named, err := TypeRecords.Shared(tx, Fold(e.Type))
		if err != nil {
			return err
		}
		t := named.Of(e)
		if t == nil {
			return fault.Clash(fault.State, "the type %q of entity %q is gone", e.Type, e.ID).WithRef(e.ID).
				WithHint("declare the type again with types.put")
		}
		return p.applyTo(e, t, s.opts.Limits)
	})
}

// applyTo changes e, which is a copy of the stored record.
func (p Patch) applyTo(e *Entity, t *Type, limits Limits) (err error) {
	if p.Name != nil {
		e.Name, err = CheckName("name", *p.Name, limits.Name)
		if err != nil {
			return err
		}
	}
	if p.Aliases != nil {
		e.Aliases, err = CheckAliases(*p.Aliases, limits.Name)
		if err != nil {
			return err
		}
	}
	if p.NoteID != nil {
		if *p.NoteID != "" {
			if err := CheckID("noteId", *p.NoteID); err != nil {
				return err
			}
		}
		e.NoteID = *p.NoteID
	}
	if p.Private != nil {
		e.Private = *p.Private
	}
	if p.Fields == nil {
		return nil
	}
	fields := maps.Clone(e.Fields)
	if fields == nil {
		fields = Values{}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		// The field may have been declared anew in another spelling.
		if f, ok := t.Field(name); ok && f.Name != name {
			if _, newer := fields[f.Name]; !newer {
				fields[f.Name] = fields[name]
			}
			delete(fields, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Fields)) {
		f, ok := t.Field(name)
		if !ok {
			return unknownField(t, name)
		}
		v, err := f.Check(p.Fields[name])
		if err != nil {
			return fault.Under("fields", err)
		}
		delete(fields, f.Name)
		if v != nil {
			fields[f.Name] = v
		}
	}
	e.Fields = fields
	if err := checkRequired(t, fields); err != nil {
		return err
	}
	return checkFieldBytes(fields, limits.FieldBytes)
}

// change runs a change of one existing entity in a transaction. edit gets a
// copy of the record; when it leaves it as it was, nothing is written.
func (s *Store) change(ctx context.Context, id string, ifVersion *int, edit func(*kv.Tx, *Entity) error) error {
	if err := CheckID("id", id); err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *kv.Tx) error { return s.changeTx(tx, id, ifVersion, edit) })
}

func (s *Store) changeTx(tx *kv.Tx, id string, ifVersion *int, edit func(*kv.Tx, *Entity) error) error {
	old, err := EntityRecords.Get(tx, id)
	if err != nil {
		return err
	}
	if old == nil {
		return fault.Missing("entity", id)
	}
	if ifVersion != nil && old.Version != *ifVersion {
		return fault.Stale("entity", id, old.Version, *ifVersion)
	}
	e := *old
	e.UpdatedAt = later(s.now(tx), old.UpdatedAt)
	if err := edit(tx, &e); err != nil {
		return err
	}
	if err := s.moved(tx, old, &e, false); err != nil {
		return err
	}
	e.Version++
	return EntityRecords.Put(tx, id, &e)
}

// Archive archives an entity: it is out of lists, menus and queries,
// references to it show as deleted, and Restore brings it back.
func (s *Store) Archive(ctx context.Context, id string, ifVersion *int) (*Entity, error) {
	err := s.change(ctx, id, ifVersion, func(_ *kv.Tx, e *Entity) error {
		archive(e)
		return nil
	})
	return s.after(id, err)
}

// ArchiveTx is Archive inside a transaction of the caller; an unknown id is no
// error, and what is archived stays as it is.
func (s *Store) ArchiveTx(tx *kv.Tx, id string) error {
	old, err := EntityRecords.Get(tx, id)
	if err != nil || !old.Live() {
		return err
	}
	return s.changeTx(tx, id, nil, func(_ *kv.Tx, e *Entity) error {
		archive(e)
		return nil
	})
}

// archive moves an entity whose UpdatedAt is that of the change.
func archive(e *Entity) {
	if e.ArchivedAt == nil {
		at := e.UpdatedAt
		e.ArchivedAt = &at
	}
}

// Restore brings an entity back from the archive.
func (s *Store) Restore(ctx context.Context, id string, ifVersion *int) (*Entity, error) {
	err := s.change(ctx, id, ifVersion, func(_ *kv.Tx, e *Entity) error {
		e.ArchivedAt = nil
		return nil
	})
	return s.after(id, err)
}

// RestoreTx is Restore inside a transaction of the caller; an unknown id is no
// error, and what is not archived stays as it is.
func (s *Store) RestoreTx(tx *kv.Tx, id string) error {
	old, err := EntityRecords.Get(tx, id)
	if err != nil || old == nil || old.Live() {
		return err
	}
	return s.changeTx(tx, id, nil, func(_ *kv.Tx, e *Entity) error {
		e.ArchivedAt = nil
		return nil
	})
}

// Delete removes an entity for good and returns the version that the removal
// counts as. One that comes from a vault can only be archived while its file is
// there: it would come back.
func (s *Store) Delete(ctx context.Context, id string, ifVersion *int) (version int, err error) {
	if err := CheckID("id", id); err != nil {
		return 0, err
	}
	err = s.db.Update(ctx, func(tx *kv.Tx) error {
		old, err := EntityRecords.Get(tx, id)
		if err != nil {
			return err
		}
		if old == nil {
			return fault.Missing("entity", id)
		}
		if err := checkWritable(old, id, ifVersion, !old.Live()); err != nil {
			return err
		}
		version = old.Version + 1
		return s.DeleteTx(tx, id)
	})
	return version, err
}

// DeleteTx removes an entity inside a transaction of the caller, whatever it
// comes from; an unknown id is no error.
func (s *Store) DeleteTx(tx *kv.Tx, id string) error {
	old, err := EntityRecords.Get(tx, id)
	if err != nil || old == nil {
		return err
	}
	if err := s.moved(tx, old, nil, false); err != nil {
		return err
	}
	if err := inherited.Delete(tx, id); err != nil {
		return err
	}
	return EntityRecords.Delete(tx, id)
}
