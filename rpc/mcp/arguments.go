package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/entities/text"
)

// argumentsOf reads the arguments of a call as they are meant, and says what is wrong with them in the words that a
// model can act on, "" for nothing. null is as no arguments.
func argumentsOf[In any](
	ids *shownIDs, tool string, schema *jsonschema.Schema, raw json.RawMessage,
) (in In, wrong string) {
	raw = render.LenientArguments(raw, kindsOf(schema))
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) != nil {
		return in, "The arguments are no JSON object.\nTry: give an object of " + strings.Join(propertyNames(schema), ", ")
	}
	if wrong = wrongArguments(tool, schema, given); wrong != "" {
		return in, wrong
	}
	for name, p := range schema.Properties {
		if _, ok := given[name]; !ok && p.Default != nil {
			given[name] = p.Default
		}
	}
	ids.lengthen(given)
	whole, err := json.Marshal(given)
	if err == nil {
		err = json.Unmarshal(whole, &in)
	}
	if err != nil {
		return in, "The arguments can't be read: a value in them has another shape than the schema of " + tool + " says."
	}
	return in, ""
}

func kindsOf(schema *jsonschema.Schema) map[string]render.ArgumentKind {
	kinds := make(map[string]render.ArgumentKind, len(schema.Properties))
	for name, p := range schema.Properties {
		k := render.ArgumentKind{Type: p.Type}
		if p.Items != nil {
			k.Items = p.Items.Type
		}
		kinds[name] = k
	}
	return kinds
}

// wrongArguments says what is wrong with each argument, a line for each.
func wrongArguments(tool string, schema *jsonschema.Schema, given map[string]json.RawMessage) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if p := schema.Properties[name]; p == nil {
			list = append(list, unknownArgument(tool, name, schema))
		} else if why := misread(p, given[name]); why != "" {
			list = append(list, name+" must be "+why)
		}
	}
	for _, name := range schema.Required {
		if _, ok := given[name]; !ok {
			list = append(list, fmt.Sprintf("%s needs the argument %s: %s", tool, name, schema.Properties[name].Description))
		}
	}
	return strings.Join(list, "\n")
}

func propertyNames(s *jsonschema.Schema) []string { return slices.Sorted(maps.Keys(s.Properties)) }

func unknownArgument(tool, name string, s *jsonschema.Schema) string {
	hint := "its arguments are " + strings.Join(propertyNames(s), ", ")
	if near := text.Nearest(name, propertyNames(s)); len(near) > 0 {
		hint = "did you mean " + near[0] + "?"
	}
	return fmt.Sprintf("%s has no argument %s; %s", tool, render.Inline(name), hint)
}

// misread is misfit of a value as it was sent: JSON has numbers that nothing can hold.
func misread(p *jsonschema.Schema, raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) == nil {
		return misfit(p, v)
	}
	if why := misfit(p, nil); why != "" {
		return why
	}
	return "a value without numbers beyond 1e308"
}

// misfit says what a value must be that is something else, "" for one that fits. What is deeper in it is the SDK's to check.
func misfit(p *jsonschema.Schema, v any) string {
	fits := true
	switch p.Type {
	case "string":
		_, fits = v.(string)
	case "boolean":
		_, fits = v.(bool)
	case "object":
		_, fits = v.(map[string]any)
	case "integer", "number":
		f, ok := v.(float64)
		fits = ok && (p.Type == "number" || f == float64(int64(f)))
		if fits && (p.Minimum != nil && f < *p.Minimum || p.Maximum != nil && f > *p.Maximum) {
			return fmt.Sprintf("from %s to %s", bound(p.Minimum), bound(p.Maximum))
		}
	case "array":
		list, ok := v.([]any)
		fits = ok
		for _, item := range list {
			if p.Items != nil && misfit(p.Items, item) != "" {
				return "a list, and each of its items " + misfit(p.Items, item)
			}
		}
		if ok && p.MaxItems != nil && len(list) > *p.MaxItems {
			return fmt.Sprintf("a list of at most %d items", *p.MaxItems)
		}
		if ok && p.MinItems != nil && len(list) < *p.MinItems {
			return fmt.Sprintf("a list of at least %d items", *p.MinItems)
		}
	}
	if fits && len(p.Enum) > 0 && !slices.Contains(p.Enum, v) {
		var words []string
		for _, e := range p.Enum {
			words = append(words, fmt.Sprint(e))
		}
		return "one of " + strings.Join(words, ", ")
	}
	if fits {
		return ""
	}
	return map[string]string{
		"string": "a text in quotes", "boolean": "true or false", "object": "an object", "integer": "a whole number", "number": "a number", "array": "a list",
	}[p.Type]
}

func bound(f *float64) string {
	if f == nil {
		return "any number"
	}
	return fmt.Sprint(*f)
}
