package entities

import (
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// builtin names the fields that every entity has in a query; a type can't
// declare another field of such a name.
var builtin = map[string]bool{"name": true, "id": true, "type": true, "createdat": true, "updatedat": true}

// breaks are the characters that end a line for some reader.
const breaks = "\n\r\v\f\u0085\u2028\u2029"

// CheckTypeName checks the name of a type and returns it without surrounding
// blanks. It stands in brackets in prompts and in backticks in queries.
func CheckTypeName(field, name string) (string, error) {
	name, err := CheckName(field, name, MaxTypeName)
	if err == nil && strings.ContainsAny(name, breaks+"`()[]") {
		return "", fault.Field(field, "%s %q is not one line without backticks and brackets", field, name).
			WithHint("choose another name for the type")
	}
	return name, err
}

// CheckType checks the declaration of a type, which may have maxFields fields,
// and returns it in the form it is stored in. The error names the field as "fields[i].member".
func CheckType(t Type, maxFields int) (*Type, error) {
	name, err := CheckTypeName("name", t.Name)
	if err != nil {
		return nil, err
	}
	if len(t.Fields) > maxFields {
		return nil, fault.TooLarge("fields", len(t.Fields), maxFields, "items")
	}
	out := &Type{
		Name: name, Fields: make([]Field, 0, len(t.Fields)), Inferred: t.Inferred, Version: t.Version, Vault: t.Vault,
	}
	seen := make(map[string]bool, len(t.Fields))
	for i, f := range t.Fields {
		at := fmt.Sprintf("fields[%d]", i)
		f, err := checkField(f)
		if err != nil {
			return nil, fault.Under(at, err)
		}
		key := Fold(f.Name)
		if seen[key] {
			return nil, fault.Field(at+".name", "field %q is declared twice", f.Name)
		}
		seen[key] = true
		out.Fields = append(out.Fields, f)
	}
	return out, nil
}

func checkField(f Field) (Field, error) {
	name, err := CheckName("name", f.Name, MaxTypeName)
	if err != nil {
		return f, err
	}
	f.Name = name
	if strings.ContainsAny(name, breaks+"`:") {
		return f, fault.Field("name", "field name %q is not one line without backticks and colons", name).
			WithHint("choose another name, and put the text you want to show into label")
	}
	if builtin[Fold(name)] {
		return f, fault.Field("name", "every entity has a field %q already", name).WithHint("choose another name")
	}
	if !f.Type.Known() {
		return f, fault.Field("type", "there is no field type %s", quoted(string(f.Type))).
			WithHint("the field types are %s", joinTypes())
	}
	if f.Label != "" {
		f.Label, err = CheckName("label", f.Label, MaxName)
		if err != nil {
			return f, err
		}
	}
	if f.TargetType != "" && f.Type.Info().To != record.ToEntity {
		return f, fault.Field("targetType", "only an entity_ref or entity_ref_list has a targetType")
	}
	f.Options, err = checkOptions(f)
	if err != nil {
		return f, err
	}
	return f, checkQueryMember(f)
}

func checkQueryMember(f Field) error {
	switch {
	case f.Type.IsComputed() && strings.TrimSpace(f.Query) == "":
		return fault.Field("query", "a computed field needs a query").
			WithHint("write one as in SELECT p FROM Person WHERE p.team = {this}")
	case f.Type.IsComputed() && f.Required:
		return fault.Field("required", "a computed field can't be required")
	case !f.Type.IsComputed() && f.Query != "":
		return fault.Field("query", "only a computed field has a query")
	case len(f.Query) > MaxQueryBytes:
		return fault.TooLarge("query", len(f.Query), MaxQueryBytes, "bytes")
	}
	return nil
}

func checkOptions(f Field) ([]string, error) {
	if f.Type != record.Select {
		if len(f.Options) > 0 {
			return nil, fault.Field("options", "only a select has options")
		}
		return nil, nil
	}
	if len(f.Options) == 0 {
		return nil, fault.Field("options", "a select needs at least one option")
	}
	if len(f.Options) > MaxMany {
		return nil, fault.TooLarge("options", len(f.Options), MaxMany, "items")
	}
	out := make([]string, 0, len(f.Options))
	seen := make(map[string]bool, len(f.Options))
	for _, option := range f.Options {
		option, err := CheckName("options", option, MaxName)
		if err != nil {
			return nil, err
		}
		if seen[Fold(option)] {
			return nil, fault.Field("options", "option %q is listed twice", option)
		}
		seen[Fold(option)] = true
		out = append(out, option)
	}
	return out, nil
}

func joinTypes() string {
	names := make([]string, len(record.FieldTypes))
	for i, t := range record.FieldTypes {
		names[i] = string(t)
	}
	return strings.Join(names, ", ")
}
