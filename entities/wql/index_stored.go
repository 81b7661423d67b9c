package wql

import (
	"time"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql/syntax"
)

// storedField is a field of entities as it is stored: not a computed one.
type storedField struct {
	Name    string
	Kind    valueKind
	Elem    valueKind // of a list
	Builtin builtinField
}

// builtinField is a field that every entity has.
type builtinField uint8

// Fields that every entity has.
const (
	builtinNone builtinField = iota
	builtinID
	builtinName
	builtinType
	builtinCreated
	builtinUpdated
)

// loadField reads a field that is not computed. Programs and indexes both read
// by it, so that an index holds what a comparison would see.
func loadField(f *storedField, e *entities.Entity, loc *time.Location, v *datum) {
	switch f.Builtin {
	case builtinID:
		*v = datum{Kind: kindRef, Text: e.ID}
		return
	case builtinName:
		*v = textValue(e.Name)
		return
	case builtinType:
		*v = datum{Kind: kindChoice, Text: toNFC(e.Type)}
		return
	case builtinCreated:
		*v = instantOf(e.CreatedAt, loc)
		return
	case builtinUpdated:
		*v = instantOf(e.UpdatedAt, loc)
		return
	}
	*v = datum{}
	switch raw := e.Fields[f.Name].(type) {
	case string:
		switch f.Kind {
		case kindDate:
			if day, ok := syntax.Day(raw); ok {
				v.Kind, v.Int = kindDate, day
			} else if t, ok := parseTime(record.WrittenDay(raw), loc); ok {
				*v = t
			}
			return
		case kindNumber: // as it was written
			if n, ok := record.WrittenNumber(raw); ok {
				v.Kind, v.Number, v.Text = kindNumber, n, raw
				return
			}
			v.Kind, v.Text = kindText, raw
			return
		}
		v.Kind, v.Text = f.Kind, toNFC(raw)
	case float64:
		v.Kind, v.Number = kindNumber, raw
	case bool:
		*v = boolValue(raw)
	case []string:
		if len(raw) > 0 {
			v.Kind, v.Elem, v.Texts = kindList, f.Elem, raw
		}
	}
}

// instantOf is the value of a time stamp, NULL for none.
func instantOf(t time.Time, loc *time.Location) datum {
	if t.IsZero() {
		return datum{}
	}
	return instantValue(t, loc)
}
