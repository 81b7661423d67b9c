package vault

import (
	"fmt"
	"html"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// destination writes the path in the destination of a Markdown link anew.
func (w *writer) destination(l markdown.Link, to notes.Lead) {
	old, fragment, hasFragment := strings.Cut(l.Raw, "#")
	for _, name := range w.paths(l, to) {
		as := l
		as.Target = name
		if lead := w.after.Lead(as, w.from.ID); lead.ID != to.ID || lead.File != to.File {
			continue
		}
		dest := escaped(name, old, w.special(l, name))
		whole := dest
		if hasFragment {
			whole += "#" + fragment
		}
		if !markdown.IsLink(whole) || markdown.ReadLink(whole).Target != name {
			continue
		}
		start, end := notes.LinkTarget(l)
		w.edits = append(w.edits, Edit{start, end, dest})
		return
	}
	w.job.problem(w.from, l, whyNoText)
}

// special returns the bytes that a name can't have where a destination stands: between parentheses, in angle brackets, in an
// attribute of HTML, in the quotes of a property.
func (w *writer) special(l markdown.Link, name string) string {
	special := "<>\\#%"
	before := byte(0)
	if l.Start > 0 {
		before = w.text[l.Start-1]
	}
	if before != '<' {
		special += " "
		if !balanced(name) {
			special += "()"
		}
	}
	if _, body := markdown.SplitFrontmatter(w.text); l.Start < body || strings.IndexByte("\"'=", before) >= 0 {
		special += "\"'"
	}
	return special
}

// paths returns the paths that a Markdown link may name, the likest to what it says first.
func (w *writer) paths(l markdown.Link, to notes.Lead) []string {
	was, file := w.places(to)
	if to.ID != "" && withoutExt(l.Target) == l.Target {
		file = withoutExt(file)
	}
	if file == "" { // a note without a file
		return nil
	}
	beside := relative(w.newFolder(), file, strings.HasPrefix(l.Target, "./"))
	var list []string
	switch {
	case strings.HasPrefix(l.Target, "/"):
		list = append(list, "/"+file)
	case same(path.Join(w.from.Folder, l.Target), was):
		list = append(list, beside)
	case same(l.Target, was):
		list = append(list, file)
	default:
		list = append(list, path.Base(file))
	}
	return append(list, beside, relative(w.newFolder(), file, true), file, "/"+file)
}

// escaped writes a path as a destination, with no more escapes than it needs, and letters of other scripts as in the
// destination that it replaces.
func escaped(name, old, special string) string {
	if html.UnescapeString(name) != name {
		special += "&"
	}
	encodeAll := encodesLetters(old)
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case c < ' ', c == 0x7f, strings.IndexByte(special, c) >= 0, c >= utf8.RuneSelf && encodeAll:
			fmt.Fprintf(&b, "%%%02X", c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// encodesLetters reports whether a destination has escapes of bytes outside ASCII.
func encodesLetters(dest string) bool {
	for i := 0; i+2 < len(dest); i++ {
		if dest[i] == '%' && strings.IndexByte("89abcdefABCDEF", dest[i+1]) >= 0 && isHex(dest[i+2]) {
			return true
		}
	}
	return false
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

// balanced reports whether each parenthesis has its partner.
func balanced(s string) bool {
	open := 0
	for _, c := range s {
		switch c {
		case '(':
			open++
		case ')':
			if open--; open < 0 {
				return false
			}
		}
	}
	return open == 0
}
