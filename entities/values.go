package entities

import (
	"maps"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
)

// CheckValues checks the values of an entity against its type and returns them
// in the form they are stored in: field names as declared, selects spelt as
// the option, lists as []string. A nil value is an empty field and left out.
// The error is an Invalid fault that names the field as "fields.NAME", or a
// Limit fault when they have more than maxBytes as JSON.
func CheckValues(t *Type, values Values, maxBytes int) (Values, error) {
	out := make(Values, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		f, ok := t.Field(name)
		if !ok {
			return nil, unknownField(t, name)
		}
		v, err := f.Check(value)
		if err != nil {
			return nil, fault.Under("fields", err)
		}
		if v == nil {
			continue
		}
		if _, twice := out[f.Name]; twice {
			return nil, fault.Field("fields."+f.Name, "field %q is given twice", f.Name)
		}
		out[f.Name] = v
	}
	if err := checkRequired(t, out); err != nil {
		return nil, err
	}
	return out, checkFieldBytes(out, maxBytes)
}

// CheckFields returns the error for values of fields that a type does not have.
func CheckFields(t *Type, values Values) error {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, ok := t.Field(name); !ok {
			return unknownField(t, name)
		}
	}
	return nil
}

// ParseValues reads values that people wrote by hand, as in frontmatter. It is
// lenient about form (a number for a text, "yes" for a boolean, a bare name
// for a reference) and returns one problem for each value that still does not
// fit; the others are kept.
func ParseValues(t *Type, values Values, maxBytes int) (Values, []error) {
	out := make(Values, len(values))
	var problems []error
	for _, f := range t.Fields {
		value, ok := values[f.Name]
		if !ok {
			continue
		}
		v, err := f.Check(f.Lenient(value))
		switch {
		case err != nil:
			problems = append(problems, fault.Under("fields", err))
			if text, ok := f.KeptAsText(value); ok {
				out[f.Name] = text
			}
		case v != nil:
			out[f.Name] = v
		}
	}
	if err := checkRequired(t, out); err != nil {
		problems = append(problems, err)
	}
	if err := checkFieldBytes(out, maxBytes); err != nil {
		return Values{}, append(problems, err)
	}
	return out, problems
}

// UnknownType is the error for an entity of a type that there is not.
func UnknownType(name string) error {
	return fault.Field("type", "there is no type %s", quoted(name)).
		WithHint("declare it with types.put, or use one that types.list shows")
}

func unknownField(t *Type, name string) error {
	e := fault.Field("fields."+strings.Trim(quoted(name), `"`), "type %s has no field %s", t.Name, quoted(name))
	names := make([]string, 0, len(t.Fields))
	for _, f := range t.Fields {
		names = append(names, f.Name)
	}
	if len(names) == 0 {
		return e.WithHint("declare the field with types.put first")
	}
	return e.WithHint("its fields are %s", strings.Join(names, ", "))
}

func checkRequired(t *Type, values Values) error {
	for _, f := range t.Fields {
		if _, ok := values[f.Name]; f.Required && !ok {
			return fault.Field("fields."+f.Name, "field %q of type %s is required", f.Name, t.Name)
		}
	}
	return nil
}

func checkFieldBytes(values Values, maxBytes int) error {
	n, err := jsonLength(values)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "field values can't be encoded")
	}
	if n > maxBytes {
		return fault.TooLarge("fields", n, maxBytes, "bytes")
	}
	return nil
}
