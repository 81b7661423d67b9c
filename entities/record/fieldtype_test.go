package record_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/record"
)

// TestEveryFieldTypeIsInTheTable compares the constants with the table: one without an
// entry would hold any text and be compared with nothing.
func TestEveryFieldTypeIsInTheTable(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "fieldtype.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var declared []record.FieldType
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		name, ok := spec.Type.(*ast.Ident)
		if !ok || name.Name != "FieldType" || len(spec.Values) == 0 {
			return true
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		declared = append(declared, record.FieldType(value))
		return true
	})
	if !slices.Equal(declared, record.FieldTypes) {
		t.Errorf("the constants are %q, the table has %q", declared, record.FieldTypes)
	}
}

func TestFieldTypesAreWhole(t *testing.T) {
	inferred := make(map[int]record.FieldType)
	for _, ft := range record.FieldTypes {
		info := ft.Info()
		switch {
		case info.About == "" || info.Example == "":
			t.Errorf("%s is not described", ft)
		case ft.IsComputed() != (info.Form == record.NoValue), ft.IsComputed() != (info.Order == record.NoOrder):
			t.Errorf("%s has no form or no order", ft)
		case (info.Form == record.ListValue) != info.Item.Known():
			t.Errorf("%s is a list of what?", ft)
		case info.Item.Known() && (info.Item.Info().To != info.To || info.Item.List() != ft):
			t.Errorf("%s and its items, of type %s, do not fit together", ft, info.Item)
		}
		if other, twice := inferred[info.Inferred]; twice && info.Inferred > 0 {
			t.Errorf("%s and %s are tried at the same place", ft, other)
		}
		inferred[info.Inferred] = ft
		if ft.IsComputed() {
			continue
		}
		f := record.Field{Name: "f", Type: ft, Options: []string{"open", "closed"}}
		var example any = info.Example
		_ = json.Unmarshal([]byte(info.Example), &example) // else it is a plain text
		if v, err := f.Check(f.Lenient(example)); err != nil || v == nil {
			t.Errorf("%s: the example %v is no value: %v %v", ft, example, v, err)
		}
	}
}

// TestFieldTypesAreInTheContract: the description of a field names all types.
func TestFieldTypesAreInTheContract(t *testing.T) {
	f, _ := reflect.TypeFor[record.Field]().FieldByName("Type")
	last := len(record.FieldTypes) - 1
	names := make([]string, len(record.FieldTypes))
	for i, ft := range record.FieldTypes {
		names[i] = string(ft)
	}
	want := "what it holds: " + strings.Join(names[:last], ", ") + " or " + names[last]
	if got := f.Tag.Get("jsonschema"); got != want {
		t.Errorf("the contract says %q, want %q", got, want)
	}
}
