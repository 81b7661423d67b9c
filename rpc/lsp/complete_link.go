package lsp

import (
	"net/url"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/notes/markdown"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// link is a link that is being typed. All numbers are offsets into the text of doc.
type link struct {
	doc    *Document
	close  string // what ends it: ]] of a wikilink, ) of a Markdown link
	inner  int    // behind [[
	at     int    // the cursor
	end    int    // of what an item replaces
	closed bool   // ]] follows
}

// openLink finds the link that the cursor is in.
func openLink(d *Document, at int) (link, bool) {
	start, lineEnd := d.LineSpan(d.LineAt(at))
	before, after := d.Text[start:max(start, at)], d.Text[at:max(at, lineEnd)]
	open := strings.LastIndex(before, "[[")
	if open < 0 || strings.Contains(before[open:], "]]") || strings.Contains(before[open:], "|") {
		return link{}, false
	}
	l := link{doc: d, close: "]]", inner: start + open + len("[["), at: at, end: at}
	closing := strings.Index(after, "]]")
	if next := strings.Index(after, "[["); closing >= 0 && (next < 0 || closing < next) {
		l.closed = true
		l.end = at + strings.IndexAny(after, "]|#")
	} else if strings.HasPrefix(after, "]") {
		l.end = at + len("]") // one bracket that the editor has written
	}
	return l, true
}

// typed is what stands between [[ and the cursor.
func (l link) typed() string { return l.doc.Text[l.inner:l.at] }

// written closes a link.
func (l link) written(target string) string {
	if l.closed {
		return target
	}
	return target + l.close
}

// closing takes the closing brackets behind a link into what its items replace, so that the cursor comes to stand behind
// them.
func (a *asked) closing(l link) link {
	if l.closed && !a.style.untilCursor && strings.HasPrefix(l.doc.Text[l.end:], l.close) {
		l.closed, l.end = false, l.end+len(l.close)
	}
	return l
}

// openDestination finds the destination of a Markdown link that the cursor is in.
func openDestination(d *Document, at int) (link, bool) {
	start, lineEnd := d.LineSpan(d.LineAt(at))
	before, after := d.Text[start:max(start, at)], d.Text[at:max(at, lineEnd)]
	open := strings.LastIndex(before, "](")
	if open < 0 {
		return link{}, false
	}
	l := link{doc: d, close: ")", inner: start + open + len("]("), at: at, end: at}
	ends := " )"
	if strings.HasPrefix(d.Text[l.inner:at], "<") {
		l.inner++
		l.close, ends = ">)", ">"
	}
	if typed := l.typed(); strings.ContainsAny(typed, ends) {
		return link{}, false
	}
	if rest := strings.IndexAny(after, ends+"["); rest >= 0 && after[rest] != '[' && (after[rest] != ' ' || rest > 0) {
		l.closed, l.end = true, at+rest
	}
	return l, true
}

// destination completes the path of a Markdown link, or the heading or the block that it leads to.
func (a *asked) destination(l link) error {
	target, part, inPart := strings.Cut(l.typed(), "#")
	if !inPart {
		return a.paths(l)
	}
	d := a.doc
	if target != "" {
		if !markdown.IsLink(target) || !markdown.IsDest(target) {
			return nil
		}
		to, err := resolveByPath(a.ctx, a.Session, a.doc.URI, markdown.ReadLink(target), resolvedTarget{})
		if err != nil || to.Note == "" {
			return err
		}
		if d, err = a.text(to.Note); d == nil || err != nil {
			return err
		}
	}
	if said := markdown.UnescapePath(part); said != part && !strings.HasPrefix(part, "^") {
		part = said
	}
	var anchors markdown.Anchors
	names := make([]string, len(d.Headings()))
	for i, h := range d.Headings() {
		names[i] = anchors.Next(h.Text)
	}
	if writesHeadings(a.doc) {
		for i, name := range headingPaths(d.Headings()) {
			names[i] = strings.ReplaceAll(url.PathEscape(name), "%23", "#")
		}
	}
	return a.partsOf(l, d, l.inner+len(target)+len("#"), part, names)
}

// writesHeadings reports whether the Markdown links of a document name headings by their text, as Obsidian does, and not by
// their anchors.
func writesHeadings(d *Document) bool {
	return slices.ContainsFunc(d.Links(), func(l markdown.Link) bool {
		return l.Markdown && l.Heading != "" && (strings.Contains(l.Heading, " ") || strings.ToLower(l.Heading) != l.Heading)
	})
}

// link completes a link: its note, a heading or a block of it.
func (a *asked) link(l link, front FrontLine, inFront bool) error {
	target, part, inPart := strings.Cut(l.typed(), "#")
	switch {
	case inPart && target == "" && strings.HasPrefix(part, "#"):
		return a.vaultHeadings(l, part[1:])
	case inPart && l.closed: // what follows of the part is replaced too
		if rest := l.doc.Text[l.end:]; strings.HasPrefix(rest, "#") {
			l.end += strings.IndexAny(rest, "]|")
		}
		return a.parts(a.closing(l), target, part)
	case inPart:
		return a.parts(l, target, part)
	case inFront:
		if done, err := a.entityLinks(l, front); done || err != nil {
			return err
		}
	}
	if err := a.days(l); err != nil {
		return err
	}
	return a.notes(l)
}

// notes completes the note of a link.
func (a *asked) notes(l link) error {
	from, err := a.NoteID(a.ctx, a.doc.URI)
	if err != nil {
		return err
	}
	typed := l.typed()
	var found protocol.NoteItems
	ask := protocol.NoteComplete{Prefix: strings.TrimSpace(typed), From: from, Limit: a.limit}
	if err := a.Daemon(a.ctx, "notes.complete", ask, &found); err != nil {
		return err
	}
	how := a.Settings().Links
	for _, n := range found.Items {
		target := written(n, how)
		if target == "" {
			continue // no text leads to this note alone
		}
		if how == "alias" && strings.HasPrefix(l.doc.Text[l.end:], "|") {
			target, _, _ = strings.Cut(target, "|") // the link has an alias
		}
		a.add(item{
			label: n.Title, insert: l.written(target), detail: n.Path, kind: CompletionKindFile,
			from: l.inner, end: l.end, typed: typed, of: completionRecord{"note", n.ID},
		})
	}
	return nil
}

// written is what stands between the brackets of a link to a note.
func written(n protocol.NoteItem, links string) string {
	path := strings.TrimSuffix(n.Path, ".md")
	switch {
	case links == "path" && path != "":
		return path
	case links == "alias" && path != "":
		return path + "|" + n.Title
	}
	return n.Insert
}

// parts completes what stands behind the # of a link.
func (a *asked) parts(l link, target, part string) error {
	d, err := a.linked(target)
	if d == nil || err != nil {
		return err
	}
	return a.partsOf(l, d, l.inner+len(target)+len("#"), part, headingPaths(d.Headings()))
}

// partsOf completes a block or a heading of a document; written are what a link calls its headings.
func (a *asked) partsOf(l link, d *Document, start int, part string, written []string) error {
	if id, ok := strings.CutPrefix(part, "^"); ok {
		blocks := d.Blocks()
		ids := make([]string, len(blocks))
		for i, b := range blocks {
			ids[i] = b.ID
		}
		for _, i := range matching(ids, id)[:min(a.limit, len(matching(ids, id)))] {
			a.add(item{
				label: "^" + ids[i], insert: l.written("^" + ids[i]), kind: CompletionKindReference, from: start, end: l.end, typed: part,
				detail: oneLine(d.Text[blocks[i].Start:blocks[i].End]),
			})
		}
		return nil
	}
	names := make([]string, len(written))
	for i, h := range d.Headings() {
		names[i] = h.Text
	}
	found := matching(names, lastPart(part))
	if len(found) == 0 { // it is typed as an anchor
		found = matching(written, part)
	}
	for n, i := range found {
		if n == a.limit {
			break
		}
		a.add(item{
			label: names[i], insert: l.written(written[i]), kind: CompletionKindReference, from: start, end: l.end, typed: part,
			detail: strings.Repeat("#", d.Headings()[i].Level),
		})
	}
	return nil
}

func lastPart(path string) string { return path[strings.LastIndexByte(path, '#')+1:] }

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 80 {
		s = strings.ToValidUTF8(s[:80], "") + "…"
	}
	return s
}

// headingPaths are what a link writes behind its # for each heading: its text or, where an
// earlier heading has the same, with that of the heading above it.
func headingPaths(list []markdown.Heading) []string {
	paths := make([]string, len(list))
	seen := make(map[string]bool)
	var above []int
	for i, h := range list {
		for len(above) > 0 && list[above[len(above)-1]].Level >= h.Level {
			above = above[:len(above)-1]
		}
		paths[i] = linkable(h.Text)
		for j := len(above) - 1; j >= 0 && seen[strings.ToLower(paths[i])]; j-- {
			paths[i] = linkable(list[above[j]].Text) + "#" + paths[i]
		}
		seen[strings.ToLower(paths[i])] = true
		above = append(above, i)
	}
	return paths
}

// linkable is the text of a heading as a link can hold it.
func linkable(heading string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if strings.ContainsRune("#|^[]\\", r) {
			return ' '
		}
		return r
	}, heading)), " ")
}

// linked returns the text of the note that a link names, nil for none.
func (a *asked) linked(target string) (*Document, error) {
	if strings.TrimSpace(target) == "" {
		return a.doc, nil
	}
	from, err := a.NoteID(a.ctx, a.doc.URI)
	if err != nil {
		return nil, err
	}
	var to protocol.NoteResolved
	if err := a.Daemon(a.ctx, "notes.resolve", protocol.NoteResolve{Link: target, From: from}, &to); err != nil || to.ID == "" {
		return nil, ignoreAbsent(err)
	}
	return a.text(to.ID)
}

// text returns the text of a note, nil for none.
func (a *asked) text(id string) (*Document, error) {
	var n protocol.NoteFull
	if err := a.Daemon(a.ctx, "notes.get", protocol.NoteGet{Ref: id}, &n); err != nil {
		return nil, ignoreAbsent(err)
	}
	return noteSource(a.ctx, a.Session, &n), nil
}

// refused reports whether the daemon has understood the question and has no answer.
func refused(err error) bool {
	k := fault.KindOf(err)
	return err != nil && (k == fault.NotFound || k == fault.Invalid || k == fault.Conflict)
}
