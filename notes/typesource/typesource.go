package typesource

import (
	"slices"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes/infer"
	"github.com/ctxd/ctxd/notes/markdown"
)

// Record is what public notes have given to an inferred type.
type Record struct {
	Fields  []string `json:"fields,omitempty"` // names, in the order in which they were given
	Version int      `json:"version"`          // counts the changes by public notes, from 1
}

// Records is where they lie.
var Records = kv.NewCollection[Record]("type-source") // by entities.TypeKey

// Doc is a text that describes an entity, for the type that is made from it.
type Doc struct {
	*markdown.Document
	Private bool // the note is private, or may be
}

// Add records what public texts give to the inferred type t.
func Add(tx *kv.Tx, t *entities.Type, docs []Doc) error {
	key := entities.TypeKey(t)
	have, err := Records.Shared(tx, key)
	if err != nil {
		return err
	}
	grown, public := Record{}, false
	if have != nil {
		grown = Record{slices.Clip(have.Fields), have.Version}
	}
	for _, d := range docs {
		if d.Private {
			continue
		}
		public = true
		for _, f := range d.Frontmatter.Fields {
			if declared, ok := t.Field(f.Key); ok && infer.GivesField(f) && !slices.Contains(grown.Fields, declared.Name) {
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
	return Records.Put(tx, key, &grown)
}

// Upgrade gives what is kept of inferred types to the vaults whose types they have become,
// by the folds of their names; "" stands for everybody.
func Upgrade(tx *kv.Tx, inferred map[string][]string) error {
	for fold, vaults := range inferred {
		source, err := Records.Get(tx, fold)
		if err != nil {
			return err
		}
		if source == nil {
			continue
		}
		if err := Records.Delete(tx, fold); err != nil {
			return err
		}
		for _, vault := range vaults {
			if err := Records.Put(tx, entities.TypeKey(&entities.Type{Name: fold, Vault: vault}), source); err != nil {
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
		if err := Records.Delete(tx, key); err != nil {
			return err
		}
	}
	return nil
}
