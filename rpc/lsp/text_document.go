package lsp

import (
	"strings"
	"sync"

	"github.com/ctxd/ctxd/notes/markdown"
)

// Document is one state of a text. Its fields are not to be written.
type Document struct {
	URI      string
	Language string // as the editor names it: markdown, yaml
	Version  int32  // of the editor; -1 for a text that was read from a file
	Open     bool   // whether an editor has it open
	Text     string

	lines []int32 // where they begin

	note     func() *markdown.Document
	headings func() []markdown.Heading
	blocks   func() []markdown.Block
	links    func() []markdown.Link
	fences   func() []CodeFence
	lineEnd  func() string
}

// NewDocument makes a document of a text that no editor has open.
func NewDocument(uri, language, text string) *Document {
	return prepareDocument(&Document{URI: uri, Language: language, Version: -1, Text: text, lines: lineStarts(text)})
}

func prepareDocument(d *Document) *Document {
	d.note = sync.OnceValue(func() *markdown.Document { return markdown.Parse(d.Text) })
	d.headings = sync.OnceValue(func() (list []markdown.Heading) {
		markdown.Headings(d.Text, func(h markdown.Heading) { list = append(list, h) })
		return list
	})
	d.blocks = sync.OnceValue(func() (list []markdown.Block) {
		markdown.Blocks(d.Text, func(b markdown.Block) { list = append(list, b) })
		return list
	})
	d.links = sync.OnceValue(func() (list []markdown.Link) {
		for l := range d.Note().EachLink() {
			list = append(list, l)
		}
		for l := range d.Note().EachFileLink() {
			list = append(list, l)
		}
		return list
	})
	d.fences = sync.OnceValue(d.findFences)
	d.lineEnd = sync.OnceValue(func() string {
		if i := strings.IndexByte(d.Text, '\n'); i > 0 && d.Text[i-1] == '\r' {
			return "\r\n"
		}
		return "\n"
	})
	return d
}

// Note is what the reader of notes finds in the text.
func (d *Document) Note() *markdown.Document { return d.note() }

// Headings are those of the body, in their order.
func (d *Document) Headings() []markdown.Heading { return d.headings() }

// Blocks are the ^ids of the body, in their order.
func (d *Document) Blocks() []markdown.Block { return d.blocks() }

// Links are the wikilinks, then the Markdown links to files, each in their order.
func (d *Document) Links() []markdown.Link { return d.links() }

// LineEnd is the line break that the text uses: that of its first line, LF without one.
func (d *Document) LineEnd() string { return d.lineEnd() }

// Frontmatter returns where the YAML at the head of the text lies.
func (d *Document) Frontmatter() markdown.FrontmatterBlock {
	block, _ := markdown.SplitFrontmatter(d.Text)
	return block
}

// LinkAt returns the link that stands at an offset, its ends included.
func (d *Document) LinkAt(offset int) (markdown.Link, bool) {
	for _, l := range d.Links() {
		if l.Start <= offset && offset <= l.End {
			return l, true
		}
	}
	return markdown.Link{}, false
}

// IsNote reports whether the text is read as a note: Markdown, by the name of its
// language or of its file.
func (d *Document) IsNote() bool {
	return d.Language == "markdown" || strings.HasSuffix(strings.ToLower(d.URI), ".md")
}
