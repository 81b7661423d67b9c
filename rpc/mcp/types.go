package mcp

import (
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// typesInput are the arguments of list_types.
type typesInput struct{ paging }

func typesSchema() *jsonschema.Schema { return pagesOf[typesInput](nil) }

func (c *call) listTypes(in typesInput) (string, error) {
	var types protocol.TypeList
	if err := c.ask("types.list", protocol.Empty{}, &types); err != nil {
		return "", err
	}
	var b strings.Builder
	for i, t := range types.Types {
		b.WriteString("- " + prompt.EscapeInline(t.Name))
		if t.Vault != "" && sharesName(types.Types, i) {
			b.WriteString(" of vault " + prompt.EscapeInline(t.Vault))
		}
		b.WriteString(", " + render.Plural(t.Count, "entity") + "\n")
		for _, f := range t.Fields {
			b.WriteString("  " + prompt.EscapeLine(f.Name) + ": " + string(f.Type))
			switch {
			case f.TargetType != "":
				b.WriteString(" to " + prompt.EscapeInline(f.TargetType))
			case len(f.Options) > 0:
				b.WriteString(" of " + render.List(f.Options))
			case f.Query != "":
				b.WriteString(" " + render.Inline(f.Query))
			}
			b.WriteByte('\n')
		}
	}
	l := render.Lines(b.String())
	l.None = "No type is declared."
	if err := l.Skip(in.Cursor); err != nil {
		return "", err
	}
	return l.Text(in.MaxChars)
}

// sharesName reports whether a type has the name of another. Those of one name stand together.
func sharesName(types []protocol.TypeCount, i int) bool {
	same := func(j int) bool {
		return j >= 0 && j < len(types) && text.Fold(types[j].Name) == text.Fold(types[i].Name)
	}
	return same(i-1) || same(i+1)
}
