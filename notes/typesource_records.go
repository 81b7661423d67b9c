package notes

// typesource*.go keep what public notes alone have given to the types that are made from
// frontmatter, so that a reader who sees no private record is told no more (PRIV-4). The records
// are kept by type, and go, or get a vault, with the type.

import (
	"slices"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes/markdown"
)

// typeSourceRecord is what public notes have given to an inferred type.
type typeSourceRecord struct {
	Fields  []string `json:"fields,omitempty"` // names, in the order in which they were given
	Version int      `json:"version"`          // counts the changes by public notes, from 1
}

// typeSourceRecords is where they lie.
var typeSourceRecords = kv.NewCollection[typeSourceRecord]("type-source") // by entities.TypeKey

// TypeDoc is a text that describes an entity, for the type that is made from it.
type TypeDoc struct {
	*markdown.Document
	Private bool // the note is private, or may be
}

// addTypeSources records what public texts give to the inferred type t.
func addTypeSources(tx *kv.Tx, t *entities.Type, docs []TypeDoc) error {
	key := entities.TypeKey(t)
	have, err := typeSourceRecords.Shared(tx, key)
	if err != nil {
		return err
	}
	grown, public := typeSourceRecord{}, false
	if have != nil {
		grown = typeSourceRecord{slices.Clip(have.Fields), have.Version}
	}
	for _, d := range docs {
		if d.Private {
			continue
		}
		public = true
		for _, f := range d.Fields() {
			if declared, ok := t.Field(f.Key); ok && givesField(f) && !slices.Contains(grown.Fields, declared.Name) {
				grown.Fields = append(grown.Fields, declared.Name)
			}
		}
	}
	if !public {
		return nil
	}
	if have != nil && len(grown.Fields) == len(have.Fields) {
		return nil
	}
	grown.Version++
	return typeSourceRecords.Put(tx, key, &grown)
}

// UpgradeTypeSources gives what is kept of inferred types to the vaults whose types they have become,
// by the folds of their names; "" stands for everybody.
func UpgradeTypeSources(tx *kv.Tx, inferred map[string][]string) error {
	for fold, vaults := range inferred {
		source, err := typeSourceRecords.Get(tx, fold)
		if err != nil {
			return err
		}
		if source == nil {
			continue
		}
		if err := typeSourceRecords.Delete(tx, fold); err != nil {
			return err
		}
		for _, vault := range vaults {
			if err := typeSourceRecords.Put(tx, entities.TypeKey(&entities.Type{Name: fold, Vault: vault}), source); err != nil {
				return err
			}
		}
	}
	return nil
}

// ForgetTypes removes the types of a vault whose notes and entities are gone.
func ForgetTypes(tx *kv.Tx, vault string) error {
	keys, err := entities.ForgetTypes(tx, vault)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if err := typeSourceRecords.Delete(tx, key); err != nil {
			return err
		}
	}
	return nil
}
