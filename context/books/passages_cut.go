package books

// A book in its neutral form (convert.Document) is cut into passages: what is searched, shown in a prompt and cited.
//
// A passage is a piece of the text of the book ([PlainText]), of about 200 tokens, that ends with a sentence, a row or
// a block of code. It never reaches over a heading. In prose it begins with the last sentence of the one before it, so
// that what is said across the border is found. Rows stand whole, each with the names of its columns, code stands whole
// up to 2,000 characters. No passage has more than that, whatever the text is: not one of a word without an end, or of
// brackets that open and never close. A passage knows the headings above it, the page or the row that it begins with, and its
// offset.
//
// Cutting is pure: the same document gives the same text and passages. Time is linear in the text.

import (
	"cmp"
	"slices"
	"strconv"
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
	MaxPassage       = 2_000            // characters of any passage
	MaxPassageCode   = MaxPassage       // bytes of code in one passage
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
	Label   string   // what is printed on Page, where that is another than its number
	Until   string   // and on Last
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
	chars      int
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
	list := c.cut()
	for i := range list {
		p := &list[i]
		p.Label, p.Until = labelOf(d, p.Page), labelOf(d, p.Last)
	}
	return list
}

// labelOf returns what is printed on a page, "" for its number.
func labelOf(d *convert.Document, page int) string {
	if page < 1 || page > len(d.Labels) || d.Labels[page-1] == strconv.Itoa(page) {
		return ""
	}
	return d.Labels[page-1]
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
		start, s := c.text.Len(), b.Text
		c.text.WriteString(s)
		p := piece{start: start, end: start + len(s), page: b.Page, row: b.Row, first: true}
		switch {
		case b.Kind == convert.HeadingBlock && utf8.RuneCountInString(s) <= MaxPassage:
			for under > 0 && c.sections[under].level >= b.Level {
				under = c.sections[under].under
			}
			c.sections[under].used = true
			c.sections = append(c.sections, section{text: b.Text, level: b.Level, under: under})
			under = len(c.sections) - 1
			p.kind, p.section, p.chars = heading, under, utf8.RuneCountInString(s)
			c.pieces = append(c.pieces, p)
			continue
		case b.Kind == convert.RowBlock:
			p.kind = row
		case b.Kind == convert.CodeBlock:
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
		q.tokens, q.chars = text.CountTokens(s[:size]), utf8.RuneCountInString(s[:size])
		q.first = len(c.pieces) == from
		c.pieces = append(c.pieces, q)
		p.start, s = q.end, s[size:]
	}
	switch {
	case p.kind == code:
		for _, n := range whole(s, codeEnds(s)) {
			add(n)
		}
	case p.kind == row && text.CountTokens(s) <= MaxPassageTokens && utf8.RuneCountInString(s) <= MaxPassage:
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
// masked for a reader who may not see what it refers to. None gets longer than a passage by that: it is cut where the
// last reference begins that stands in no other one.
func whole(s string, lengths []int) (out []int) {
	lengths = short(s, lengths)
	if len(lengths) < 2 || !markdown.MayRefer(s) {
		return lengths
	}
	f := findReferences(s)
	from, end, chars := 0, 0, 0
	for i, n := range lengths {
		for chars += utf8.RuneCountInString(s[end : end+n]); chars > MaxPassage; {
			at := f.cut(s, from)
			out, from = append(out, at-from), at
			chars = utf8.RuneCountInString(s[from : end+n])
		}
		end += n
		if from < end && (i == len(lengths)-1 || !f.closed.hold(end) && !f.open.hold(end)) {
			out, from, chars = append(out, end-from), end, 0
		}
	}
	return out
}

// found are the places of the references of a text.
type found struct {
	closed, open spans  // open: as far as the name of a mention may reach
	starts       []byte // a bit for each byte
}

func findReferences(s string) *found {
	f := &found{starts: make([]byte, len(s)/8+1)}
	for r := range markdown.References(s) {
		f.starts[r.Start/8] |= 1 << (r.Start % 8)
		if r.Open() {
			f.open.add(r.Start, min(max(r.End, r.Reach(s)), r.End+maxReach, len(s)))
		} else {
			f.closed.add(r.Start, r.End)
		}
	}
	f.open.settle()
	f.closed.settle()
	return f
}

// cut returns where a text is cut of which no place behind from is free for as long as a passage.
func (f *found) cut(s string, from int) int {
	limit, chars := from, 0
	for limit < len(s) && chars < MaxPassage {
		_, size := utf8.DecodeRuneInString(s[limit:])
		limit += size
		chars++
	}
	blank := 0
	for at := limit; at > from+(limit-from)/4; at-- {
		if f.closed.hold(at) {
			continue
		}
		if f.starts[at/8]&(1<<(at%8)) != 0 {
			return at
		}
		if blank == 0 && s[at-1] == ' ' {
			blank = at
		}
	}
	return cmp.Or(blank, limit)
}

// spans are ranges of a text.
type spans []struct{ start, end int }

func (l *spans) add(start, end int) {
	list := *l
	if n := len(list); n > 0 && start >= list[n-1].start && start < list[n-1].end {
		list[n-1].end = max(list[n-1].end, end)
		return
	}
	for n := len(list); n > 0 && start <= list[n-1].start && end >= list[n-1].end; n-- {
		list = list[:n-1]
	}
	*l = list
	*l = append(*l, struct{ start, end int }{start, end})
}

// settle joins what overlaps. hold may be asked behind it.
func (l *spans) settle() {
	all := *l
	slices.SortFunc(all, func(a, b struct{ start, end int }) int { return cmp.Compare(a.start, b.start) })
	*l = all[:0]
	for _, x := range all {
		l.add(x.start, x.end)
	}
}

// hold reports whether a place is within one of them.
func (l spans) hold(at int) bool {
	i, _ := slices.BinarySearchFunc(l, at, func(x struct{ start, end int }, at int) int { return cmp.Compare(x.end, at) })
	for ; i < len(l) && l[i].end == at; i++ {
	}
	return i < len(l) && l[i].start < at
}

// short cuts what is longer than a passage may be: blanks and marks, which are no tokens.
func short(s string, lengths []int) (out []int) {
	for _, n := range lengths {
		piece, from, chars := s[:n], 0, 0
		for i := range piece {
			if chars == MaxPassage {
				out = append(out, i-from)
				from, chars = i, 0
			}
			chars++
		}
		out = append(out, n-from)
		s = s[n:]
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

// between is how many characters stand between two blocks at most.
const between = 2

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
	tokens, chars, repeated := 0, 0, false
	flush := func() {
		if len(open) > 0 && !(repeated && len(open) == 1) {
			emit(open, repeated)
		}
		open, tokens, chars, repeated = nil, 0, 0, false
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
		if len(open) > 0 && (ends(open, tokens, p) || chars+between+p.chars > MaxPassage) {
			last, several := open[len(open)-1], len(open) > 1
			flush()
			if several && last.kind == prose && p.kind == prose && last.tokens <= maxOverlap && last.section == p.section &&
				last.chars+between+p.chars <= MaxPassage {
				open, tokens, chars, repeated = []piece{last}, last.tokens, last.chars, true
			}
		}
		open = append(open, *p)
		tokens += p.tokens
		chars += between + p.chars
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
