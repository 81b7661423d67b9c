package notes

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes/markdown"
)

// typeOf returns the type of entity that a text of a vault describes, "" for none, and the
// other types that it names.
func typeOf(tx *kv.Tx, vault string, doc *markdown.Document) (name string, others []InferredType, err error) {
	types, _ := InferTypes(doc)
	name, others = ChooseType(types, func(name string) bool {
		named, failed := entities.TypeRecords.Shared(tx, entities.Fold(name))
		err = errors.Join(err, failed)
		t := named.Own(vault)
		return t != nil && !t.Inferred
	})
	return name, others, err
}

// putEntity writes the entity of type name that the note describes, and sets n.EntityID. A
// note that no longer has a type leaves its entity archived.
func (s *Store) putEntity(tx *kv.Tx, old, n *Note, doc *reading, name string, problem func(error)) error {
	if name == "" {
		if n.EntityID == "" {
			return nil
		}
		if old != nil && old.Private { // it says what the note said when it was private
			if err := s.ents.InheritTx(tx, n.EntityID, n.ID); err != nil {
				return err
			}
		}
		return s.ents.ArchiveTx(tx, n.EntityID)
	}
	vault, err := typedBy(tx, n, name)
	if err != nil {
		return err
	}
	t, err := s.ensureType(tx, vault, n.VaultBacked, name, []TypeDoc{{Document: doc.Document, Private: n.Private}})
	if err != nil {
		return err
	}
	if n.EntityID == "" {
		n.EntityID, err = s.newEntityID(tx, n)
		if err != nil {
			return err
		}
	}
	values := InferValues(t, doc.Document)
	n.readValueSources(values, doc)
	e, err := s.ents.PutTx(tx, entities.Entity{
		ID: n.EntityID, Type: t.Name, Name: n.Title, Aliases: n.Aliases, Fields: values,
		NoteID: n.ID, CreatedAt: n.CreatedAt, Sources: string(n.Sources),
		Vault: vault,
	}, entities.PutOptions{FromNote: true, VaultBacked: n.VaultBacked, Lenient: true, Problem: problem})
	if err != nil {
		return err
	}
	if err := s.ents.PublishTx(tx, n.EntityID, n.ID); err != nil { // the note speaks for itself
		return err
	}
	if n.ArchivedAt != nil {
		return s.ents.ArchiveTx(tx, n.EntityID)
	}
	if e.Live() || old.Live() && hasType(old.Body) {
		return nil // if it is archived, somebody put it there
	}
	return s.ents.RestoreTx(tx, n.EntityID)
}

// typedBy returns the vault whose type the entity of a note has before others: that of the
// file, or the one whose type it had before.
func typedBy(tx *kv.Tx, n *Note, name string) (vault string, err error) {
	if n.VaultBacked || n.EntityID == "" {
		return n.Vault, nil
	}
	named, err := entities.TypeRecords.Shared(tx, entities.Fold(name))
	if err != nil || named == nil || len(named.Vaults) == 0 {
		return "", err
	}
	e, err := entities.EntityRecords.Get(tx, n.EntityID)
	if err != nil || e == nil {
		return "", err
	}
	return e.Vault, nil
}

// EnsureType declares the type that the given texts describe, or adds the
// fields it lacks when it was inferred itself; a declared type stays as it is.
// It returns the type. The texts are of files of a vault.
func (s *Store) EnsureType(ctx context.Context, vault, name string, docs []TypeDoc) (*entities.Type, error) {
	var t *entities.Type
	err := s.db.Update(ctx, func(tx *kv.Tx) (err error) {
		t, err = s.ensureType(tx, vault, true, name, docs)
		return err
	})
	return t, err
}

func (s *Store) ensureType(tx *kv.Tx, vault string, file bool, name string, docs []TypeDoc) (*entities.Type, error) {
	named, err := entities.TypeRecords.Shared(tx, entities.Fold(name))
	if err != nil {
		return nil, err
	}
	t, grown := named.Own(vault), entities.Type{Name: name, Inferred: true, Vault: vault}
	if !file {
		t, grown.Vault = named.In(vault, false), ""
	}
	if t != nil && !t.Inferred {
		return t, nil
	}
	if t != nil && t.Vault != vault && len(named.Vaults) > 1 {
		t = nil // a note of no vault has the type of the only one, and else its own
	}
	texts := make([]*markdown.Document, len(docs))
	for i, d := range docs {
		texts[i] = d.Document
	}
	if t != nil {
		grown.Name, grown.Fields, grown.Vault = t.Name, append(grown.Fields, t.Fields...), t.Vault
	}
	before := len(grown.Fields)
	for _, f := range inferFields(texts) {
		if _, known := grown.Field(f.Name); !known && len(grown.Fields) < s.ents.Limits().Fields {
			grown.Fields = append(grown.Fields, f)
		}
	}
	if t == nil || len(grown.Fields) > before {
		t, _, err = s.ents.PutTypeTx(tx, grown, nil, true)
		if err != nil {
			return nil, fault.Under("type", err)
		}
	}
	return t, addTypeSources(tx, t, docs)
}

// vaultSpace is the name space of the ids that are derived from places in
// vaults.
var vaultSpace = uuid.MustParse("6d1f0a52-6f6e-4c0e-9d55-0b6f3f2f6a9e")

// VaultID derives an id from the vault and path of a file, so that a vault
// imported again into an empty store gets the ids that it had: what refers to
// them by id still does. kind tells the note from the entity made from it.
func VaultID(vault, path, kind string) string {
	return uuid.NewSHA1(vaultSpace, []byte(vault+"\x00"+path+"\x00"+kind)).String()
}

func (s *Store) newEntityID(tx *kv.Tx, n *Note) (string, error) {
	if n.Vault == "" || n.Path == "" {
		return s.opts.NewID(), nil
	}
	id := VaultID(n.Vault, n.Path, "entity")
	taken, err := entities.EntityRecords.Get(tx, id)
	if err != nil || taken == nil {
		return id, err
	}
	return s.opts.NewID(), nil // the file that had the path moved and kept its ids
}
