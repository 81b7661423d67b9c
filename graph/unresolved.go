package graph

import (
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
)

// Name is a name in a field, where an id belongs, that leads to no record.
type Name struct {
	Field string // of the entity
	Text  string // as it was written, with brackets if it has any
}

// Unresolved returns the names in the fields of an entity that lead to no record, in the order
// of its type: at most limit of them, and how many there are. What the reader would be shown as
// Private is not among them. O(references).
func (g *Graph) Unresolved(e *entities.Entity, limit int) (list []Name, total int) {
	t := g.typeOf(e)
	if t == nil {
		return nil, 0
	}
	for _, f := range t.Fields {
		if !f.Type.IsRef() {
			continue
		}
		for _, text := range e.Strings(f.Name) {
			if !g.unresolved(e, f, text) {
				continue
			}
			total++
			if len(list) < limit {
				list = append(list, Name{Field: f.Name, Text: text})
			}
		}
	}
	return list, total
}

func (g *Graph) unresolved(e *entities.Entity, f entities.Field, text string) bool {
	toNote := f.Type.Info().To == record.ToNote
	key := Key{Entity, text}
	if toNote {
		key.Kind = Note
	}
	if g.withheld(e, key) || !toNote && g.ents.Get(text) != nil || toNote && g.notes.Get(text) != nil {
		return false
	}
	return record.NeverLed(text) && g.text(e, text) == text
}
