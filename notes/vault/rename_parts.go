package vault

import (
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

const (
	whyHeading = "no text of a link leads to that heading any more"
	whyParts   = "the text has other headings or blocks afterwards"
)

// outline is the parts of a text that links can point at.
type outline struct {
	body     string // without frontmatter
	headings []markdown.Heading
	blocks   []markdown.Block
}

// outlineOf names the outline of a note in one World.
type outlineOf struct {
	id    string
	after bool
}

func newOutline(text string) *outline {
	_, start := markdown.SplitFrontmatter(text)
	o := &outline{body: text[start:]}
	markdown.Headings("\n"+o.body, func(h markdown.Heading) { o.headings = append(o.headings, h) })
	markdown.Blocks("\n"+o.body, func(b markdown.Block) { o.blocks = append(o.blocks, b) })
	return o
}

// heading returns which of the headings a link means, -1 for none.
func (o *outline) heading(name string) int {
	spans, _ := markdown.FindParts(o.body, []markdown.Part{{Heading: name}})
	if len(spans) == 0 {
		return -1
	}
	return slices.IndexFunc(o.headings, func(h markdown.Heading) bool { return h.Start-len("\n") == spans[0].Start })
}

// anchors are the anchors of the headings.
func (o *outline) anchors() []string {
	var counted markdown.Anchors
	list := make([]string, len(o.headings))
	for i, h := range o.headings {
		list[i] = counted.Next(h.Text)
	}
	return list
}

// block returns which of the blocks a link means, -1 for none.
func (o *outline) block(id string) int {
	return slices.IndexFunc(o.blocks, func(b markdown.Block) bool { return text.Fold(b.ID) == text.Fold(id) })
}

// sameHeadings reports whether two texts have the same headings.
func sameHeadings(a, b string) bool {
	if !strings.Contains(a, "#") && !strings.Contains(a, "==") && !strings.Contains(a, "--") {
		return true
	}
	return slices.EqualFunc(newOutline(a).headings, newOutline(b).headings,
		func(a, b markdown.Heading) bool { return a.Text == b.Text })
}

func (w *writer) outline(id string, after bool) *outline {
	key := outlineOf{id, after}
	o := w.job.outlines[key]
	if o == nil {
		n := w.job.before.Note(id)
		if after {
			n = w.after.Note(id)
		}
		o = newOutline(n.Body)
		w.job.outlines[key] = o
	}
	return o
}

// part writes the heading or the block of a link to a note anew.
func (w *writer) part(l markdown.Link, id string) {
	if id == "" || l.Heading == "" && l.Block == "" || w.job.before.Note(id).Body == w.after.Note(id).Body {
		return
	}
	was, now := w.outline(id, false), w.outline(id, true)
	if l.Block != "" {
		at := was.block(l.Block)
		switch {
		case at < 0 || at == now.block(l.Block):
		case len(was.blocks) != len(now.blocks):
			w.job.problem(w.from, l, whyParts)
		default:
			w.writePart(l, now.blocks[at].ID)
		}
		return
	}
	at := was.heading(l.Heading)
	switch {
	case at < 0 || at == now.heading(l.Heading):
		return
	case len(was.headings) != len(now.headings):
		w.job.problem(w.from, l, whyParts)
		return
	}
	for _, name := range headingNames(l, was, now, at) {
		if now.heading(name) == at {
			w.writePart(l, name)
			return
		}
	}
	w.job.problem(w.from, l, whyHeading)
}

// headingNames returns what a link may call a heading, the likest to what it says first.
func headingNames(l markdown.Link, was, now *outline, at int) []string {
	said := l.Heading
	names := strings.Split(said, "#")
	for i, name := range names {
		for k, h := range was.headings {
			if markdown.LinkableHeading(h.Text) != markdown.LinkableHeading(now.headings[k].Text) && markdown.SameHeading(name, h.Text) {
				names[i] = markdown.LinkableHeading(now.headings[k].Text)
				break
			}
		}
	}
	own := markdown.LinkableHeading(now.headings[at].Text)
	list := []string{strings.Join(names, "#"), own}
	if said == was.anchors()[at] && (l.Markdown || !markdown.SameHeading(said, was.headings[at].Text)) { // it is written as an anchor
		list = slices.Insert(list, 0, now.anchors()[at])
	}
	chain, level := own, now.headings[at].Level
	for k := at - 1; k >= 0; k-- {
		if h := now.headings[k]; h.Level < level {
			level = h.Level
			list = append(list, markdown.LinkableHeading(h.Text)+"#"+own)
			chain = markdown.LinkableHeading(h.Text) + "#" + chain
			list = append(list, chain)
		}
	}
	return list
}

// writePart replaces what a link says behind its '#'.
func (w *writer) writePart(l markdown.Link, part string) {
	start, end := notes.LinkPart(l)
	if l.Markdown {
		part = strings.ReplaceAll(escaped(part, l.Raw, w.special(l, part)), "%23", "#") // between headings
	}
	w.edits = append(w.edits, Edit{start, end, part})
}
