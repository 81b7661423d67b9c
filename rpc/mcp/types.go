package mcp

import (
	"strings"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// typesOutput is the result of list_types.
type typesOutput struct {
	Types []listedType `json:"types" jsonschema:"the types by name"`
}

type listedType struct {
	Name   string        `json:"name" jsonschema:"name of the type"`
	Fields []listedField `json:"fields" jsonschema:"its fields"`
}

type listedField struct {
	Name       string   `json:"name" jsonschema:"name of the field"`
	Type       string   `json:"type" jsonschema:"what it holds, such as text, date, entity_ref or computed"`
	Options    []string `json:"options,omitempty" jsonschema:"the values that a select may have"`
	TargetType string   `json:"targetType,omitempty" jsonschema:"the type that a reference leads to"`
	Query      string   `json:"query,omitempty" jsonschema:"the WQL text of a computed field"`
}

func (o typesOutput) text() string {
	if len(o.Types) == 0 {
		return "No type is declared."
	}
	var b strings.Builder
	for _, t := range o.Types {
		b.WriteString("- " + prompt.EscapeInline(t.Name) + "\n")
		for _, f := range t.Fields {
			b.WriteString("  " + prompt.EscapeLine(f.Name) + ": " + f.Type)
			switch {
			case f.TargetType != "":
				b.WriteString(" to " + prompt.EscapeInline(f.TargetType))
			case len(f.Options) > 0:
				b.WriteString(" of " + inlineList(f.Options))
			case f.Query != "":
				b.WriteString(" " + inline(f.Query))
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func (c *call) listTypes(noInput) (typesOutput, error) {
	out := typesOutput{Types: []listedType{}}
	var list protocol.TypeList
	if err := c.ask("types.list", protocol.Empty{}, &list); err != nil {
		return out, err
	}
	for _, t := range list.Types {
		listed := listedType{Name: t.Name, Fields: []listedField{}}
		for _, f := range t.Fields {
			listed.Fields = append(listed.Fields, listedField{f.Name, string(f.Type), f.Options, f.TargetType, f.Query})
		}
		out.Types = append(out.Types, listed)
	}
	return out, nil
}
