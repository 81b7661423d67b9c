package markdown

import "github.com/ctxd/ctxd/notes/frontmatter"

// PlainNote returns the plain text of a whole note: PlainText of what comes
// after the frontmatter. It does not parse what it does not need.
func PlainNote(src string) string {
	_, start := frontmatter.Split(src)
	return PlainText(src[start:])
}
