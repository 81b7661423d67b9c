package mcp

import (
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
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
		b.WriteString("- " + t.Name + "\n")
		for _, f := range t.Fields {
			b.WriteString("  " + f.Name + ": " + f.Type)
			switch {
			case f.TargetType != "":
				b.WriteString(" to " + f.TargetType)
			case len(f.Options) > 0:
				b.WriteString(" of " + oneLine(strings.Join(f.Options, ", ")))
			case f.Query != "":
				b.WriteString(" " + oneLine(f.Query))
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// listTypes leaves out how many entities there are: private ones count.
func (c *call) listTypes(noInput) (typesOutput, error) {
	out := typesOutput{Types: []listedType{}}
	var list protocol.TypeList
	if err := c.ask("types.list", protocol.Empty{}, &list); err != nil {
		return out, err
	}
	for _, t := range list.Types {
		used, err := c.usedFields(&t.Type)
		if err != nil {
			return out, err
		}
		if used == nil {
			continue
		}
		listed := listedType{Name: t.Name, Fields: []listedField{}}
		for _, f := range t.Fields {
			if !used(f.Name) {
				continue
			}
			field := listedField{Name: f.Name, Type: string(f.Type), Options: f.Options, TargetType: f.TargetType}
			if c.opts.IncludePrivate {
				field.Query = f.Query
			}
			listed.Fields = append(listed.Fields, field)
		}
		out.Types = append(out.Types, listed)
	}
	return out, nil
}

// usedFields says which fields of a type may be shown, nil when the type itself
// may not, because only private entities are of it. A type that somebody
// declared shows all its fields; one that was made from the frontmatter of notes
// shows what public entities have of it.
func (c *call) usedFields(t *entities.Type) (func(name string) bool, error) {
	all := func(string) bool { return true }
	if c.opts.IncludePrivate {
		return all, nil
	}
	used := make(map[string]bool)
	public, private := false, false
	for from := ""; ; {
		page, err := c.page(t.Name, from, listPage)
		if err != nil {
			return nil, err
		}
		for _, e := range page.Entities {
			public, private = public || !e.Private, private || e.Private
			for name := range e.Fields {
				used[name] = used[name] || !e.Private
			}
		}
		if from = page.NextCursor; from == "" || public && !t.Inferred {
			break
		}
	}
	switch {
	case private && !public:
		return nil, nil
	case !t.Inferred:
		return all, nil
	}
	return func(name string) bool { return used[name] }, nil
}

// knowsType reports whether entities of a type may be listed. A type that only
// private entities have is unknown, as a misspelt one is.
func (c *call) knowsType(name string) (bool, error) {
	if name == "" {
		return true, nil
	}
	var t entities.Type
	err := c.ask("types.get", protocol.TypeName{Name: name}, &t)
	if err == nil {
		used, failed := c.usedFields(&t)
		if used != nil || failed != nil {
			return true, failed
		}
	} else if fault.KindOf(err) != fault.NotFound {
		return false, err
	}
	return false, fault.New(fault.NotFound, "there is no such type").WithHint("list_types shows the types")
}
