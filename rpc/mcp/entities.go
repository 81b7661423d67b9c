package mcp

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// entityInput are the arguments of get_entity.
type entityInput struct {
	Entity string `json:"entity" jsonschema:"the entity: its name, an alias or its id"`
	Depth  int    `json:"depth,omitempty" jsonschema:"steps to follow references: what is reached is shown with its fields too"`
	paging
}

// maxEntityDepth is one less than the daemon's: what is reached last has no fields there.
const maxEntityDepth = 3

func entitySchema() *jsonschema.Schema {
	return pagesOf[entityInput](func(p map[string]*jsonschema.Schema) { between(p["depth"], 0, maxEntityDepth, 1) })
}

func (c *call) getEntity(in entityInput) (string, error) {
	e, err := c.findEntity(in.Entity, in.Depth+1)
	if err != nil {
		return "", err
	}
	l := linesOf(entityCard(e))
	if err := l.skip(in.Cursor); err != nil {
		return "", err
	}
	return l.page(in.MaxChars)
}

// entityCard shows an entity with its fields, and below it what its references lead to.
func entityCard(e *protocol.EntityFull) string {
	var b strings.Builder
	b.WriteString("### " + entityLabel(e.Name, e.Type) + idMark(e.ID) + "\n")
	if len(e.Aliases) > 0 {
		b.WriteString("also: " + some(e.Aliases, maxListed) + "\n")
	}
	if e.NoteID != "" {
		b.WriteString("described in:" + idMark(e.NoteID) + "\n")
	}
	reached := writeFields(&b, e.Fields)
	for len(reached) > 0 {
		var next []map[string]any
		for _, r := range reached {
			fields, _ := r["fields"].(map[string]any)
			if len(fields) == 0 {
				continue
			}
			b.WriteString("\n### " + entityLabel(text(r, "name"), text(r, "type")) + idMark(text(r, "id")) + "\n")
			next = append(next, writeFields(&b, fields)...)
		}
		reached = next
	}
	return b.String()
}

// writeFields writes the fields of an entity, a line each, by name. It returns what the
// references among them lead to.
func writeFields(b *strings.Builder, fields map[string]any) (reached []map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		b.WriteString(startOfLine(name) + ": " + valueText(fields[name]) + "\n")
		values, _ := fields[name].([]any)
		for _, v := range append(values, fields[name]) {
			if r, ok := v.(map[string]any); ok {
				reached = append(reached, r)
			}
		}
	}
	return reached
}

// text is a text of a record that was decoded without its type.
func text(record map[string]any, member string) string {
	s, _ := record[member].(string)
	return s
}

// valueText writes a value of a field, a reference with the id of what it leads to.
func valueText(value any) string {
	switch v := value.(type) {
	case nil:
		return "none"
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	case string:
		return inline(v)
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = valueText(item)
		}
		if len(parts) == 0 {
			return "none"
		}
		return strings.Join(parts, ", ")
	case map[string]any:
		return referenceText(v)
	}
	return ""
}

// referenceText names what a reference leads to.
func referenceText(r map[string]any) string {
	switch id, name := text(r, "id"), text(r, "name"); {
	case text(r, "error") != "":
		return "fails: " + inline(text(r, "error"))
	case text(r, "state") != "":
		return "(" + inline(text(r, "state")) + ")"
	case text(r, "kind") == "note" && name == "":
		return inline(id) + " (no such note)"
	case text(r, "kind") == "note" && id == "":
		return inline(name)
	case text(r, "kind") == "note":
		return noteLabel(name) + idMark(id)
	case text(r, "type") != "":
		return "@" + inline(name) + idMark(id)
	case id != "":
		return inline(cmp.Or(name, id))
	}
	return "none"
}

func noEntity() error {
	return fault.New(fault.NotFound, "no such entity").WithHint("list_entities shows the entities of a type")
}
