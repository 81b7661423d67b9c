package markdown

// This file finds the lines of a message that are code by their indent, as CommonMark says:
// four columns further in than the text of their list item, and not within a paragraph. A
// message is read as a model reads it. In notes an indent makes no code: the outlines of
// note apps begin with tabs.
//
//	- A list item.
//
//	    @Ann is meant in its second paragraph
//
//	      @property is code: four columns behind "A list"

const (
	maxItems   = 32 // that are kept of those within each other; nothing within so many is code by its indent
	codeIndent = 4  // columns that code is further in than the text around it
)

// item is a container whose text is indented: a list item, or a footnote.
type item struct {
	column int32 // from which on its text stands
	depth  int32 // '>' markers before it
}

// items are those that a line is in, from the outermost.
type items struct {
	list [maxItems]item
	n    int
}

// enter goes on to the next line, b, which is not blank: it leaves the items that the line is
// not in, and enters those that it begins. It makes b code if the line is by its indent,
// which it is not within the paragraph of the line before, which has one '>' marker less
// than least; 0 for no paragraph. O(length of what stands before the text).
func (s *items) enter(src string, b *block, least int32) {
	if c := src[b.lineStart]; !isBlank(c) && c != '>' && c != '[' && ListMark(src[b.lineStart:b.last]) == 0 {
		s.n = 0
		return
	}
	var depth, column, text int32 // text is the column from which on what is around the line has its text
	known := 0                    // items that the line is in
	for i := b.lineStart; ; {
		i, column = skipColumns(src, i, b.last, column)
		for known < s.n && s.list[known].depth == depth && s.list[known].column <= column {
			text = s.list[known].column
			known++
		}
		if column-text >= codeIndent && i < b.last && known < maxItems {
			if depth >= least {
				s.n = known
				b.code(src, int(depth))
			}
			return
		}
		if i >= b.start {
			break
		}
		n := 1
		if src[i] != '>' {
			n = ListMark(src[i:b.last])
		}
		if n == 0 { // of a heading
			break
		}
		if known < s.n && s.list[known].depth == depth {
			s.n = known // it would be within an item that the line is not in
		}
		if src[i] == '>' {
			i, column, depth = i+1, column+1, depth+1
			_, after := skipColumns(src, i, b.last, column)
			text = min(after, column+1)
			continue
		}
		if isBlank(src[i+n-1]) {
			n--
		}
		i, column = i+n, column+int32(n)
		next, after := skipColumns(src, i, b.last, column)
		if next == b.last || after-column > codeIndent {
			after = column + 1
		}
		known = s.push(known, item{after, depth})
		text, least = after, 0
	}
	s.n = known
	if isFootnote(src[b.start:b.end]) {
		s.push(known, item{text + codeIndent, depth})
	}
}

// code makes a line of code of a block, but of a fence, which may stand at any indent.
func (b *block) code(src string, depth int) {
	if b.kind == fenceMark {
		return
	}
	b.kind, b.depth, b.bullet, b.start, b.end = code, depth, false, b.lineStart, b.last
	if depth > 0 {
		b.start = skipQuote(src, b.lineStart, b.last, depth)
	}
}

// push enters an item that is within the first n.
func (s *items) push(n int, it item) int {
	if n < maxItems {
		s.list[n] = it
		n++
	}
	s.n = n
	return n
}

// skipColumns steps over blanks and counts their columns; a tab goes to the next multiple of four.
func skipColumns(src string, i, end int, column int32) (int, int32) {
	for i < end && isBlank(src[i]) {
		column++
		if src[i] == '\t' {
			column = (column + 3) &^ 3
		}
		i++
	}
	return i, column
}

// isFootnote reports the beginning of the text of a footnote: [^1]: text.
func isFootnote(s string) bool {
	if len(s) < 2 || s[:2] != "[^" {
		return false
	}
	for i := 2; i+1 < len(s) && !isBlank(s[i]); i++ {
		if s[i] == ']' {
			return i > 2 && s[i+1] == ':'
		}
	}
	return false
}
