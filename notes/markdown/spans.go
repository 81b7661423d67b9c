package markdown

import (
	"strings"
)

// codeSpans answers, for one pass over a source from left to right, where code
// spans, comments and wikilinks end. All of it together is linear: the
// backtick runs of a block are paired once, and a comment without an end is
// looked for once.
type codeSpans struct {
	src       string
	runs      pile[tickRun]
	end       int // end of the block that runs belongs to; 0: none yet
	cur       int // first run that lies at or after the last question
	noComment int // no comment that starts at or after noComment-1 has an end; 0: not known
}

// tickRun is a run of backticks; next is the index of the next run of the same
// length in the block, or -1.
type tickRun struct{ pos, n, next int32 }

// reset makes s ready for another source.
func (s *codeSpans) reset(src string) {
	s.runs.reset()
	*s = codeSpans{src: src, runs: s.runs}
}

// close returns the end of the code span that the n backticks at i open, or 0
// when nothing in the block before end closes it.
func (s *codeSpans) close(i, n, end int) int {
	if s.end != end {
		s.pair(i, end)
	}
	for s.cur < s.runs.len() && int(s.runs.at(s.cur).pos) < i {
		s.cur++
	}
	if s.cur == s.runs.len() || int(s.runs.at(s.cur).pos) != i || s.runs.at(s.cur).next < 0 {
		return 0
	}
	return int(s.runs.at(int(s.runs.at(s.cur).next)).pos) + n
}

// pair collects the backtick runs of [i, end) and links equal ones.
func (s *codeSpans) pair(i, end int) {
	s.runs.reset()
	s.end, s.cur = end, 0
	for i < end {
		k := strings.IndexByte(s.src[i:end], '`')
		if k < 0 {
			break
		}
		i += k
		n := runLen(s.src, i, end)
		s.runs.add(tickRun{int32(i), int32(n), -1})
		i += n
	}
	var short [8]int32 // 1 + index of the nearest run of that length, from the end
	var long map[int32]int32
	for k := s.runs.len() - 1; k >= 0; k-- {
		r := s.runs.at(k)
		if int(r.n) < len(short) {
			r.next = short[r.n] - 1
			short[r.n] = int32(k + 1)
			continue
		}
		if long == nil {
			long = make(map[int32]int32)
		}
		r.next = long[r.n] - 1
		long[r.n] = int32(k + 1)
	}
}

// comment returns the end of the HTML comment at i, or 0. A comment may run
// past its block; one that never ends is text.
func (s *codeSpans) comment(i int) int {
	if !strings.HasPrefix(s.src[i:], "<!--") || s.noComment > 0 && i >= s.noComment-1 {
		return 0
	}
	// From the second '-' on, so that <!--> and <!---> are whole comments.
	k := strings.Index(s.src[i+2:], "-->")
	if k < 0 {
		s.noComment = i + 1
		return 0
	}
	return i + 2 + k + 3
}

// skip returns the end of the code span or comment that starts at i, where a
// backtick or '<' stands, or the end of the backticks or of '<', which are
// text then.
func (s *codeSpans) skip(i, end int) int {
	if s.src[i] == '<' {
		return max(i+1, s.comment(i))
	}
	n := runLen(s.src, i, end)
	return max(i+n, s.close(i, n, end))
}

// afterBackslash returns the offset after the escape at i. A whole run of
// backticks is escaped at once.
func (s *codeSpans) afterBackslash(i, end int) int {
	if i+1 >= end || !isPunct(s.src[i+1]) {
		return i + 1
	}
	if s.src[i+1] == '`' {
		return i + 1 + runLen(s.src, i+1, end)
	}
	return i + 2
}

// wikilink returns the length of the wikilink at i, '!' not looked at, or 0.
// Code spans and comments bind tighter, but a code span within its brackets is a part of it: a heading may have code.
func (s *codeSpans) wikilink(i, end int) int {
	n := linkLen(s.src[i:end])
	if n == 0 {
		return 0
	}
	for j := i + 2; j < i+n-2; j++ {
		switch s.src[j] {
		case '`':
			r := runLen(s.src, j, end)
			switch after := s.close(j, r, end); {
			case after > i+n-2:
				return 0
			case after > 0:
				j = after - 1
			default:
				j += r - 1
			}
		case '<':
			if s.comment(j) > 0 {
				return 0
			}
		}
	}
	return n
}

// linkDest reads what follows "](" up to the closing parenthesis: a
// destination and an optional title. It returns where the destination is and the
// offset after ')', or 0 when this is no link.
func linkDest(src string, i, end int) (start, stop, after int) {
	start, stop, i = destination(src, skipSpace(src, i, end), end)
	if i == 0 {
		return 0, 0, 0
	}
	i = linkTitle(src, i, end)
	if i == 0 || i >= end || src[i] != ')' {
		return 0, 0, 0
	}
	return start, stop, i + 1
}

// destination reads the destination at i, where no blank stands. It returns where that
// is without <>, and the offset after it, or 0.
func destination(src string, i, end int) (start, stop, after int) {
	if i >= end {
		return 0, 0, 0
	}
	if n := linkLen(src[i:end]); n > 0 && src[i] == '[' { // [textBlock]([[page]]), as Logseq has it
		return i, i + n, i + n
	}
	if src[i] != '<' {
		stop = bareDest(src, i, end)
		return i, stop, stop
	}
	start = i + 1
	for i = start; i < end && src[i] != '>' && src[i] != '<' && src[i] != '\n'; i++ {
		if src[i] == '\\' && i+1 < end {
			i++
		}
	}
	if i >= end || src[i] != '>' {
		return 0, 0, 0
	}
	return start, i, i + 1
}

// maxParens bounds the parentheses inside each other in a destination, as
// CommonMark allows; it also keeps hostile text linear.
const maxParens = 32

// bareDest returns the end of a destination without <>.
func bareDest(src string, i, end int) int {
	depth := 0
	for ; i < end; i++ {
		switch c := src[i]; {
		case c == '\\' && i+1 < end && isPunct(src[i+1]):
			i++
		case c == '(':
			depth++
			if depth > maxParens {
				return i
			}
		case c == ')':
			if depth == 0 {
				return i
			}
			depth--
		case c <= ' ':
			return i
		}
	}
	return i
}

// linkTitle skips blanks and a quoted title. 0: a title without an end.
func linkTitle(src string, i, end int) int {
	j := skipSpace(src, i, end)
	if j == i || j >= end {
		return j
	}
	q := src[j]
	switch q {
	case '"', '\'':
	case '(':
		q = ')'
	default:
		return j
	}
	for j++; j < end && src[j] != q; j++ {
		if src[j] == '(' && q == ')' { // not allowed, and quadratic if it were
			return 0
		}
		if src[j] == '\\' {
			j++
		}
	}
	if j >= end {
		return 0
	}
	return skipSpace(src, j+1, end)
}

func skipSpace(src string, i, end int) int {
	for i < end && (isBlank(src[i]) || src[i] == '\n' || src[i] == '\r') {
		i++
	}
	return i
}
