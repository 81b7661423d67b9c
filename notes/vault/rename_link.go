package vault

import (
	"path"
	"strings"

	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// Why a link is not kept.
const (
	whyCaptured = "it led nowhere, and leads to the new name now"
	whyNoText   = "no text of a link leads there any more"
)

// writer writes the links of one note anew.
type writer struct {
	job   *job
	after notes.World
	from  *notes.Note // before
	text  string
	edits []Edit
}

// link adds the edits of one link.
func (w *writer) link(l markdown.Link) {
	j := w.job
	if l.Target == "" && l.Heading == "" && l.Block == "" || w.inOwn(l) {
		return
	}
	was, now := j.before.Lead(l, w.from.ID), w.after.Lead(l, w.from.ID)
	if to, moved := j.files[was.File]; moved {
		was.File = to
	}
	switch {
	case was.ID == now.ID && was.File == now.File && !w.loses(l, was):
	case was.ID == "" && was.File == "":
		if !l.Possible() {
			j.problem(w.from, l, whyCaptured)
		}
		return
	case l.Markdown:
		w.destination(l, was)
	default:
		w.target(l, was)
	}
	w.part(l, was.ID)
}

// loses reports whether a Markdown link leads to its target by its path from the folder of the note, and would do so by
// our more lenient rules alone: other programs would not find the target any more.
func (w *writer) loses(l markdown.Link, to notes.Lead) bool {
	if !l.Markdown || strings.HasPrefix(l.Target, "/") {
		return false
	}
	was, now := w.places(to)
	return same(path.Join(w.from.Folder, l.Target), was) && !same(path.Join(w.newFolder(), l.Target), now)
}

// places returns the paths of the target of a link, before and after.
func (w *writer) places(to notes.Lead) (was, now string) {
	if n := w.after.Note(to.ID); n != nil {
		return w.job.before.Note(to.ID).Path, n.Path
	}
	for from, moved := range w.job.files {
		if moved == to.File {
			return from, moved
		}
	}
	return to.File, to.File
}

// same reports whether two paths are those of one file to a link.
func same(a, b string) bool { return text.Fold(withoutExt(a)) == text.Fold(withoutExt(b)) }

// inOwn reports whether a link lies in what is renamed itself.
func (w *writer) inOwn(l markdown.Link) bool {
	for _, e := range w.job.own[w.from.ID] {
		if e.Start < l.End && l.Start < e.End {
			return true
		}
	}
	return false
}

// target writes the target of a wikilink anew.
func (w *writer) target(l markdown.Link, to notes.Lead) {
	for _, name := range w.wikiNames(l, to) {
		if strings.ContainsAny(name, "[]|#^\n\r") || strings.TrimSpace(name) != name {
			continue
		}
		as := l
		as.Target = name
		if lead := w.after.Lead(as, w.from.ID); lead.ID != to.ID || lead.File != to.File {
			continue
		}
		start, end := notes.LinkTarget(l)
		if start == end {
			break
		}
		w.edits = append(w.edits, Edit{start, end, name})
		if w.keepsWords(l, to, name) {
			w.edits = append(w.edits, Edit{l.End - 2, l.End - 2, w.separator(l) + l.Text()})
		}
		return
	}
	w.job.problem(w.from, l, whyNoText)
}

// keepsWords reports whether a link is to show the words that it showed: its target was not renamed, it is only called
// otherwise now.
func (w *writer) keepsWords(l markdown.Link, to notes.Lead, name string) bool {
	if l.Alias != "" || l.Embed || to.ID == "" || l.Heading != "" || l.Block != "" || strings.Contains(l.Target, "/") ||
		text.Fold(withoutExt(path.Base(name))) == text.Fold(withoutExt(l.Target)) {
		return false
	}
	was, now := w.job.before.Note(to.ID), w.after.Note(to.ID)
	return was.Title == now.Title && path.Base(was.Path) == path.Base(now.Path)
}

// separator returns what stands before the words of a link: escaped in a table.
func (w *writer) separator(l markdown.Link) string {
	start := strings.LastIndexByte(w.text[:l.Start], '\n') + 1
	end := len(w.text)
	if i := strings.IndexByte(w.text[l.End:], '\n'); i >= 0 {
		end = l.End + i
	}
	if hasBar(w.text[start:l.Start]) || hasBar(w.text[l.End:end]) {
		return `\|`
	}
	return "|"
}

// hasBar reports whether a text has a bar outside its wikilinks.
func hasBar(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] == '|' {
			return true
		}
		i += max(markdown.WikilinkLen(text[i:])-1, 0)
	}
	return false
}

// wikiNames returns what a wikilink may call its target, the likest to what it says first.
func (w *writer) wikiNames(l markdown.Link, to notes.Lead) []string {
	var file, title string
	if now := w.after.Note(to.ID); now != nil {
		file, title = now.Path, now.Title
		if withoutExt(l.Target) == l.Target {
			file = withoutExt(file)
		}
	} else {
		file = to.File
	}
	list := w.dayName(l, to)
	if to.Tier == notes.TierTitle || to.Tier == notes.TierAlias {
		list = append(list, title)
	}
	if file == "" { // a note without a file
		return append(list, title)
	}
	switch {
	case strings.HasPrefix(l.Target, "./"), strings.HasPrefix(l.Target, "../"):
		list = append(list, relative(w.newFolder(), file, true))
	case strings.HasPrefix(l.Target, "/"):
		list = append(list, "/"+file)
	}
	tails := tailsOf(file)
	if n := strings.Count(strings.Trim(l.Target, "/"), "/"); n < len(tails) { // as many folders as it names
		if n > 0 && w.wasWhole(l, to) {
			n = len(tails) - 1
		}
		list = append(list, tails[n:]...)
	}
	list = append(list, file, "/"+file)
	return append(list, title)
}

// dayName returns what a link to a day says in the same form after that is another day, nothing where it has no such form.
func (w *writer) dayName(l markdown.Link, to notes.Lead) []string {
	if to.Tier != notes.TierAlias {
		return nil
	}
	was, now := w.job.before.Note(to.ID), w.after.Note(to.ID)
	before, after := was.Given.Get().Aliases, now.Given.Get().Aliases
	for i, name := range before {
		if len(before) == len(after) && text.Fold(name) == text.Fold(strings.TrimSpace(l.Target)) {
			return []string{after[i]}
		}
	}
	return nil
}

// wasWhole reports whether a link names the whole path of its target.
func (w *writer) wasWhole(l markdown.Link, to notes.Lead) bool {
	was, _ := w.places(to)
	return same(strings.Trim(l.Target, "/"), was)
}

// newFolder returns the folder that the note is in afterwards.
func (w *writer) newFolder() string { return w.after.Note(w.from.ID).Folder }

// tailsOf returns the ends of a path, the shortest first.
func tailsOf(p string) []string {
	var list []string
	for i := len(p) - 1; i >= 0; i-- {
		if p[i] == '/' {
			list = append(list, p[i+1:])
		}
	}
	return append(list, p)
}

// withoutExt returns a path without the ending of a note.
func withoutExt(p string) string {
	for _, ext := range []string{".md", ".markdown"} {
		if len(p) > len(ext) && strings.EqualFold(p[len(p)-len(ext):], ext) {
			return p[:len(p)-len(ext)]
		}
	}
	return p
}

// relative returns the path of a file as seen from a folder; with dot, one that does not begin with ../ begins with ./
func relative(folder, file string, dot bool) string {
	var from []string
	if folder != "" {
		from = strings.Split(folder, "/")
	}
	to := strings.Split(file, "/")
	for len(from) > 0 && len(to) > 1 && from[0] == to[0] {
		from, to = from[1:], to[1:]
	}
	p := strings.Repeat("../", len(from)) + strings.Join(to, "/")
	if dot && len(from) == 0 {
		return "./" + p
	}
	return p
}

// linkTexts returns the texts that a link of a note may have for its target so that it leads to another note, the shortest
// first; for a Markdown link, its path with escapes.
func linkTexts(w notes.World, l markdown.Link, from, to *notes.Note) (list []string) {
	writer := &writer{job: &job{before: w}, after: w, from: from, text: from.Body}
	target := notes.Lead{ID: to.ID, Tier: notes.TierTitle}
	if strings.Contains(l.Target, "/") {
		target.Tier = notes.TierPath
	}
	var names []string
	if l.Markdown {
		names = writer.paths(l, target)
	} else {
		names = writer.wikiNames(l, target)
	}
	for _, name := range names {
		as := l
		as.Target = name
		if name == "" || !l.Markdown && strings.ContainsAny(name, "[]|#^\n\r") || w.Lead(as, from.ID).ID != to.ID {
			continue
		}
		if l.Markdown {
			name = escaped(name, l.Raw, writer.special(l, name))
		}
		list = append(list, name)
	}
	return list
}
