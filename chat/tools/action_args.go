package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/wql/syntax"
)

// Bounds of args.
const (
	maxActionArgs = 64 << 10 // bytes of them as JSON
	longText      = 8 << 10  // bytes of a text, unless its tag long says otherwise
	longList      = 50       // items
)

// The args of a kind are a struct of texts, lists of texts, numbers and booleans, whose tags are what the args are
// checked by:
//
//	json        the name; a member without omitempty is required, and a text is then not empty
//	jsonschema  the description
//	long        the most bytes of a text
//	enum        the accepted texts, separated by commas

// member is one member of args.
type member struct {
	name, about string
	required    bool
	long        int
	values      []string
	typ         reflect.Type
}

func membersOf(t reflect.Type) []member {
	list := make([]member, t.NumField())
	for i := range list {
		f := t.Field(i)
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		m := member{name: name, about: f.Tag.Get("jsonschema"), required: opts != "omitempty", long: longText, typ: f.Type}
		if long, err := strconv.Atoi(f.Tag.Get("long")); err == nil {
			m.long = long
		}
		if values := f.Tag.Get("enum"); values != "" {
			m.values = strings.Split(values, ",")
		}
		list[i] = m
	}
	return list
}

// what names the type of a member: for the schema, and for people.
func (m *member) what() (schema, people string) {
	switch m.typ.Kind() {
	case reflect.String:
		return "string", "a text"
	case reflect.Slice:
		return "array", "a list of texts"
	case reflect.Bool:
		return "boolean", "true or false"
	case reflect.Int:
		return "integer", "a whole number"
	default:
		return "number", "a number"
	}
}

// schemaOf writes the JSON schema of args.
func schemaOf(list []member) json.RawMessage {
	properties, required := make([]string, len(list)), []string{}
	for i := range list {
		m := &list[i]
		typ, _ := m.what()
		p := map[string]any{"type": typ, "description": m.about}
		if typ == "array" {
			p["items"] = map[string]any{"type": "string"}
		}
		if m.values != nil {
			p["enum"] = m.values
		}
		if m.required {
			required = append(required, m.name)
		}
		data, err := json.Marshal(p)
		if err != nil {
			panic(err) // a defect of this package, seen by any test
		}
		properties[i] = fmt.Sprintf("%q:%s", m.name, data)
	}
	names, _ := json.Marshal(required) // texts always encode
	return json.RawMessage(`{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":` + string(names) +
		`,"additionalProperties":false}`)
}

// parse reads the args of a kind. null is what is absent. The errors are Invalid, and Limit for what is too large; they
// name the member.
func parse[T any](typ string, list []member, raw json.RawMessage) (*T, error) {
	if len(raw) > maxActionArgs {
		return nil, fault.TooLarge("args", len(raw), maxActionArgs, "bytes").WithHint("say less")
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil || given == nil {
		return nil, fault.New(fault.Invalid, "the args of %s are no JSON object", typ).WithHint(`give an object such as {"title":"…"}`)
	}
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].name
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(names, name) {
			return nil, fault.Field(clip(name), "%s has no arg %q", typ, clip(name)).
				WithHint("%s", syntax.DidYouMean(name, names, ""))
		}
	}
	for i := range list {
		m := &list[i]
		value := given[m.name]
		if len(value) == 0 || bytes.Equal(value, []byte("null")) {
			delete(given, m.name)
			if m.required {
				return nil, fault.Field(m.name, "%s is absent", m.name).WithHint("give %s: %s", m.name, m.about)
			}
			continue
		}
		if err := m.check(value); err != nil {
			return nil, err
		}
	}
	data, err := json.Marshal(given)
	if err != nil {
		return nil, err
	}
	args := new(T)
	return args, json.Unmarshal(data, args)
}

// check checks the value of a member.
func (m *member) check(value json.RawMessage) error {
	v := reflect.New(m.typ)
	if json.Unmarshal(value, v.Interface()) != nil || m.typ.Kind() == reflect.Slice && bytes.Contains(value, []byte("null")) && hasNull(value) {
		_, people := m.what()
		return fault.Field(m.name, "%s is not %s", m.name, people).WithHint("give %s: %s", m.name, m.about)
	}
	var texts []string
	switch x := v.Elem().Interface().(type) {
	case string:
		if m.required && strings.TrimSpace(x) == "" {
			return fault.Field(m.name, "%s is empty", m.name).WithHint("give %s: %s", m.name, m.about)
		}
		texts = []string{x}
	case []string:
		if len(x) > longList {
			return fault.TooLarge(m.name, len(x), longList, "items").WithHint("give fewer")
		}
		texts = x
	}
	for _, s := range texts {
		if len(s) > m.long {
			return fault.TooLarge(m.name, len(s), m.long, "bytes").WithHint("say less")
		}
		if m.values != nil && !slices.Contains(m.values, s) {
			return fault.Field(m.name, "%s is none of its values", m.name).WithHint("give one of %s", strings.Join(m.values, ", "))
		}
	}
	return nil
}

// hasNull reports whether a list has an item that is null, which would be read as an empty text.
func hasNull(list json.RawMessage) bool {
	var items []*string
	return json.Unmarshal(list, &items) == nil && slices.Contains(items, nil)
}

// clip shortens a text that is told back.
func clip(s string) string {
	const most = 60 // code points
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// oneLine puts a text on one line, with one space for each run of blanks.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
