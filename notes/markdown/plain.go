package markdown

import (
	"bytes"
	"math"
	"strings"
	"sync"
)

// PlainText returns what a language model should read of a note: the text
// without its markup. Links keep their words (a wikilink its alias, else its
// target), headings stand as lines of their own, list items keep "- " or their
// number and their indentation, table rows become "a | b", code stays as it
// is. HTML comments and tags, URLs behind words, thematic breaks and block
// identifiers go. Nothing is added. Blank lines are single, and there are none
// at either end. Time is linear in the length of body.
//
// Body is what Document.Body holds; given a whole note with its frontmatter,
// use PlainNote.
func PlainText(body string) string {
	p := newPlainer(body)
	defer p.free()
	w := walker{src: body, line: 1}
	for b := w.next(); b.kind != endOfBody; b = w.next() {
		if end := p.block(b); end > b.end {
			w.resume(end)
		}
	}
	return string(bytes.TrimRight(p.out, " \t\n"))
}

// PlainText returns the plain text of the note's body; see the function.
func (d *Document) PlainText() string { return PlainText(d.Body) }

// plainer writes plain text. Markup whose end is not known yet is written and
// remembered in marks, and taken out again when the block is done.
type plainer struct {
	src   string
	out   []byte
	spans codeSpans
	row   int             // where the text of the block starts in out
	refs  map[string]bool // labels of link definitions; nil until one is asked for

	// behind are the targets of links that show other words, a line each; kept
	// when they are asked for.
	behind  []byte
	targets bool

	steps   []step // where the text of a block comes from, when that is asked for
	tracing bool

	marks  pile[mark]
	opens  []openBracket
	styles [4][]int32 // indexes into marks of open runs of * _ ~ =
}

// maxOpen is how many brackets, or runs of one kind of mark, are open at a time: of
// more the outer ones are text.
const maxOpen = 1 << 12

// opened adds to a list of what is open.
func opened[T any](list []T, v T) []T {
	if len(list) == maxOpen {
		list = list[:copy(list, list[maxOpen/2:])]
	}
	return append(list, v)
}

// largeText is from what length on the text of a note is written into memory of its
// size at once, not into some that doubles.
const largeText = 64 << 10

var plainers = sync.Pool{New: func() any { return new(plainer) }}

func newPlainer(src string) *plainer {
	p := plainers.Get().(*plainer)
	p.src = src
	p.spans.reset(src)
	if len(src) > largeText && cap(p.out) < len(src) {
		p.out = make([]byte, 0, len(src)+len(src)/64) // it ends with a line break that src may lack
	}
	return p
}

// free gives the plainer back, without a hold on the source and without the
// buffers of a huge one.
func (p *plainer) free() {
	out := p.out[:0]
	if cap(out) > 256<<10 {
		out = nil
	}
	q := plainer{out: out, spans: p.spans, marks: p.marks, opens: emptied(p.opens)}
	q.marks.reset()
	q.spans.reset("")
	for i := range p.styles {
		q.styles[i] = emptied(p.styles[i])
	}
	*p = q
	plainers.Put(p)
}

// mark is a run of n bytes of markup at out[pos:], of which the first gone
// bytes will be removed.
type mark struct {
	pos     int32
	n, gone uint16
}

// maxRun is how long a run of marks is at most that is not text, maxMarks how many marks
// of a block, unmatched ones included, are none.
const (
	maxRun   = math.MaxUint16
	maxMarks = 1 << 18
)

// openBracket is a '[' that may turn out to start a link.
type openBracket struct{ mark, src int32 }

// block writes one block as one or more lines and returns where it stopped.
func (p *plainer) block(b block) int {
	switch b.kind {
	case blank:
		p.blankLine()
		return b.end
	case code:
		p.out = append(p.out, p.src[b.start:b.end]...)
		p.out = append(p.out, '\n')
		return b.end
	case heading, textBlock:
	default:
		return b.end
	}
	before := len(p.out)
	if len(p.out) > 0 && p.out[len(p.out)-1] != '\n' {
		before = -1 // goes on a line that a comment has interrupted
	} else if b.kind == textBlock || b.bullet {
		p.indent(b)
	}
	content := len(p.out)
	p.row = content
	if b.table {
		b.start, b.end = trimRow(p.src, b.start, b.end)
	} else if b.depth > 0 && !b.bullet {
		b.start = p.callout(b)
	}
	end := p.inline(b)
	p.trimLine(content)
	switch {
	case len(p.out) == content && before >= 0:
		if b.bullet && b.start >= b.end { // an item without text
			p.trimLine(before)
			p.out = append(p.out, '\n')
			break
		}
		p.out = p.out[:before] // nothing but markup
	case end <= b.end:
		p.out = append(p.out, '\n')
	}
	return end
}

// blankLine ends a paragraph.
func (p *plainer) blankLine() {
	if n := len(p.out); n > 1 && p.out[n-1] == '\n' && p.out[n-2] != '\n' {
		p.out = append(p.out, '\n')
	}
}

// trimLine cuts blanks off the end of the line, back to min.
func (p *plainer) trimLine(min int) {
	n := len(p.out)
	for n > min && (isBlank(p.out[n-1]) || p.out[n-1] == '\r' || p.out[n-1] == '\n') {
		n--
	}
	p.out = p.out[:n]
}

// indent writes what stands before the content of a line: its blanks, and list
// markers, bullets as "- ". Quote markers go.
func (p *plainer) indent(b block) {
	if !b.bullet && b.depth > 0 {
		return
	}
	quoted := false
	for i := b.lineStart; i < b.start; i++ {
		switch c := p.src[i]; {
		case c == '#': // of a heading
			i = b.start
		case c == '>':
			quoted = true
			if i+1 < b.start && p.src[i+1] == ' ' {
				i++
			}
		case c == '*' || c == '+':
			p.out = append(p.out, '-')
		case !quoted || !isBlank(c) || b.bullet:
			p.out = append(p.out, c)
		}
	}
	if b.bullet {
		p.trimLine(0)
		p.out = append(p.out, ' ')
	}
}

// callout cuts the mark of a callout, "[!kind]+ Title", down to its title, or
// to its kind when it has no title.
func (p *plainer) callout(b block) int {
	s := p.src[b.start:b.end]
	if !strings.HasPrefix(s, "[!") {
		return b.start
	}
	i := 2
	for i < len(s) && (isWord(s[i]) || s[i] == '-') {
		i++
	}
	if i == 2 || i == len(s) || s[i] != ']' {
		return b.start
	}
	kind := s[2:i]
	i++
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	for i < len(s) && isBlank(s[i]) {
		i++
	}
	if i == len(s) || s[i] == '\n' || s[i] == '\r' {
		p.out = append(p.out, kind...)
	}
	return b.start + i
}

// trimRow cuts the outer '|' off a table row.
func trimRow(src string, start, end int) (int, int) {
	if start < end && src[start] == '|' {
		start++
	}
	for start < end && isBlank(src[start]) {
		start++
	}
	for end > start && (isBlank(src[end-1]) || src[end-1] == '\r') {
		end--
	}
	if end > start && src[end-1] == '|' && (end-2 < start || src[end-2] != '\\') {
		end--
	}
	return start, end
}
