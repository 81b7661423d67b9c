package markdown

import "strings"

// blockKind says what a piece of the body is.
type blockKind uint8

const (
	endOfBody blockKind = iota
	blank
	textBlock // a paragraph, list item or table row; may span lines
	heading   // ATX or setext
	rule      // thematic break, or the delimiter row of a table
	fenceMark // opening or closing line of a fenced code block
	code      // one line inside a fence, or one that is code by its indent
)

// block is a leaf of the body: a run of lines that inline markup cannot leave.
type block struct {
	kind      blockKind
	lineStart int // start of its first line, container markers included
	start     int // first byte after the container markers
	end       int // before the final line end; for a heading, of its text
	last      int // before the final line end, underlines included
	line      int // of start
	depth     int // '>' markers before start
	level     int // of a heading
	bullet    bool
	table     bool // a row of a table
}

// walker cuts a body into blocks. It knows containers as prefixes: block quotes,
// bullets and numbers may stand before any block. Indentation alone makes code in
// messages only, and only that depends on the items of lists that are open.
type walker struct {
	src  string
	pos  int // next byte to look at
	line int // of pos
	mid  bool
	// The fence that is open: its character (0: none), length and depth.
	fenceChar  byte
	fenceLen   int
	fenceDepth int
	inTable    bool
	paragraph  int32 // 1 and the '>' markers of the paragraph or table that the line before is of; 0: none
	indents    bool  // an indent makes code: see items
	items      items
}

// next returns the next block; kind endOfBody at the end, ever after.
func (w *walker) next() block {
	if w.pos >= len(w.src) {
		return block{}
	}
	le, next := lineEnd(w.src, w.pos)
	if w.mid { // after a comment: the rest of its last line is plain text
		w.mid, w.paragraph = false, 1
		b := block{kind: textBlock, lineStart: w.pos, start: w.pos, line: w.line}
		return w.text(b, le, next, false)
	}
	if w.fenceChar != 0 {
		if b, ok := w.inFence(le, next); ok {
			return b
		}
	}
	b := w.classify(w.pos, le)
	// A line of text with fewer '>' markers than the paragraph before goes on with it.
	lazy := b.kind == textBlock && !b.bullet && w.paragraph > 1+int32(b.depth)
	if w.indents && b.kind != blank && !lazy {
		w.items.enter(w.src, &b, w.paragraph)
	}
	b.table = w.tableRow(b, next)
	switch {
	case lazy:
	case b.kind == textBlock || b.table:
		w.paragraph = 1 + int32(b.depth)
	default:
		w.paragraph = 0
	}
	if b.table && isDelimiterRow(w.src[b.start:b.end]) {
		b.kind = rule
	}
	switch b.kind {
	case textBlock:
		return w.text(b, le, next, !b.table)
	case fenceMark:
		w.fenceChar, w.fenceLen, w.fenceDepth = w.src[b.start], runLen(w.src, b.start, le), b.depth
	}
	w.pos = next
	w.line++
	return b
}

// inFence returns the line as code or as the closing mark. A fence inside a
// block quote ends with the quote.
func (w *walker) inFence(le, next int) (block, bool) {
	i, depth := w.pos, 0
	for i < le && (isBlank(w.src[i]) || w.src[i] == '>' && depth < w.fenceDepth) {
		if w.src[i] == '>' {
			depth++
		}
		i++
	}
	if depth < w.fenceDepth {
		w.fenceChar = 0
		return block{}, false
	}
	b := block{kind: code, lineStart: w.pos, start: w.pos, end: le, last: le, line: w.line, depth: depth}
	if depth > 0 {
		b.start = skipQuote(w.src, w.pos, le, depth)
	}
	if n := runLen(w.src, i, le); n >= w.fenceLen && w.src[i] == w.fenceChar && allBlank(w.src[i+n:le]) {
		b.kind, w.fenceChar = fenceMark, 0
	}
	w.pos = next
	w.line++
	return b, true
}

// text extends a text block over the lines that continue it. With setext
// a following underline makes it a heading.
func (w *walker) text(b block, le, next int, setext bool) block {
	b.end, b.last = le, le
	w.pos = next
	w.line++
	if b.table || le == next && next == len(w.src) {
		return b
	}
	for w.pos < len(w.src) {
		le, next := lineEnd(w.src, w.pos)
		if setext && !b.bullet {
			if level := w.underline(le, b.depth); level > 0 {
				b.kind, b.level, b.last = heading, level, le
				w.paragraph = 0
				w.pos = next
				w.line++
				return b
			}
		}
		n := w.classify(w.pos, le)
		if n.kind != textBlock || n.bullet || n.depth != b.depth || w.src[n.start] == '|' ||
			isDelimiterRow(w.src[n.start:n.end]) {
			return b
		}
		b.end, b.last = le, le
		w.pos = next
		w.line++
	}
	return b
}

// resume continues at pos, in the middle of a line, after inline markup that
// ran past the end of its block: a comment.
func (w *walker) resume(pos int) {
	if pos <= w.pos {
		return
	}
	w.line += strings.Count(w.src[w.pos:pos], "\n")
	w.pos, w.mid, w.fenceChar, w.inTable = pos, true, 0, false
}

// classify says what kind of line it is and where its content starts.
func (w *walker) classify(ls, le int) block {
	b := block{kind: textBlock, lineStart: ls, end: le, last: le, line: w.line}
	i, base, ruled := ls, ls, false
	for {
		for i < le && isBlank(w.src[i]) {
			i++
		}
		if i >= le {
			b.start = le
			if !b.bullet {
				b.kind = blank
			}
			return b
		}
		c := w.src[i]
		if c == '>' {
			b.depth++
			i++
			base = i
			continue
		}
		if !ruled && (c == '-' || c == '*' || c == '_') {
			ruled = true
			if isRule(w.src[i:le]) {
				b.kind, b.start = rule, i
				return b
			}
		}
		n := ListMark(w.src[i:le])
		if n == 0 {
			break
		}
		b.bullet = true
		i += n
		base = i
	}
	b.start = i
	switch w.src[i] {
	case '`', '~':
		if n := runLen(w.src, i, le); n >= 3 && (w.src[i] == '~' || strings.IndexByte(w.src[i+n:le], '`') < 0) {
			b.kind = fenceMark
		}
	case '#':
		n := runLen(w.src, i, le)
		indent := 3
		if b.bullet || b.depth > 0 {
			indent = 4 // the blank after the marker
		}
		if n <= 6 && (i+n == le || isBlank(w.src[i+n])) && columns(w.src[base:i]) <= indent {
			b.kind, b.level = heading, n
			b.start, b.end = atxText(w.src, i+n, le)
		}
	}
	return b
}

// atxText cuts blanks and a closing run of '#' off a heading.
func atxText(src string, start, end int) (int, int) {
	for start < end && isBlank(src[start]) {
		start++
	}
	for end > start && isBlank(src[end-1]) {
		end--
	}
	i := end
	for i > start && src[i-1] == '#' {
		i--
	}
	if i == start {
		return start, start
	}
	if i < end && isBlank(src[i-1]) {
		for end = i; end > start && isBlank(src[end-1]); {
			end--
		}
	}
	return start, end
}

// underline returns the level of a setext underline at the given quote depth,
// or 0.
func (w *walker) underline(le, depth int) int {
	i := w.pos
	if depth > 0 {
		i = skipQuote(w.src, i, le, depth)
	}
	base := i
	for i < le && isBlank(w.src[i]) {
		i++
	}
	if i >= le || w.src[i] != '=' && w.src[i] != '-' || columns(w.src[base:i]) > 3 {
		return 0
	}
	c := w.src[i]
	if !allBlank(w.src[i+runLen(w.src, i, le) : le]) {
		return 0
	}
	if c == '=' {
		return 1
	}
	return 2
}

// tableRow keeps track of tables: rows that start with '|' and whose second
// one is a delimiter row.
func (w *walker) tableRow(b block, next int) bool {
	if b.kind != textBlock {
		w.inTable = false
		return false
	}
	if isDelimiterRow(w.src[b.start:b.end]) {
		return true
	}
	if b.start >= b.end || w.src[b.start] != '|' {
		w.inTable = false
		return false
	}
	if !w.inTable && next < len(w.src) {
		le, _ := lineEnd(w.src, next)
		i := next
		for i < le && (isBlank(w.src[i]) || w.src[i] == '>' && b.depth > 0) {
			i++
		}
		w.inTable = isDelimiterRow(w.src[i:le])
	}
	return w.inTable
}

// isDelimiterRow reports a table's second row: dashes, colons and at least one
// '|'.
func isDelimiterRow(s string) bool {
	dash, pipe := false, false
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '-':
			dash = true
		case '|':
			pipe = true
		case ':', ' ', '\t', '\r':
		default:
			return false
		}
	}
	return dash && pipe
}

// isRule reports a thematic break: three or more of one of -*_, blanks apart.
func isRule(s string) bool {
	n := 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == s[0]:
			n++
		case !isBlank(s[i]):
			return false
		}
	}
	return n >= 3
}

// ListMark returns the length of the mark of a list item that a line begins with, one blank
// after it included; 0 for none. The line is not empty. O(1).
func ListMark(s string) int {
	var i int
	switch c := s[0]; {
	case c == '-' || c == '*' || c == '+':
		i = 1
	case '0' <= c && c <= '9':
		for i = 1; i < len(s) && i < 10 && '0' <= s[i] && s[i] <= '9'; {
			i++
		}
		if i == len(s) || s[i] != '.' && s[i] != ')' {
			return 0
		}
		i++
	default:
		return 0
	}
	if i == len(s) {
		return i
	}
	if isBlank(s[i]) {
		return i + 1
	}
	return 0
}

// runLen counts the bytes equal to src[i] from i on, before end.
func runLen(src string, i, end int) int {
	n := i
	for n < end && src[n] == src[i] {
		n++
	}
	return n - i
}

// skipQuote steps over depth '>' markers and the one blank after the last.
func skipQuote(src string, i, end, depth int) int {
	for ; i < end && depth > 0 && (isBlank(src[i]) || src[i] == '>'); i++ {
		if src[i] == '>' {
			depth--
		}
	}
	if i < end && src[i] == ' ' {
		i++
	}
	return i
}

// columns measures a run of blanks, a tab counting to the next multiple of 4.
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

func allBlank(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isBlank(s[i]) {
			return false
		}
	}
	return true
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }
