package graph

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/yield"
)

// Bounds of what Describe says.
const (
	MaxDescribed = 16  // fields of a node
	MaxFieldText = 120 // graphemes of the text of a field
	maxNames     = 5   // of a list of references
)

// Describe gives each entity of a part of the graph the first n of its fields
// that have a value, in the order of its type, with names in place of ids. A
// computed field that fails is left out.
func (g *Graph) Describe(ctx context.Context, sub *Subgraph, n int) error {
	n = min(n, MaxDescribed)
	for i := range sub.Nodes {
		if v := &sub.Nodes[i]; n > 0 && v.Kind == Entity.String() {
			if e := g.ents.Get(v.ID); e.Live() {
				v.Fields = g.describe(ctx, e, n)
			}
		}
		if err := yield.Point(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (g *Graph) describe(ctx context.Context, e *entities.Entity, n int) []FieldText {
	t := g.typeOf(e)
	if t == nil {
		return nil
	}
	var fields []FieldText
	for _, f := range t.Fields {
		if len(fields) == n {
			break
		}
		if text := g.fieldText(ctx, e, f); text != "" {
			fields = append(fields, FieldText{Name: f.Name, Text: OneLine(text, MaxFieldText)})
		}
	}
	return fields
}

func (g *Graph) fieldText(ctx context.Context, e *entities.Entity, f entities.Field) string {
	value, ok := e.Fields[f.Name]
	switch {
	case f.Type.IsComputed():
		return g.computedText(ctx, e, f)
	case !ok:
		return ""
	case f.Type.IsRef():
		kind := Entity
		if f.Type.Info().To == record.ToNote {
			kind = Note
		}
		ids := e.Strings(f.Name)
		return g.names(e, kind, ids, len(ids))
	}
	switch v := value.(type) {
	case string:
		return g.text(e, v)
	case []string:
		return strings.Join(g.texts(e, v), ", ")
	default:
		return valueText(v)
	}
}

func (g *Graph) computedText(ctx context.Context, e *entities.Entity, f entities.Field) string {
	if g.wql == nil {
		return ""
	}
	res, err := g.wql.Computed(ctx, e, f)
	if err != nil {
		return ""
	}
	if res.IsValue {
		return valueText(g.shownValue(e, res.Value))
	}
	var ids []string
	for _, row := range res.Rows[:min(len(res.Rows), maxNames)] {
		ids = append(ids, row.ID)
	}
	return g.names(e, Entity, ids, res.Total)
}

// names writes references of an entity; total is how many there are.
func (g *Graph) names(e *entities.Entity, kind Kind, ids []string, total int) string {
	if len(ids) == 0 {
		return ""
	}
	ids = ids[:min(len(ids), maxNames)]
	list := make([]string, len(ids))
	for i, id := range ids {
		v := g.vertex(Key{kind, id}, 0)
		raw, isLink := record.LinkTarget(id)
		switch {
		case g.withheld(e, Key{kind, id}):
			list[i] = Private
		case v != nil && kind == Note:
			list[i] = "[[" + v.Name + "]]"
		case v != nil:
			list[i] = "@" + v.Name
		case isLink:
			list[i] = "[[" + raw + "]] (missing)"
		default:
			list[i] = "(missing)"
		}
	}
	text := strings.Join(list, ", ")
	if more := total - len(ids); more > 0 {
		text += fmt.Sprintf(" (+%d more)", more)
	}
	return text
}

func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// OneLine makes a text safe for one line of a drawing, no longer than most
// graphemes: line breaks become spaces; other control characters, invalid
// bytes, what no XML document may hold and what turns the writing direction of
// what follows become U+FFFD.
func OneLine(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t' || r == '\v' || r == '\f' || r == 0x85 || r == 0x2028 || r == 0x2029:
			return ' '
		case r < ' ', r >= 0x7f && r < 0xa0, r == 0xfffe, r == 0xffff,
			r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return 0xfffd
		}
		return r // an invalid byte comes as U+FFFD
	}, s)
	for rest, state, n := s, -1, 0; rest != ""; n++ {
		if n == most {
			return s[:len(s)-len(rest)] + "…"
		}
		_, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
	}
	return s
}
