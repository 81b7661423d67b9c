package gather

import (
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/notes"
)

// title returns the title of a note as the audience may read it. b is the block
// that shows it, nil for none.
func (c *call) title(b *block, n *notes.Note) string {
	shown, looked := c.view.Title(n)
	b.looked(looked)
	return shown
}

// name is title for an entity.
func (c *call) name(b *block, e *entities.Entity) string {
	shown, looked := c.view.Name(e)
	b.looked(looked)
	return shown
}

// value returns a text of a field as the audience may read it. from is the note
// that the field stands in, "" for none.
func (c *call) value(b *block, from, text string) string {
	shown, looked := c.view.Text(from, text)
	b.looked(looked)
	return shown
}

func (c *call) items(b *block, from string, items []string) []string {
	if !c.remote {
		return items
	}
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = c.value(b, from, item)
	}
	return out
}

// looked notes that what a block shows may depend on notes. b may be nil.
func (b *block) looked(yes bool) {
	if b != nil && yes {
		b.links = true
	}
}
