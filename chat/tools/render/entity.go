package render

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Card is an entity with what is shown of it.
type Card struct {
	ID, Name, Type string
	Aliases        []string
	NoteID         string         // of the note that it was made from
	Fields         map[string]any // as entities.get with resolve has them in JSON
}

// Text shows an entity with its fields, and below it what its references lead to. reached gets what stands there.
func (c *Card) Text(reached func(record map[string]any)) string {
	var b strings.Builder
	b.WriteString("### " + Entity(c.Name, c.Type) + ID(c.ID) + "\n")
	if len(c.Aliases) > 0 {
		b.WriteString("also: " + ListUpTo(c.Aliases, MaxListed) + "\n")
	}
	if c.NoteID != "" {
		b.WriteString("described in:" + ID(c.NoteID) + "\n")
	}
	level := writeFields(&b, c.Fields)
	for len(level) > 0 {
		var next []map[string]any
		for _, r := range level {
			reached(r)
			fields, _ := r["fields"].(map[string]any)
			if len(fields) == 0 {
				continue
			}
			b.WriteString("\n### " + Entity(text(r, "name"), text(r, "type")) + ID(text(r, "id")) + "\n")
			next = append(next, writeFields(&b, fields)...)
		}
		level = next
	}
	return b.String()
}

// writeFields writes the fields of an entity, a line each, by name. It returns what the
// references among them lead to.
func writeFields(b *strings.Builder, fields map[string]any) (reached []map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		b.WriteString(Line(name) + ": " + Value(fields[name]) + "\n")
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

// Value writes a value of a field, a reference with the id of what it leads to.
func Value(value any) string {
	switch v := value.(type) {
	case nil:
		return "none"
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	case string:
		return Inline(v)
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = Value(item)
		}
		if len(parts) == 0 {
			return "none"
		}
		return strings.Join(parts, ", ")
	case map[string]any:
		return reference(v)
	}
	return ""
}

// reference names what a reference leads to.
func reference(r map[string]any) string {
	switch id, name := text(r, "id"), text(r, "name"); {
	case text(r, "error") != "":
		return "fails: " + Inline(text(r, "error"))
	case text(r, "state") != "":
		return "(" + Inline(text(r, "state")) + ")"
	case text(r, "kind") == "note" && name == "":
		return Inline(id) + " (no such note)"
	case text(r, "kind") == "note" && id == "":
		return Inline(name)
	case text(r, "kind") == "note":
		return Note(name) + ID(id)
	case text(r, "type") != "":
		return "@" + Inline(name) + ID(id)
	case id != "":
		return Inline(cmp.Or(name, id))
	}
	return "none"
}
