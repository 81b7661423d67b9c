package prompt

import (
	"strings"

	"github.com/ctxd/ctxd/notes/markdown"
)

// kind says what a line of a text in Markdown is.
type kind uint8

const (
	textLine  kind = iota // of a paragraph, a list item or a table
	blank                 //
	code                  // between fences
	fenceMark             // opens or closes code
	heading               // begins with marks of a heading
	rule                  // parts the text
	underline             // makes the paragraph before it a heading
)

// line is what a line is, as offsets into it.
type line struct {
	kind   kind
	start  int  // of what follows the marks of quotes and list items
	end    int  // of the mark of a heading or fence
	level  int  // of a heading
	depth  int  // marks of quotes
	bullet bool // it begins a list item
	goes   bool // it goes on with the paragraph of the line before it
}

// fence is an open fence of code.
type fence struct {
	char   byte // 0: none is open
	size   int
	depth  int    // marks of quotes before it
	column int    // where the content of its list item begins
	before string // what stood before it on its line
}

// mark returns the line that closes the fence.
func (f *fence) mark() string {
	before := []byte(f.before)
	for i, c := range before {
		if c != '>' && c != '\t' {
			before[i] = ' ' // the mark of a list item would begin another
		}
	}
	return string(before) + strings.Repeat(string(f.char), f.size)
}

// maxItems is how many list items inside each other are told apart.
const maxItems = 12

// lines reads a text line by line. The zero value stands before the first line; a
// copy remembers a place.
type lines struct {
	fence   fence
	columns [maxItems]int // where the contents of the open list items begin
	items   int
	// The paragraph that the last line belongs to.
	para   bool // there is one, which an underline makes a heading
	listed bool // it stands in a list item
	depth  int  // of quotes
	table  bool
}

// next reads the next line, given without its end and without hidden characters.
func (r *lines) next(s string) line {
	if r.fence.char != 0 {
		if l, inside := r.inFence(s); inside {
			return l
		}
		r.fence = fence{}
	}
	l := r.classify(s)
	if l.depth == 0 {
		r.enterItems(s, &l)
	}
	switch l.kind {
	case textLine:
		r.paragraph(s, &l)
		return l
	case fenceMark:
		r.fence = fence{char: s[l.start], size: l.end - l.start, depth: l.depth, before: s[:l.start]}
		if r.items > 0 && l.depth == 0 {
			r.fence.column = r.columns[r.items-1]
		}
	}
	r.para, r.table = false, false
	return l
}

// inFence reads a line while a fence is open; false when the fence ended before it,
// with the quote or the list item that it stands in.
func (r *lines) inFence(s string) (l line, inside bool) {
	i, depth := 0, 0
	for i < len(s) && (isBlank(s[i]) || s[i] == '>' && depth < r.fence.depth) {
		if s[i] == '>' {
			depth++
		}
		i++
	}
	if depth < r.fence.depth {
		return line{}, false
	}
	l = line{kind: code, start: i, end: i, depth: depth}
	if i == len(s) {
		return l, true
	}
	indent := columns(s[:i])
	if depth == 0 && indent < r.fence.column {
		return line{}, false
	}
	n := run(s, i)
	if s[i] == r.fence.char && n >= r.fence.size && allBlank(s[i+n:]) &&
		(depth > 0 || indent-r.fence.column <= maxIndent) {
		l.kind, l.end = fenceMark, i+n
		r.fence = fence{}
	}
	return l, true
}

// maxIndent is by how many columns a mark may be indented: by more it is code or goes on
// with a paragraph.
const maxIndent = 3

// classify says what a line outside of code is.
func (r *lines) classify(s string) line {
	l := line{kind: textLine}
	i, base := 0, 0
	var noRule ruleLook
	for {
		for i < len(s) && isBlank(s[i]) {
			i++
		}
		l.start, l.end = i, i
		if i == len(s) {
			if !l.bullet {
				l.kind = blank
			}
			return l
		}
		if s[i] == '>' {
			l.depth++
			i++
			base = i
			continue
		}
		if r.underlines(s[i:], l, columns(s[base:i])) {
			l.kind, l.level = underline, 2
			if s[i] == '=' {
				l.level = 1
			}
			return l
		}
		if noRule.found(s, i) {
			l.kind = rule
			return l
		}
		n := markdown.ListMark(s[i:])
		if n == 0 {
			break
		}
		l.bullet = true
		i += n
		base = i
	}
	indent := columns(s[base:i])
	if l.depth == 0 && !l.bullet {
		indent -= r.columnAt(indent)
	}
	if indent > maxIndent {
		return l
	}
	n := run(s, i)
	switch s[i] {
	case '`', '~':
		if n >= 3 && (s[i] == '~' || strings.IndexByte(s[i+n:], '`') < 0) {
			l.kind, l.end = fenceMark, i+n
		}
	case '#':
		// "##Words" is no heading, but close to one of a prompt. "#word" is a tag.
		if n == 2 || n == 3 || n <= 6 && (i+n == len(s) || isBlank(s[i+n])) {
			l.kind, l.end, l.level = heading, i+n, n
		}
	}
	return l
}

// underlines reports whether what follows the marks of a line makes a heading of the
// paragraph before it.
func (r *lines) underlines(s string, l line, indent int) bool {
	if !r.para || r.listed || l.bullet || l.depth != r.depth || indent > maxIndent || s[0] != '=' && s[0] != '-' {
		return false
	}
	return allBlank(s[run(s, 0):])
}

// columnAt returns where the content of the innermost open list item begins that a line
// with this indent can belong to.
func (r *lines) columnAt(indent int) int {
	for i := r.items - 1; i >= 0; i-- {
		if r.columns[i] <= indent {
			return r.columns[i]
		}
	}
	return 0
}

// enterItems leaves the list items that a line is not in, and enters those that it begins.
func (r *lines) enterItems(s string, l *line) {
	if l.kind == blank || r.para && l.kind == textLine && !l.bullet {
		return // a paragraph goes on without indent
	}
	first := 0
	for first < len(s) && isBlank(s[first]) {
		first++
	}
	indent := columns(s[:first])
	for r.items > 0 && r.columns[r.items-1] > indent {
		r.items--
	}
	for i := first; l.bullet && i < l.start && r.items < maxItems; {
		n := markdown.ListMark(s[i:])
		if n == 0 {
			break
		}
		next := i + n
		for next < l.start && isBlank(s[next]) {
			next++
		}
		column := columns(s[:next])
		if next == len(s) || column-columns(s[:i+n]) > maxIndent {
			column = columns(s[:i+n]) // what follows is indented
		}
		r.columns[r.items] = column
		r.items++
		i = next
	}
}

// paragraph takes a line of text in.
func (r *lines) paragraph(s string, l *line) {
	content := s[l.start:]
	switch {
	case isDelimiterRow(content):
		r.table, r.para = true, false
	case r.table && !l.bullet:
	case r.para && !l.bullet && l.depth <= r.depth:
		l.goes = true
	default:
		r.para, r.table = content != "", false
		r.listed, r.depth = l.bullet || l.depth == 0 && r.items > 0, l.depth
	}
}

// isDelimiterRow reports the second row of a table: dashes, colons and at least one
// bar.
func isDelimiterRow(s string) bool {
	return strings.IndexByte(s, '|') >= 0 && strings.IndexByte(s, '-') >= 0 && strings.Trim(s, "|-: \t") == ""
}

// ruleLook looks for rules behind the marks of list items, which could be marks of a
// rule themselves: nothing is looked at again.
type ruleLook struct {
	failed [3]int // by marks: up to where what follows is known to be no rule
}

// found reports whether a line parts the text from i on: three or more of one of -*_,
// blanks apart.
func (r *ruleLook) found(s string, i int) bool {
	mark := strings.IndexByte("-*_", s[i])
	if mark < 0 || i < r.failed[mark] {
		return false
	}
	n := 0
	for k := i; k < len(s); k++ {
		switch {
		case s[k] == s[i]:
			n++
		case !isBlank(s[k]):
			r.failed[mark] = k
			return false
		}
	}
	if n < 3 {
		r.failed[mark] = len(s)
	}
	return n >= 3
}

// run counts the bytes equal to s[i] from i on.
func run(s string, i int) int {
	n := i
	for n < len(s) && s[n] == s[i] {
		n++
	}
	return n - i
}

// columns measures blanks and marks, a tab counting to the next multiple of 4.
func columns(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		n++
		if s[i] == '\t' {
			n = (n + 3) &^ 3
		}
	}
	return n
}

func allBlank(s string) bool { return strings.Trim(s, " \t") == "" }

func isBlank(c byte) bool { return c == ' ' || c == '\t' }
