package index

import (
	"time"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/wql/datum"
	"github.com/ctxd/ctxd/entities/wql/syntax"
)

// Field is a field of entities as it is stored: not a computed one.
type Field struct {
	Name    string
	Kind    datum.Kind
	Elem    datum.Kind // of a list
	Builtin Builtin
}

// Builtin is a field that every entity has.
type Builtin uint8

// Fields that every entity has.
const (
	NotBuiltin Builtin = iota
	FieldID
	FieldName
	FieldType
	FieldCreated
	FieldUpdated
)

// Load reads a field that is not computed. Programs and indexes both read
// by it, so that an index holds what a comparison would see.
func Load(f *Field, e *entities.Entity, loc *time.Location, v *datum.Value) {
	switch f.Builtin {
	case FieldID:
		*v = datum.Value{Kind: datum.Ref, Text: e.ID}
		return
	case FieldName:
		*v = datum.Text(e.Name)
		return
	case FieldType:
		*v = datum.Value{Kind: datum.Choice, Text: datum.NFC(e.Type)}
		return
	case FieldCreated:
		*v = instantOf(e.CreatedAt, loc)
		return
	case FieldUpdated:
		*v = instantOf(e.UpdatedAt, loc)
		return
	}
	*v = datum.Value{}
	switch raw := e.Fields[f.Name].(type) {
	case string:
		if f.Kind == datum.Date {
			if day, ok := syntax.Day(raw); ok {
				v.Kind, v.Int = datum.Date, day
			}
			return
		}
		v.Kind, v.Text = f.Kind, datum.NFC(raw)
	case float64:
		v.Kind, v.Number = datum.Number, raw
	case bool:
		*v = datum.Bool(raw)
	case []string:
		if len(raw) > 0 {
			v.Kind, v.Elem, v.Texts = datum.List, f.Elem, raw
		}
	}
}

// instantOf is the value of a time stamp, NULL for none.
func instantOf(t time.Time, loc *time.Location) datum.Value {
	if t.IsZero() {
		return datum.Value{}
	}
	return datum.Instant(t, loc)
}
