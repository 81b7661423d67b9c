package openrpc

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// schemas makes JSON Schemas of Go types. Every struct that is met becomes a
// component of its own, so that a generated client gets one type for it.
type schemas struct {
	prefix     string // of references: "#/components/schemas/"
	components map[string]*jsonschema.Schema
	types      map[string]reflect.Type // of the components
}

func newSchemas(prefix string) *schemas {
	return &schemas{prefix: prefix, components: map[string]*jsonschema.Schema{}, types: map[string]reflect.Type{}}
}

var (
	rawType     = reflect.TypeFor[json.RawMessage]()
	timeType    = reflect.TypeFor[time.Time]()
	topicType   = reflect.TypeFor[protocol.Topic]()
	viewType    = reflect.TypeFor[record.StoreView]()
	nothingType = reflect.TypeFor[protocol.Nothing]()

	budgetsType = reflect.TypeFor[prompt.ParamBudgets]()
)

// inner is an Optional, which knows what it holds.
type inner interface{ Inner() reflect.Type }

// of returns the schema of a type: a reference for a struct, and the components
// that it needs.
func (d *schemas) of(t reflect.Type) (*jsonschema.Schema, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s, ok, err := d.known(t); ok || err != nil {
		return s, err
	}
	switch t.Kind() {
	case reflect.Interface:
		return &jsonschema.Schema{}, nil
	case reflect.Slice, reflect.Array:
		item, err := d.of(t.Elem())
		s := &jsonschema.Schema{Type: "array", Items: item}
		if t.Kind() == reflect.Array {
			n := t.Len()
			s.MinItems, s.MaxItems = &n, &n
		}
		return s, err
	case reflect.Map:
		value, err := d.of(t.Elem())
		return &jsonschema.Schema{Type: "object", AdditionalProperties: value}, err
	}
	return jsonschema.ForType(t, &jsonschema.ForOptions{})
}

// known returns the schema of a type that is not to be looked into here.
func (d *schemas) known(t reflect.Type) (s *jsonschema.Schema, ok bool, err error) {
	switch {
	case t == rawType:
		return &jsonschema.Schema{Type: "object"}, true, nil
	case t == timeType:
		return &jsonschema.Schema{Type: "string", Format: "date-time"}, true, nil
	case t == nothingType:
		return &jsonschema.Schema{Type: "null"}, true, nil
	case t == topicType:
		return oneOf(protocol.Topics), true, nil
	case t == viewType:
		return oneOf(record.StoreViews), true, nil
	case t.Implements(reflect.TypeFor[inner]()):
		held := reflect.Zero(t).Interface().(inner).Inner()
		if held.Kind() == reflect.Interface {
			return &jsonschema.Schema{}, true, nil
		}
		s, err = d.of(held)
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{s, {Type: "null"}}}, true, err
	case t.Kind() == reflect.Struct:
		name, err := d.component(t)
		return &jsonschema.Schema{Ref: d.prefix + name}, true, err
	}
	return nil, false, nil
}

// oneOf returns the schema of a string that is one of names.
func oneOf[T ~string](names []T) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, name := range names {
		s.Enum = append(s.Enum, name)
	}
	return s
}

// component makes the component of a struct and returns its name.
func (d *schemas) component(t reflect.Type) (string, error) {
	name := componentName(t)
	if had := d.types[name]; had != nil {
		if had != t {
			return "", fmt.Errorf("two types are called %s: %s and %s", name, had, t)
		}
		return name, nil
	}
	d.types[name] = t
	s := &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}
	d.components[name] = s
	for _, f := range reflect.VisibleFields(t) {
		property, required, skip := jsonName(f)
		if skip {
			continue
		}
		required = required && !behindPointer(t, f)
		if s.Properties[property] != nil && len(f.Index) > 1 {
			continue // hidden by a member of the outer struct
		}
		p, err := d.property(name, property, f)
		if err != nil {
			return "", err
		}
		s.Properties[property] = p
		if slices.Contains(s.PropertyOrder, property) {
			continue
		}
		s.PropertyOrder = append(s.PropertyOrder, property)
		if required {
			s.Required = append(s.Required, property)
		}
	}
	return name, nil
}

// behindPointer reports whether a field stands in an embedded struct that may be missing.
func behindPointer(t reflect.Type, f reflect.StructField) bool {
	if len(f.Index) < 2 {
		return false
	}
	outer := t.Field(f.Index[0]).Type
	return outer.Kind() == reflect.Pointer || behindPointer(outer, reflect.StructField{Index: f.Index[1:]})
}

func jsonName(f reflect.StructField) (name string, required, skip bool) {
	tag, ok := f.Tag.Lookup("json")
	if f.Anonymous && !ok || !f.IsExported() || tag == "-" {
		return "", false, true
	}
	name, opts, _ := strings.Cut(tag, ",")
	if name == "" {
		name = f.Name
	}
	options := strings.Split(opts, ",")
	return name, !slices.Contains(options, "omitempty") && !slices.Contains(options, "omitzero"), false
}

// property returns the schema of a member, with what its tags say.
func (d *schemas) property(owner, name string, f reflect.StructField) (*jsonschema.Schema, error) {
	s, err := d.of(f.Type)
	if err != nil {
		return nil, fmt.Errorf("%s.%s: %w", owner, name, err)
	}
	if s.Ref != "" { // siblings of a reference are allowed since 2019-09
		s = &jsonschema.Schema{Ref: s.Ref}
	}
	s.Description = f.Tag.Get("jsonschema")
	if text, ok := f.Tag.Lookup("min"); ok {
		s.Minimum, err = bound(text)
	}
	if text, ok := f.Tag.Lookup("max"); ok && err == nil {
		s.Maximum, err = bound(text)
	}
	if text, ok := f.Tag.Lookup("default"); ok {
		if f.Type.Kind() == reflect.String {
			text = strconv.Quote(text)
		}
		s.Default = json.RawMessage(text)
	}
	if text, ok := f.Tag.Lookup("enum"); ok {
		to := s
		if s.Items != nil {
			to = s.Items
		}
		for _, v := range strings.Split(text, ",") {
			to.Enum = append(to.Enum, v)
		}
	}
	return s, err
}

func bound(text string) (*float64, error) {
	n, err := strconv.ParseFloat(text, 64)
	return &n, err
}

// componentName names a struct in the document by its own name. What belongs to
// prompts is called so there: in its room the name alone tells.
func componentName(t reflect.Type) string {
	switch {
	case t == budgetsType:
		return "ContextBudgets"
	case path.Base(t.PkgPath()) == "prompt":
		return "Context" + t.Name()
	}
	return t.Name()
}

// names returns the names of all components in order.
func (d *schemas) names() []string { return slices.Sorted(maps.Keys(d.components)) }
