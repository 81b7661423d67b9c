package vault

import (
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

func itoa(i int) string { return strconv.Itoa(i) }

// titleEdits returns the edits that give the title and the first heading of a note another text, where they are the
// old name. It is not whole where one of them cannot be written.
func titleEdits(n *notes.Note, old, name string) (edits []Edit, whole bool) {
	if n.Kind != "" {
		return nil, true // its title is its file name
	}
	doc := markdown.Parse(n.Body)
	whole = true
	if f, ok := doc.Frontmatter.Get("title"); ok && f.IsScalar() && text.Fold(f.Raw) == text.Fold(old) {
		e, ok := frontmatterEdit(n.Body, f.Raw, name)
		if !ok {
			return nil, false
		}
		edits = append(edits, e)
	}
	first := true
	markdown.Headings(n.Body, func(h markdown.Heading) {
		if h.Level != 1 || !first {
			return
		}
		first = false
		if text.Fold(h.Text) != text.Fold(old) {
			return
		}
		e, ok := headingEdit(n.Body, h, name)
		edits, whole = append(edits, e...), whole && ok
	})
	if !whole || len(edits) == 0 {
		return nil, whole
	}
	after := markdown.Parse(apply(n.Body, edits))
	if text.Fold(doc.Title) == text.Fold(old) && after.Title != name || after.FrontmatterErr != nil && doc.FrontmatterErr == nil {
		return nil, false
	}
	return edits, true
}

// frontmatterEdit writes the value of the key title anew, quoted as it was, or where it has to be.
func frontmatterEdit(s, raw, name string) (Edit, bool) {
	block, _ := markdown.SplitFrontmatter(s)
	for at := block.Start; at < block.End; {
		end, next := markdown.LineEnd(s, at)
		key, value, ok := strings.Cut(s[at:end], ":")
		if !ok || text.Fold(key) != "title" {
			at = next
			continue
		}
		start := end - len(strings.TrimLeft(value, " \t"))
		if start >= end {
			return Edit{}, false
		}
		switch quote := s[start]; quote {
		case '"', '\'':
			if !strings.HasPrefix(s[start+1:end], raw+string(quote)) {
				return Edit{}, false
			}
			return Edit{start + 1, start + 1 + len(raw), quoted(name, quote)}, true
		default:
			if !strings.HasPrefix(s[start:end], raw) {
				return Edit{}, false
			}
			if !isPlain(name) {
				name = `"` + quoted(name, '"') + `"`
			}
			return Edit{start, start + len(raw), name}, true
		}
	}
	return Edit{}, false
}

func quoted(name string, quote byte) string {
	if quote == '\'' {
		return strings.ReplaceAll(name, "'", "''")
	}
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name)
}

// isPlain reports whether YAML reads a text without quotes as that text.
func isPlain(name string) bool {
	m, err := markdown.ReadFrontmatter("title: "+name+"\n", 1)
	if err != nil || strings.Contains(name, "#") || strings.HasSuffix(name, ":") {
		return false
	}
	f, ok := m.Get("title")
	text, isText := f.Value.(string)
	return ok && isText && text == name
}

// headingEdit writes the text of a heading anew, its marks left as they are.
func headingEdit(text string, h markdown.Heading, name string) ([]Edit, bool) {
	end, _ := markdown.LineEnd(text, h.Start)
	line := text[h.Start:end]
	if strings.Count(line, h.Text) == 1 && h.Text != "" {
		at := h.Start + strings.Index(line, h.Text)
		return []Edit{{at, at + len(h.Text), name}}, true
	}
	// Markup stands in it: all between the marks is replaced.
	start := len(line) - len(strings.TrimLeft(line, " \t>#"))
	words := strings.TrimRight(strings.TrimRight(line, " \t"), "#")
	if words = strings.TrimRight(words, " \t"); len(words) <= start || line[0] != '#' {
		return nil, false
	}
	return []Edit{{h.Start + start, h.Start + len(words), name}}, true
}
