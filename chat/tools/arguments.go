package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/wql/syntax"
)

// argument declares one argument of a tool: its part of the schema and its check follow from it.
type argument struct {
	name, about string
	kind        kind
	required    bool
	// Of a number: its bounds, and what it is when it is absent.
	least, most, standard int
	values                []string // of a text, or of each text of a list; nil: any
	long                  int      // bytes of a text at most; 0: longText
}

// kind is what an argument holds.
type kind string

const (
	aText   kind = "string"
	aNumber kind = "integer"
	aList   kind = "array" // of texts
)

const (
	maxArgumentText  = 8 << 10 // bytes
	maxArgumentItems = 50      // items
	maxWrong         = 10      // arguments of which it is said what is wrong with them
	quoted           = 60      // characters of a text that is told back
)

// argumentsSchema writes the JSON schema of arguments.
func argumentsSchema(list []argument) json.RawMessage {
	type property struct {
		Type        kind            `json:"type"`
		Description string          `json:"description"`
		Enum        []string        `json:"enum,omitempty"`
		Minimum     *int            `json:"minimum,omitempty"`
		Maximum     *int            `json:"maximum,omitempty"`
		Default     *int            `json:"default,omitempty"`
		Items       *map[string]any `json:"items,omitempty"`
	}
	var b bytes.Buffer
	b.WriteString(`{"type":"object","properties":{`)
	required := []string{}
	for i, a := range list {
		p := property{Type: a.kind, Description: a.about}
		switch a.kind {
		case aNumber:
			p.Minimum, p.Maximum, p.Default = &a.least, &a.most, &a.standard
		case aText:
			p.Enum = a.values
		case aList:
			items := map[string]any{"type": aText}
			if a.values != nil {
				items["enum"] = a.values
			}
			p.Items = &items
		}
		if a.required {
			required = append(required, a.name)
		}
		data, err := json.Marshal(p)
		if err != nil {
			panic(err) // a defect of this package, seen by any test
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", a.name, data) // in the order of the table, which is the best one to read
	}
	b.WriteByte('}')
	if len(required) > 0 {
		data, _ := json.Marshal(required)
		b.WriteString(`,"required":` + string(data))
	}
	b.WriteString(`,"additionalProperties":false}`)
	return b.Bytes()
}

// arguments are those of a call, checked.
type arguments struct {
	texts   map[string]string
	numbers map[string]int
	lists   map[string][]string
}

func (a *arguments) text(name string) string   { return a.texts[name] }
func (a *arguments) number(name string) int    { return a.numbers[name] }
func (a *arguments) list(name string) []string { return a.lists[name] }

// parseArguments reads the arguments of a call of a tool. null is what is absent. All that is wrong is told at once: a model
// has few rounds.
func parseArguments(tool string, declared []argument, raw json.RawMessage) (*arguments, error) {
	if len(raw) > maxArgumentsSize {
		return nil, fault.New(fault.Invalid, "the arguments have %d bytes, and at most %d are read", len(raw), maxArgumentsSize).
			WithHint("say less")
	}
	names := make([]string, len(declared))
	kinds := make(map[string]render.ArgumentKind, len(declared))
	for i := range declared {
		a := &declared[i]
		names[i], kinds[a.name] = a.name, render.ArgumentKind{Type: string(a.kind), Items: string(aText)}
	}
	given, err := members(render.LenientArguments(raw, kinds))
	if err != nil {
		return nil, err
	}
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(names, name) {
			wrong = append(wrong, fault.New(fault.Invalid, "%s has no argument %q", tool, clipArgument(name)).
				WithHint("%s; its arguments are %s", nearest(name, names), strings.Join(names, ", ")))
		}
	}
	out := &arguments{texts: make(map[string]string), numbers: make(map[string]int), lists: make(map[string][]string)}
	for i := range declared {
		a := &declared[i]
		value, ok := given[a.name]
		if ok && string(value) == "null" {
			ok = false
		}
		if !ok {
			if a.required {
				wrong = append(wrong, fault.Field(a.name, "%s needs the argument %s: %s", tool, a.name, a.about))
			}
			if a.kind == aNumber {
				out.numbers[a.name] = a.standard
			}
			continue
		}
		if err := out.take(a, value); err != nil {
			wrong = append(wrong, err)
		}
	}
	switch len(wrong) {
	case 0:
		return out, nil
	case 1:
		return nil, wrong[0]
	}
	var all strings.Builder
	for _, err := range wrong[:min(len(wrong), maxWrong)] {
		all.WriteString(explain(err))
	}
	return nil, wholeError(all.String())
}

// members splits a JSON object. Of two members of one name the last counts. No arguments at all are an empty object:
// some models leave them out where a tool needs none.
func members(raw json.RawMessage) (map[string]json.RawMessage, error) {
	if text := strings.TrimSpace(string(raw)); text == "" || text == "null" {
		return nil, nil
	}
	var given map[string]json.RawMessage
	dec := json.NewDecoder(bytes.NewReader(raw))
	err := dec.Decode(&given)
	var mistyped *json.UnmarshalTypeError
	switch {
	case errors.As(err, &mistyped):
		return nil, fault.New(fault.Invalid, "the arguments are no JSON object").WithHint(`give an object such as {"query": "…"}`)
	case err != nil:
		return nil, fault.New(fault.Invalid, "the arguments are no valid JSON").WithHint(`give one object such as {"query": "…"}`)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fault.New(fault.Invalid, "something follows the arguments").WithHint("give one JSON object, and nothing behind it")
	}
	return given, nil
}

// take reads the value of an argument.
func (a *arguments) take(d *argument, value json.RawMessage) error {
	switch d.kind {
	case aText:
		var s string
		if json.Unmarshal(value, &s) != nil {
			return mistyped(d, "a text in quotes")
		}
		if err := d.check(s); err != nil {
			return err
		}
		a.texts[d.name] = s
	case aNumber:
		var f float64
		if json.Unmarshal(value, &f) != nil || f != math.Trunc(f) {
			return mistyped(d, "a whole number")
		}
		if f < float64(d.least) || f > float64(d.most) {
			return fault.Field(d.name, "%s is %v, and must be from %d to %d", d.name, f, d.least, d.most)
		}
		a.numbers[d.name] = int(f)
	case aList:
		var list []*string
		if json.Unmarshal(value, &list) != nil || slices.Contains(list, nil) {
			return mistyped(d, "a list of texts")
		}
		if len(list) > maxArgumentItems {
			return fault.Field(d.name, "%s has %d items, and at most %d are allowed", d.name, len(list), maxArgumentItems)
		}
		for _, s := range list {
			if err := d.check(*s); err != nil {
				return err
			}
			a.lists[d.name] = append(a.lists[d.name], *s)
		}
	}
	return nil
}

func mistyped(d *argument, want string) error {
	return fault.Field(d.name, "%s must be %s", d.name, want)
}

// check checks a text, or one of a list.
func (d *argument) check(s string) error {
	long := d.long
	if long == 0 {
		long = maxArgumentText
	}
	switch {
	case len(s) > long:
		return fault.Field(d.name, "%s has %d bytes, and at most %d are allowed", d.name, len(s), long)
	case d.required && strings.TrimSpace(s) == "":
		return fault.Field(d.name, "%s is empty: %s", d.name, d.about)
	case d.values != nil && !slices.Contains(d.values, s):
		return fault.Field(d.name, "%s is %q, which is none of its values", d.name, clipArgument(s)).
			WithHint("%s; its values are %s", nearest(s, d.values), strings.Join(d.values, ", "))
	}
	return nil
}

// nearest says which of some names was meant, or that one of them is to be given.
func nearest(name string, names []string) string {
	if near := syntax.Nearest(name, names); len(near) > 0 {
		return "did you mean " + strings.Join(near, ", ") + "?"
	}
	return "give another one"
}

// clipArgument shortens a text of the model that is told back.
func clipArgument(s string) string {
	s, _ = prompt.Cut(s, quoted)
	return s
}
