package books

// A book in its neutral form (convert.Document) is cut into passages: what is searched, shown in a prompt and cited.
//
// A passage is a piece of the text of the book ([PlainText]), of about 200 tokens, that ends with a sentence, a row or
// a block of code. It never reaches over a heading. In prose it begins with the last sentence of the one before it, so
// that what is said across the border is found. Rows stand whole, each with the names of its columns, code stands whole
// up to 4,000 characters. A passage knows the headings above it, the page or the row that it begins with, and its
// offset.
//
// Cutting is pure: the same document gives the same text and passages. Time is linear in the text.

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/books/convert"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/notes/markdown"
)

// Sizes, in tokens as package text estimates them unless they are said to be characters.
const (
	targetTokens     = 200
	MaxPassageTokens = 2 * targetTokens // of a passage that is no code
	MaxPassageCode   = 4_000            // bytes of code in one passage
	minPageTokens    = 60               // a passage of so many may end with its page
	minSplitTokens   = 120              // from so many on a passage may end before a paragraph that does not fit
	maxOverlap       = 80               // a longer sentence is not repeated
)

// CutPassage is a passage of a book.
type CutPassage struct {
	Text    string
	Section []string // the headings above it, outermost first
	Page    int      // that it begins on, from 1; 0: the format has none
	Last    int      // the page that it ends on
	Row     int      // the first row of a table in it, from 1; 0: none
	Offset  int      // of its beginning in the text of the book, in code points
}

// kind says how a piece is joined to others.
type kind uint8

const (
	prose kind = iota
	row
	code
	heading
)

// piece is what is never cut: a sentence, a row, code, a heading.
type piece struct {
	kind       kind
	start, end int // in the text, bytes
	tokens     int
	page, row  int
	section    int  // number of the heading that it stands under; 0: none
	first      bool // of its block
	rest       int  // tokens of its block from here on
}

// section is a heading with the one that it stands under.
type section struct {
	text  string
	level int
	under int
	used  bool // something stands under it
}

// cutter cuts one document.
type cutter struct {
	text     strings.Builder
	pieces   []piece
	sections []section // the first is none
}

// PlainText returns the text of a book.
func PlainText(d *convert.Document) string {
	c := cutter{sections: make([]section, 1)}
	c.read(d)
	return c.text.String()
}

// CutPassages returns the passages of a book in their order.
func CutPassages(d *convert.Document) []CutPassage {
	c := cutter{sections: make([]section, 1)}
	c.read(d)
	return c.cut()
}

// read makes text, sections and pieces.
func (c *cutter) read(d *convert.Document) {
	under := 0
	for i := range d.Blocks {
		b := &d.Blocks[i]
		if i > 0 {
			c.text.WriteByte('\n')
			if b.Kind != convert.RowBlock || d.Blocks[i-1].Kind != convert.RowBlock {
				c.text.WriteByte('\n')
			}
		}
		start, s := c.text.Len(), b.String()
		c.text.WriteString(s)
		p := piece{start: start, end: start + len(s), page: b.Page, row: b.Row, first: true}
		switch b.Kind {
		case convert.HeadingBlock:
			for under > 0 && c.sections[under].level >= b.Level {
				under = c.sections[under].under
			}
			c.sections[under].used = true
			c.sections = append(c.sections, section{text: b.Text, level: b.Level, under: under})
			under = len(c.sections) - 1
			p.kind, p.section = heading, under
			c.pieces = append(c.pieces, p)
			continue
		case convert.RowBlock:
			p.kind = row
		case convert.CodeBlock:
			p.kind = code
		}
		p.section = under
		c.sections[under].used = true
		c.split(p, s)
	}
}

// split adds the pieces of a block.
func (c *cutter) split(p piece, s string) {
	from := len(c.pieces)
	add := func(size int) {
		q := p
		q.end = q.start + size
		q.tokens = text.CountTokens(s[:size])
		q.first = len(c.pieces) == from
		c.pieces = append(c.pieces, q)
		p.start, s = q.end, s[size:]
	}
	switch {
	case p.kind == code:
		for _, n := range whole(s, codeEnds(s)) {
			add(n)
		}
	case p.kind == row && text.CountTokens(s) <= MaxPassageTokens:
		add(len(s))
	default:
		for _, n := range whole(s, text.Sentences(s)) {
			add(n)
		}
	}
	rest := 0
	for i := len(c.pieces) - 1; i >= from; i-- {
		rest += c.pieces[i].tokens
		c.pieces[i].rest = rest
	}
}

// maxReach is how far a mention without brackets may reach that is not cut, in bytes.
const maxReach = 512

// whole joins lengths of pieces so that none ends within a reference to a record: half of one would not be
// masked for a reader who may not see what it refers to.
func whole(s string, lengths []int) []int {
	if len(lengths) < 2 || !markdown.MayRefer(s) {
		return lengths
	}
	type span struct{ start, end int }
	var spans []span
	for r := range markdown.References(s) {
		end := r.End
		if r.Open() {
			end = min(max(end, r.Reach(s)), r.End+maxReach, len(s))
		}
		spans = append(spans, span{r.Start, end})
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	out, at, from, next, reach := lengths[:0:0], 0, 0, 0, 0
	for i, n := range lengths {
		at += n
		for next < len(spans) && spans[next].start < at {
			reach = max(reach, spans[next].end)
			next++
		}
		if reach <= at || i == len(lengths)-1 {
			out = append(out, at-from)
			from = at
		}
	}
	return out
}

// codeEnds are the lengths of the pieces of code.
func codeEnds(s string) (lengths []int) {
	for len(s) > MaxPassageCode {
		n := codeEnd(s)
		lengths, s = append(lengths, n), s[n:]
	}
	if s != "" {
		lengths = append(lengths, len(s))
	}
	return lengths
}

// codeEnd is where long code is cut: behind a line, else between two characters.
func codeEnd(s string) int {
	if n := strings.LastIndexByte(s[:MaxPassageCode], '\n'); n > MaxPassageCode/2 {
		return n + 1
	}
	n := MaxPassageCode
	for n > 1 && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

// cut groups pieces to passages.
func (c *cutter) cut() []CutPassage {
	var out []CutPassage
	whole := c.text.String()
	at, runes := 0, 0 // a place in bytes and in code points
	emit := func(list []piece, repeated bool) {
		start, end := list[0].start, list[len(list)-1].end
		said := strings.TrimRight(whole[start:end], " \n\t")
		if strings.TrimSpace(said) == "" {
			return
		}
		lead := len(said) - len(strings.TrimLeft(said, " \n"))
		if list[0].kind != code {
			start, said = start+lead, said[lead:]
		}
		if start < at { // an overlap
			runes -= utf8.RuneCountInString(whole[start:at])
		} else {
			runes += utf8.RuneCountInString(whole[at:start])
		}
		at = start
		p := CutPassage{Text: said, Section: c.path(list[0].section), Offset: runes, Last: list[len(list)-1].page}
		if p.Page = list[0].page; repeated && len(list) > 1 {
			p.Page = list[1].page
		}
		for _, x := range list {
			if x.row > 0 {
				p.Row = x.row
				break
			}
		}
		out = append(out, p)
	}
	var open []piece
	tokens, repeated := 0, false
	flush := func() {
		if len(open) > 0 && !(repeated && len(open) == 1) {
			emit(open, repeated)
		}
		open, tokens, repeated = nil, 0, false
	}
	for i := range c.pieces {
		p := &c.pieces[i]
		if p.kind == heading {
			flush()
			if !c.sections[p.section].used {
				q := *p
				q.section = c.sections[p.section].under
				emit([]piece{q}, false)
			}
			continue
		}
		if len(open) > 0 && ends(open, tokens, p) {
			last, several := open[len(open)-1], len(open) > 1
			flush()
			if several && last.kind == prose && p.kind == prose && last.tokens <= maxOverlap && last.section == p.section {
				open, tokens, repeated = []piece{last}, last.tokens, true
			}
		}
		open = append(open, *p)
		tokens += p.tokens
	}
	flush()
	return out
}

// ends reports whether a passage ends before a piece.
func ends(open []piece, tokens int, p *piece) bool {
	last := &open[len(open)-1]
	switch {
	case last.section != p.section:
		return true
	case tokens+p.tokens > targetTokens:
		return true
	case last.page != p.page && tokens >= minPageTokens:
		return true
	case last.kind != p.kind && tokens >= minPageTokens:
		return true
	}
	return p.first && p.kind != row && tokens >= minSplitTokens && tokens+p.rest > targetTokens
}

// path returns the headings above a section and its own.
func (c *cutter) path(n int) []string {
	var list []string
	for ; n > 0; n = c.sections[n].under {
		list = append(list, c.sections[n].text)
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}
