package convert

// This file and markup_*.go convert texts with marks into the neutral form of a book: plain text, Markdown, HTML, and
// the HTML pages of an EPUB.
//
// HTML is parsed by golang.org/x/net/html, Markdown by the scanner of notes (notes/markdown), so that a book reads like
// a note. An EPUB is a zip of HTML pages; parts.go opens it with bounds, and the libraries for it that could be had
// were no more than such a loop.
//
// Bytes become text by their byte order mark, by what the file declares, and else by what they look like
// (golang.org/x/net/html/charset). Errors are Invalid for a broken or encrypted file and Limit for one that is too
// large; their texts hold nothing of the file. Time and memory are linear in what is unpacked, which is bounded.
// Functions may be called concurrently.

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Bounds of a page of HTML.
const (
	maxToken  = 16 << 20 // bytes of one text or tag
	maxTables = 20       // within each other
	maxSpan   = 100      // columns of one cell
)

// skipped are elements whose text is none of the page.
var skipped = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Template: true, atom.Noscript: true, atom.Svg: true, atom.Nav: true,
	atom.Iframe: true, atom.Object: true, atom.Select: true, atom.Button: true, atom.Math: false,
	// The readings of characters would stand within the words: who searches for a word, or quotes it, means the characters.
	atom.Rt: true, atom.Rtc: true, atom.Rp: true,
}

// ofRuby are the elements within ruby, whose end tags may be left out: the next one ends the one before, as ruby itself does.
func ofRuby(a atom.Atom) bool {
	return a == atom.Rt || a == atom.Rtc || a == atom.Rp || a == atom.Rb
}

// inline are the elements that part no text; all others do.
var inline = map[atom.Atom]bool{
	atom.A: true, atom.Abbr: true, atom.B: true, atom.Bdi: true, atom.Bdo: true, atom.Big: true, atom.Cite: true, atom.Code: true,
	atom.Data: true, atom.Del: true, atom.Dfn: true, atom.Em: true, atom.Font: true, atom.I: true, atom.Img: true, atom.Ins: true,
	atom.Kbd: true, atom.Label: true, atom.Mark: true, atom.Q: true, atom.Ruby: true, atom.Rb: true, atom.S: true,
	atom.Samp: true, atom.Small: true, atom.Span: true, atom.Strong: true, atom.Sub: true, atom.Sup: true, atom.Time: true,
	atom.Tt: true, atom.U: true, atom.Var: true, atom.Wbr: true, 0: true,
}

// convertHTML adds a page of HTML.
func convertHTML(b *Builder, page string) error { return (&reader{b: b}).read(page) }

// read adds the blocks of a page.
func (r *reader) read(page string) error {
	z := html.NewTokenizer(strings.NewReader(page))
	z.SetMaxBuf(maxToken)
	for {
		switch z.Next() {
		case html.ErrorToken:
			if err := z.Err(); !errors.Is(err, io.EOF) {
				return brokenError(err)
			}
			return r.finish()
		case html.TextToken:
			if err := r.b.fits(r.text.Len()); err != nil {
				return err
			}
			switch {
			case len(r.hidden) == 0 && r.skip == 0:
				r.text.Write(z.Text())
			case r.turning && len(r.turned) < maxNameChars:
				r.turned += string(z.Text())
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			if err := r.b.Context().Err(); err != nil {
				return err
			}
			t := z.Token()
			if err := r.start(t); err != nil {
				return err
			}
			if t.Type == html.SelfClosingTagToken {
				if err := r.end(t.DataAtom); err != nil {
					return err
				}
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			if err := r.end(atom.Lookup(name)); err != nil {
				return err
			}
		}
	}
}

// reader makes blocks of the tokens of a page.
type reader struct {
	b      *Builder
	text   bytes.Buffer
	hidden []atom.Atom // the elements that are open from one that is not shown on
	skip   int         // how many elements are open whose text is left out
	within atom.Atom   // the outermost of these
	level  int         // of the heading that is open; 0: none
	code   int         // how many pre are open
	title  bool
	href   string // of the link to a note that is open
	tables []*table

	sup, note int  // where the element that is raised, or is a reference to a footnote, began in text, from 1; 0: none is open
	linked    bool // a link within the page stands in what is raised

	pages   *printedPages // of an EPUB; nil: none
	file    string        // whose page is read
	page    int           // that was begun last, from 1; 0: none
	at      int           // that the text began on
	turning bool          // the element that begins a page is open
	turned  string        // what it says
}

// table is a table that is open.
type table struct {
	to     *TableBuilder
	cells  []string
	spans  []int
	heads  int
	inHead bool
	cell   bool
}

func (r *reader) start(t html.Token) error {
	a := t.DataAtom
	if len(r.hidden) > 0 && !r.appears(t) || len(r.hidden) == 0 && r.skip == 0 && r.hides(t) {
		return nil
	}
	if r.skip > 0 && ofRuby(r.within) && (ofRuby(a) && a != atom.Rt || a == r.within || a != 0 && !inline[a] && !ofRuby(a)) {
		r.skip = 0
	}
	if r.skip > 0 {
		if a == r.within && t.Type == html.StartTagToken {
			r.skip++
		}
		return nil
	}
	if r.turns(t) {
		return nil
	}
	switch {
	case a == atom.Sup && r.sup == 0:
		r.sup, r.linked = r.text.Len()+1, false
		return nil
	case a == atom.A && isNoteRef(t) && r.note == 0:
		r.note = r.text.Len() + 1
		return nil
	case skipped[a]:
		if t.Type == html.StartTagToken {
			r.skip, r.within = 1, a
		}
		return nil
	case a == atom.Br:
		if r.code > 0 {
			r.text.WriteByte('\n')
		} else {
			r.text.WriteByte(' ')
		}
		return nil
	case a == atom.Meta:
		if attr(t, "name") == "author" {
			r.b.SetAuthor(attr(t, "content"))
		}
		return nil
	case a == atom.Img:
		if alt := attr(t, "alt"); alt != "" {
			r.text.WriteString(" " + alt + " ")
		}
		return nil
	case a == atom.A && refers(attr(t, "href")):
		r.text.WriteByte('[')
		r.href = attr(t, "href")
		return nil
	case inline[a]:
		r.linked = r.linked || a == atom.A && strings.Contains(attr(t, "href"), "#")
		return nil
	}
	if in := r.table(); in != nil && in.cell && !tabular(a) {
		r.text.WriteByte(' ') // the cell goes on
		return nil
	}
	if err := r.flush(); err != nil {
		return err
	}
	return r.open(t)
}

// refers reports a link that may lead to a note: it keeps its marks, by which it is masked for a reader who
// may not see the note.
func refers(href string) bool {
	path, _, _ := strings.Cut(href, "#")
	return strings.HasSuffix(strings.ToLower(path), ".md") && !strings.ContainsAny(href, "<>\n")
}

// tabular reports the elements that tables are made of.
func tabular(a atom.Atom) bool {
	switch a {
	case atom.Table, atom.Tr, atom.Td, atom.Th, atom.Thead, atom.Tbody, atom.Tfoot, atom.Caption:
		return true
	}
	return false
}

// open begins an element that parts text.
func (r *reader) open(t html.Token) error {
	in := r.table()
	switch t.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		r.level = int(t.Data[1] - '0')
	case atom.Pre:
		r.code++
	case atom.Title:
		r.title = true
	case atom.Table:
		if len(r.tables) < maxTables {
			r.tables = append(r.tables, &table{to: r.b.Table()})
		}
	case atom.Thead:
		if in != nil {
			in.inHead = true
		}
	case atom.Tr:
		return r.row()
	case atom.Td, atom.Th:
		if in == nil {
			return nil
		}
		if len(in.spans) == maxRowCells {
			return tooWide()
		}
		in.cell = true
		span, _ := strconv.Atoi(attr(t, "colspan"))
		in.spans = append(in.spans, min(max(span, 1), maxSpan))
		if t.DataAtom == atom.Th {
			in.heads++
		}
	}
	return nil
}

func attr(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func (r *reader) table() *table {
	if len(r.tables) == 0 {
		return nil
	}
	return r.tables[len(r.tables)-1]
}

func (r *reader) end(a atom.Atom) error {
	if len(r.hidden) > 0 && !r.leaves(a) {
		return nil
	}
	if r.skip > 0 && ofRuby(r.within) && (a == atom.Ruby || a != 0 && !inline[a] && !ofRuby(a)) {
		r.skip = 0
	}
	if r.skip > 0 {
		if a == r.within {
			r.skip--
		}
		if r.skip == 0 && r.turning {
			r.turning = false
			r.turn(r.turned)
		}
		return nil
	}
	switch {
	case a == atom.Sup && r.sup > 0:
		if r.linked && r.note == 0 {
			r.apart(r.sup - 1)
		}
		r.sup = 0
	case a == atom.A && r.note > 0:
		r.apart(r.note - 1)
		r.note = 0
	}
	if a == atom.A && r.href != "" {
		r.text.WriteString("](<" + r.href + ">)")
		r.href = ""
	}
	if inline[a] || a == atom.Br || a == atom.Meta || skipped[a] {
		return nil
	}
	in := r.table()
	if in != nil && in.cell && !tabular(a) {
		r.text.WriteByte(' ')
		return nil
	}
	if err := r.flush(); err != nil {
		return err
	}
	switch a {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		r.level = 0
	case atom.Pre:
		r.code = max(0, r.code-1)
	case atom.Title:
		r.title = false
	case atom.Thead:
		if in != nil {
			if err := r.row(); err != nil {
				return err
			}
			in.inHead = false
		}
	case atom.Tr:
		return r.row()
	case atom.Table:
		return r.closeTable()
	}
	return nil
}

// closeTable ends the innermost table.
func (r *reader) closeTable() error {
	in := r.table()
	if in == nil {
		return nil
	}
	if err := r.row(); err != nil {
		return err
	}
	r.tables = r.tables[:len(r.tables)-1]
	return in.to.Close()
}

// row ends the row that is open.
func (r *reader) row() error {
	in := r.table()
	if in == nil || len(in.cells) == 0 {
		return nil
	}
	cells, heads := in.cells, in.heads
	head := in.inHead || heads > 0 && heads >= len(in.spans)
	if head {
		var wide []string
		for i, c := range cells {
			for range in.spans[min(i, len(in.spans)-1)] {
				wide = append(wide, c)
			}
			if len(wide) > maxRowCells {
				return tooWide()
			}
		}
		cells = wide
	}
	in.cells, in.spans, in.heads = nil, nil, 0
	return in.to.Row(cells, head, r.page)
}

// flush ends the text that is open: a cell, code, a heading, the title or a paragraph.
func (r *reader) flush() error {
	text := r.text.String()
	r.text.Reset()
	r.sup, r.note = 0, 0
	in, page := r.table(), r.at
	r.at = r.page
	switch {
	case in != nil && in.cell:
		in.cell = false
		for len(in.cells) < len(in.spans) {
			in.cells = append(in.cells, "")
		}
		in.cells[len(in.cells)-1] = strings.Clone(text)
		return nil
	case in != nil && strings.TrimSpace(text) == "":
		return nil
	case r.title:
		r.b.SetTitle(text)
		return nil
	case r.code > 0:
		return r.b.Add(Block{Kind: CodeBlock, Text: text, Page: page})
	case r.level > 0:
		return r.b.Add(Block{Kind: HeadingBlock, Level: r.level, Text: text, Page: page})
	}
	return r.b.Add(Block{Text: text, Page: page})
}

// finish ends what is open at the end of a page.
func (r *reader) finish() error {
	err := r.flush()
	for err == nil && len(r.tables) > 0 {
		err = r.closeTable()
	}
	return err
}
