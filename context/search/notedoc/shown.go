package notedoc

import (
	"strings"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/notes/markdown"
)

// shown returns a whole note without its %%comments%%, which the prompt leaves out as well:
// nobody finds, or is shown, what a writer has hidden. Time is linear in its length.
func shown(note string) string {
	if !strings.Contains(note, "%%") {
		return note
	}
	_, start := markdown.SplitFrontmatter(note)
	// The empty line keeps a text that begins with --- from being taken for frontmatter.
	return note[:start] + "\n" + prompt.RenderNote(note[start:])
}

// properties gives the properties of a note with such frontmatter.
func (d doc) properties(front string, visit func(int, string) bool) {
	list, _ := prompt.SplitProperties(d.Body)
	if len(list) == 0 {
		if _, _, ok := prompt.PropertyFields(d.Body); !ok {
			visit(Properties, front)
		}
	}
	for _, p := range list {
		if !visit(Properties, p.Key+": "+p.Value) {
			return
		}
	}
}
