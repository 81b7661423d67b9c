package entities

import (
	"encoding/json"
	"fmt"
	"time"
)

// FieldType says what values a field holds.
type FieldType string

// The field types. The comment gives the Go type of a stored value.
const (
	Text          FieldType = "text"            // string
	TextList      FieldType = "text_list"       // []string
	Number        FieldType = "number"          // float64, finite
	Boolean       FieldType = "boolean"         // bool
	Email         FieldType = "email"           // string, one address
	URL           FieldType = "url"             // string, absolute
	Date          FieldType = "date"            // string, YYYY-MM-DD
	Select        FieldType = "select"          // string, spelt as the option
	EntityRef     FieldType = "entity_ref"      // string: an entity id, or a raw link
	EntityRefList FieldType = "entity_ref_list" // []string of the same
	NoteRef       FieldType = "note_ref"        // string: a note id, or a raw link
	Computed      FieldType = "computed"        // never stored: Field.Query gives the value
)

// FieldTypes lists every field type, in the order of the documentation.
var FieldTypes = []FieldType{
	Text, TextList, Number, Boolean, Email, URL, Date, Select, EntityRef, EntityRefList, NoteRef, Computed,
}

// IsRef reports whether values of the type refer to other records.
func (t FieldType) IsRef() bool { return t == EntityRef || t == EntityRefList || t == NoteRef }

// Field declares one field of a Type.
type Field struct {
	Name       string    `json:"name"`
	Type       FieldType `json:"type"`
	Label      string    `json:"label,omitempty"`
	Options    []string  `json:"options,omitempty"`    // of a select
	TargetType string    `json:"targetType,omitempty"` // of a reference
	Query      string    `json:"query,omitempty"`      // of a computed field, WQL
	Required   bool      `json:"required,omitempty"`
}

// Type declares the fields of a kind of entity. Names are compared without
// case. An Inferred type was not declared by anybody: it was made from the
// frontmatter of notes and grows with it, until somebody declares it.
type Type struct {
	Name     string  `json:"name"`
	Fields   []Field `json:"fields"`
	Inferred bool    `json:"inferred,omitempty"`
	Version  int     `json:"version"`
}

// Field returns the declared field of that name, compared without case.
func (t *Type) Field(name string) (Field, bool) {
	for _, f := range t.Fields {
		if f.Name == name {
			return f, true
		}
	}
	key := Fold(name)
	for _, f := range t.Fields {
		if Fold(f.Name) == key {
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
	ID          string     `json:"id"`
	Type        string     `json:"type"`
	Name        string     `json:"name"`
	Aliases     []string   `json:"aliases"`
	Fields      Values     `json:"fields"`
	NoteID      string     `json:"noteId,omitempty"`
	Private     bool       `json:"private"`
	VaultBacked bool       `json:"vaultBacked"`
	CreatedAt   time.Time  `json:"createdAt"`
	UpdatedAt   time.Time  `json:"updatedAt"`
	TrashedAt   *time.Time `json:"trashedAt,omitempty"`
	Version     int        `json:"version"`
}

// Live reports whether the entity exists and is not in the trash.
func (e *Entity) Live() bool { return e != nil && e.TrashedAt == nil }

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
