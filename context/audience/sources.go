package audience

import (
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// manySources is from how many bytes on the sources of a record are kept by name, so that
// each of many names is not looked for in all of them.
const manySources = 1 << 10

// sourceOf is notes.Sources.Of. The last record with many sources is kept: what is asked
// next is mostly another name of the same one.
func (v *View) sourceOf(s notes.Sources, text string) []markdown.Reference {
	if len(s) < manySources {
		return s.Of(text)
	}
	kept := v.rooms.sources.Load()
	if kept == nil || !kept.Are(s) {
		kept = s.ByName()
		v.rooms.sources.Store(kept)
	}
	return kept.Of(text)
}

// noteSource returns the sources of the names of a note.
func (v *View) noteSource(n *notes.Note) func(text string) []markdown.Reference {
	return func(text string) []markdown.Reference { return v.sourceOf(n.Sources, text) }
}

// entitySource returns the sources of the names of an entity.
func (v *View) entitySource(e *entities.Entity) func(text string) []markdown.Reference {
	return func(text string) []markdown.Reference { return v.sourceOf(notes.Sources(e.Sources), text) }
}
