package record

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ctxd/ctxd/entities/text"
)

// Field declares one field of a Type.
type Field struct {
	Name       string    `json:"name" jsonschema:"name of the field, compared without case"`
	Type       FieldType `json:"type" jsonschema:"what it holds: text, text_list, number, boolean, email, url, date, select, entity_ref, entity_ref_list, note_ref or computed"`
	Label      string    `json:"label,omitempty" jsonschema:"the displayed text of the link"`
	Options    []string  `json:"options,omitempty" jsonschema:"the values that a select may have"`
	TargetType string    `json:"targetType,omitempty" jsonschema:"the type that a reference leads to"`
	Query      string    `json:"query,omitempty" jsonschema:"the WQL text of a computed field"`
	Required   bool      `json:"required,omitempty" jsonschema:"whether an entity must have a value"`
}

// MaxTypeName is how long the name of a type or field is at most, in code points.
const MaxTypeName = 128

// Type declares the fields of a kind of entity. Names are compared without
// case. An Inferred type was not declared by anybody: it was made from the
// frontmatter of notes and grows with it, until somebody declares it.
type Type struct {
	Name     string  `json:"name" jsonschema:"name of the type, compared without case"`
	Fields   []Field `json:"fields" jsonschema:"its fields, in the order in which they are shown"`
	Inferred bool    `json:"inferred,omitempty" jsonschema:"whether it was made from the frontmatter of notes"`
	Version  int     `json:"version" jsonschema:"counts its changes, from 1"`
	Vault    string  `json:"vault,omitempty" jsonschema:"the vault whose type it is: its notes have it; absent for a type of everybody"`
}

// Field returns the declared field of that name, compared without case.
func (t *Type) Field(name string) (Field, bool) {
	for _, f := range t.Fields {
		if f.Name == name {
			return f, true
		}
	}
	key := text.Fold(name)
	for _, f := range t.Fields {
		if text.Fold(f.Name) == key {
			return f, true
		}
	}
	return Field{}, false
}

// Values holds the field values of an entity by the declared field name. Each
// value is a string, a float64, a bool or a []string, as the field's type
// says; an absent key is an empty field.
type Values map[string]any

// UnmarshalJSON decodes a JSON object and turns its lists into []string, so
// that a value has the same Go type whether it was just written or loaded.
func (v *Values) UnmarshalJSON(data []byte) error {
	var raw map[string]any
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	for name, value := range raw {
		list, ok := value.([]any)
		if !ok {
			continue
		}
		items := make([]string, 0, len(list))
		for _, item := range list {
			s, ok := item.(string)
			if !ok {
				return fmt.Errorf("field %q: a list holds strings only", name)
			}
			items = append(items, s)
		}
		raw[name] = items
	}
	*v = raw
	return nil
}

// Entity is one typed record: a person, a project, a decision.
//
// An Entity handed out by a Store is shared and must not be changed.
type Entity struct {
	ID          string     `json:"id" jsonschema:"id of the entity"`
	Type        string     `json:"type" jsonschema:"name of its type"`
	Name        string     `json:"name" jsonschema:"its name"`
	Aliases     []string   `json:"aliases" jsonschema:"its other names"`
	Fields      Values     `json:"fields" jsonschema:"its values by field name; references are ids if they are resolved, else the link as written"`
	NoteID      string     `json:"noteId,omitempty" jsonschema:"the note that describes it"`
	Private     bool       `json:"private" jsonschema:"whether it is kept from remote models"`
	VaultBacked bool       `json:"vaultBacked" jsonschema:"whether it comes from a file; it then changes only with the file"`
	CreatedAt   time.Time  `json:"createdAt" jsonschema:"when it was made"`
	UpdatedAt   time.Time  `json:"updatedAt" jsonschema:"time of the last change; it never goes back"`
	ArchivedAt  *time.Time `json:"archivedAt,omitempty" jsonschema:"when it was archived; absent while it is not"`
	Version     int        `json:"version" jsonschema:"counts its changes, from 1"`

	// Sources say what names and values refer to that were made from a note, in the
	// form of package notes.
	Sources string `json:"-"`
	// Vault is the vault whose type the entity has before others: that of its file, or the
	// one whose type it had when a client wrote it. Empty for none.
	Vault string `json:"-"`
}

// Live reports whether the entity exists and is not archived.
func (e *Entity) Live() bool { return e != nil && e.ArchivedAt == nil }

// Strings returns the value of a field as a list: the items of a list, the
// one value of a text or reference, nothing for an empty field.
func (e *Entity) Strings(field string) []string {
	switch v := e.Fields[field].(type) {
	case []string:
		return v
	case string:
		if v != "" {
			return []string{v}
		}
	}
	return nil
}
