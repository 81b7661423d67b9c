package servertest

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// ResolveSchema prepares a schema for validation, with those of defs that it leads to: all of them for each of many schemas
// take seconds.
func ResolveSchema(s *jsonschema.Schema, defs map[string]*jsonschema.Schema) (*jsonschema.Resolved, error) {
	root := s.CloneSchemas()
	root.Defs = map[string]*jsonschema.Schema{}
	var gather func(within *jsonschema.Schema) error
	gather = func(within *jsonschema.Schema) error {
		text, err := json.Marshal(within)
		if err != nil {
			return err
		}
		for _, ref := range reference.FindAllSubmatch(text, -1) {
			name := string(ref[1])
			if root.Defs[name] != nil || defs[name] == nil {
				continue
			}
			root.Defs[name] = defs[name].CloneSchemas()
			if err := gather(defs[name]); err != nil {
				return err
			}
		}
		return nil
	}
	if err := gather(s); err != nil {
		return nil, err
	}
	return root.Resolve(nil)
}

var reference = regexp.MustCompile(`"#/\$defs/(\w+)"`)

// shapes are values that models, hosts and clients send where something else is wanted, with their type in JSON.
var shapes = []struct{ typ, json string }{
	{"null", `null`},
	{"string", `"x y"`},
	{"string", `"5"`},
	{"integer", `7`},
	{"number", `0.5`},
	{"number", `-1e400`},
	{"boolean", `true`},
	{"array", `[]`},
	{"array", `[null]`},
	{"array", `[["x"]]`},
	{"object", `{}`},
	{"object", `{"x":{"y":[null]}}`},
}

// Shape is a value of a wrong shape in its place: an object of one member.
type Shape struct {
	Field string // path of what is wrong, such as memories[0].tags
	Value json.RawMessage
}

// WrongShapes returns values of wrong shapes for each member of an object, and for each member and item within. References
// of the schema lead into defs; what may hold anything is left out.
func WrongShapes(object *jsonschema.Schema, defs map[string]*jsonschema.Schema) (list []Shape) {
	for _, name := range slices.Sorted(maps.Keys(object.Properties)) {
		g := shapesOf{defs: defs, put: func(value string) string { return fmt.Sprintf("{%q:%s}", name, value) }}
		list = append(list, g.at(name, object.Properties[name], 0)...)
	}
	return list
}

type shapesOf struct {
	defs map[string]*jsonschema.Schema
	put  func(value string) string // into the whole
}

// deepest is how deep a value is looked into: some records hold records of their kind.
const deepest = 4

func (g shapesOf) at(path string, s *jsonschema.Schema, depth int) (list []Shape) {
	forms := g.forms(s)
	types := map[string]bool{}
	for _, f := range forms {
		if f.Type == "" && len(f.Types) == 0 {
			return nil // it may be anything
		}
		for _, t := range append(f.Types, f.Type) {
			types[t] = true
		}
	}
	for _, shape := range shapes {
		if !types[shape.typ] && (shape.typ != "integer" || !types["number"]) && (shape.typ != "number" || !types["number"] || shape.json == "-1e400") {
			list = append(list, Shape{path, json.RawMessage(g.put(shape.json))})
		}
	}
	if depth == deepest {
		return list
	}
	for _, f := range forms {
		inner := func(path string, s *jsonschema.Schema, form string) {
			within := shapesOf{g.defs, func(value string) string { return g.put(fmt.Sprintf(form, value)) }}
			list = append(list, within.at(path, s, depth+1)...)
		}
		if f.Items != nil {
			inner(path+"[0]", f.Items, "[%s]")
		}
		for _, name := range slices.Sorted(maps.Keys(f.Properties)) {
			inner(path+"."+name, f.Properties[name], `{"`+name+`":%s}`)
		}
	}
	return list
}

// forms returns what a schema allows, references followed.
func (g shapesOf) forms(s *jsonschema.Schema) (list []*jsonschema.Schema) {
	if s.Ref != "" {
		return g.forms(g.defs[s.Ref[strings.LastIndex(s.Ref, "/")+1:]])
	}
	for _, one := range slices.Concat(s.AnyOf, s.OneOf) {
		list = append(list, g.forms(one)...)
	}
	if list == nil {
		list = []*jsonschema.Schema{s}
	}
	return list
}
