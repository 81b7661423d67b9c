package markdown

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plainSpecial marks the bytes at which plainer.inline has something to decide.
var plainSpecial = [256]bool{
	'\n': true, '\\': true, '`': true, '<': true, '[': true, ']': true, '!': true, '*': true, '_': true,
	'~': true, '=': true, '&': true, '^': true, '|': true,
}

// inline writes the text of one block without its markup and returns where it
// stopped: the end of the block, or beyond it when a comment reaches further.
func (p *plainer) inline(b block) int {
	first := len(p.out)
	p.marks.reset()
	p.opens = p.opens[:0]
	for i := range p.styles {
		p.styles[i] = p.styles[i][:0]
	}
	src, i := p.src, b.start
	for i < b.end {
		j := i
		for j < b.end && !plainSpecial[src[j]] {
			j++
		}
		if p.tracing && j > i {
			p.steps = append(p.steps, step{src: i, out: len(p.out), copied: true})
		}
		p.out = append(p.out, src[i:j]...)
		i = j
		if i < b.end {
			if p.tracing {
				p.steps = append(p.steps, step{src: i, out: len(p.out)})
			}
			i = p.special(b, i)
		}
	}
	if p.tracing {
		p.steps = append(p.steps, step{src: max(i, b.end), out: len(p.out)})
		p.settleSteps()
	}
	p.removeMarks(first)
	return i
}

// special handles the byte of markup at i and returns where to go on.
func (p *plainer) special(b block, i int) int {
	src, end := p.src, b.end
	switch src[i] {
	case '\n':
		return p.lineBreak(b, i)
	case '\\':
		e := p.spans.afterBackslash(i, end)
		if e > i+1 {
			p.out = append(p.out, src[i+1:e]...)
		} else if i+1 < end && src[i+1] != '\n' && src[i+1] != '\r' {
			p.out = append(p.out, '\\')
		}
		return e
	case '`':
		n := runLen(src, i, end)
		if e := p.spans.close(i, n, end); e > 0 {
			p.codeSpan(src[i+n:e-n], b.depth)
			return e
		}
		p.out = append(p.out, src[i:i+n]...)
		return i + n
	case '<':
		return p.angle(b, i)
	case '!':
		return p.bang(b, i)
	case '[':
		if n := p.spans.wikilink(i, end); n > 0 {
			return p.link(i, n)
		}
		return p.open(i, 1)
	case ']':
		return p.bracketEnd(b, i)
	case '*', '_', '~', '=':
		return p.style(b, i)
	case '&':
		return p.entity(i, end)
	case '^':
		if n := blockIDLen(src, b.start, i, end); n > 0 {
			return i + n
		}
	case '|':
		if b.table {
			p.trimLine(p.row)
			if len(p.out) > p.row {
				p.out = append(p.out, ' ')
			}
			p.out = append(p.out, "| "...)
			for i++; i < end && isBlank(src[i]); i++ {
			}
			return i
		}
	}
	p.out = append(p.out, src[i])
	return i + 1
}

// lineBreak ends a line inside a block. A line that lost all its text goes;
// indentation stays, quote markers go.
func (p *plainer) lineBreak(b block, i int) int {
	n := len(p.out)
	for n > 0 && (isBlank(p.out[n-1]) || p.out[n-1] == '\r') {
		n--
	}
	p.out = p.out[:n]
	if n > 0 && p.out[n-1] != '\n' {
		p.out = append(p.out, '\n')
	}
	e := skipPrefix(p.src, i+1, b.end, b.depth)
	if b.depth == 0 {
		p.out = append(p.out, p.src[i+1:e]...)
	}
	return e
}

// codeSpan writes the text of a code span: line ends as blanks, and one blank
// at both ends taken off, which is there to part it from its backticks.
func (p *plainer) codeSpan(s string, depth int) {
	if n := len(s); n > 2 && s[0] == ' ' && s[n-1] == ' ' && !allBlank(s) {
		s = s[1 : n-1]
	}
	for {
		k := strings.IndexByte(s, '\n')
		if k < 0 {
			break
		}
		p.out = append(p.out, strings.TrimSuffix(s[:k], "\r")...)
		p.out = append(p.out, ' ')
		s = s[skipPrefix(s, k+1, len(s), depth):]
	}
	p.out = append(p.out, s...)
}

// angle handles '<': a comment, an autolink, a tag of HTML, or itself.
func (p *plainer) angle(b block, i int) int {
	src, end := p.src, b.end
	if e := p.spans.comment(i); e > 0 {
		return e
	}
	k := i + 1
	for k < end && src[k] > ' ' && src[k] != '<' && src[k] != '>' {
		k++
	}
	if k < end && src[k] == '>' && isAutolink(src[i+1:k]) {
		p.out = append(p.out, src[i+1:k]...)
		return k + 1
	}
	if e, space := htmlTag(src, i, end); e > 0 {
		if space == '\n' && b.table {
			space = ' '
		}
		if n := len(p.out); space != 0 && n > p.row && p.out[n-1] != '\n' && p.out[n-1] != ' ' {
			p.out = append(p.out, space)
		}
		return e
	}
	p.out = append(p.out, '<')
	return i + 1
}

// bang handles '!': an embed, an image, or itself.
func (p *plainer) bang(b block, i int) int {
	if i+1 < b.end && p.src[i+1] == '[' {
		n := p.spans.wikilink(i+1, b.end)
		if n == 0 {
			return p.open(i, 2)
		}
		return p.link(i, 1+n)
	}
	p.out = append(p.out, '!')
	return i + 1
}

// link writes what a wikilink shows; one that names nothing is text.
func (p *plainer) link(i, n int) int {
	raw := p.src[i : i+n]
	if l := newLink(raw); !l.empty() {
		shown := l.Text()
		if shown != strings.Trim(raw, "![]") {
			p.hide(raw)
		}
		raw = shown
	}
	p.out = append(p.out, raw...)
	return i + n
}

// hide keeps the target of a link.
func (p *plainer) hide(target string) {
	if p.targets {
		p.behind = append(append(p.behind, target...), '\n')
	}
}

// open writes the n bytes that may start a link or image.
func (p *plainer) open(i, n int) int {
	if p.marks.len() >= maxMarks {
		p.out = append(p.out, p.src[i:i+n]...)
		return i + n
	}
	p.opens = opened(p.opens, openBracket{mark: p.mark(i, n), src: int32(i + n)})
	return i + n
}

// mark writes n bytes of possible markup and remembers them.
func (p *plainer) mark(i, n int) int32 {
	p.marks.add(mark{pos: int32(len(p.out)), n: uint16(n)})
	p.out = append(p.out, p.src[i:i+n]...)
	return int32(p.marks.len() - 1)
}

// bracketEnd handles ']': the end of the text of a link, or itself.
func (p *plainer) bracketEnd(b block, i int) int {
	src, end := p.src, b.end
	if len(p.opens) > 0 {
		o := p.opens[len(p.opens)-1]
		p.opens = p.opens[:len(p.opens)-1]
		after := 0
		if i+1 < end && src[i+1] == '(' {
			_, _, after = linkDest(src, i+2, end)
			if after > 0 {
				p.hide(src[i+2 : after])
			}
		}
		if after == 0 {
			after = p.refLink(src[o.src:i], i, end)
		}
		if after > 0 {
			m := p.marks.at(int(o.mark))
			m.gone = m.n
			return after
		}
	}
	p.out = append(p.out, ']')
	return i + 1
}

// removeMarks takes the matched markup out of out[first:].
func (p *plainer) removeMarks(first int) {
	to, from := first, first
	for i := range p.marks.len() {
		m := p.marks.at(i)
		if m.gone == 0 {
			continue
		}
		to += copy(p.out[to:], p.out[from:m.pos])
		from = int(m.pos) + int(m.gone)
	}
	if from > to {
		to += copy(p.out[to:], p.out[from:])
		p.out = p.out[:to]
	}
}

// style handles a run of * _ ~ or =: emphasis, strong, strikethrough and
// highlight. A closing run takes the nearest open run of its kind; what stays
// unmatched stays text.
func (p *plainer) style(b block, i int) int {
	src := p.src
	n := runLen(src, i, b.end)
	kind := strings.IndexByte("*_~=", src[i])
	if kind >= 2 && n != 2 || n > maxRun || p.marks.len() >= maxMarks {
		p.out = append(p.out, src[i:i+n]...)
		return i + n
	}
	m := p.mark(i, n)
	prev, next := classBefore(src, b.start, i), classAfter(src, i+n, b.end)
	if kind == 0 && n == 1 && isDigitAt(src, i-1, b) && isDigitAt(src, i+1, b) {
		return i + n // 2*3*4 is a product
	}
	left := next != space && (next != punct || prev != word)
	right := prev != space && (prev != punct || next != word)
	if kind == 1 || kind == 3 { // not inside a word
		left, right = left && (!right || prev == punct), right && (!left || next == punct)
	}
	stack := p.styles[kind]
	rest := uint16(n)
	for right && rest > 0 && len(stack) > 0 {
		o := p.marks.at(int(stack[len(stack)-1]))
		k := min(rest, o.n-o.gone)
		o.gone += k
		p.marks.at(int(m)).gone += k
		rest -= k
		if o.gone == o.n {
			stack = stack[:len(stack)-1]
		}
	}
	if left && rest > 0 {
		stack = opened(stack, m)
	}
	p.styles[kind] = stack
	return i + n
}

func isDigitAt(src string, i int, b block) bool {
	return i >= b.start && i < b.end && '0' <= src[i] && src[i] <= '9'
}

// Classes of the characters around a run of style marks.
const (
	space = iota
	punct
	word
)

func classBefore(src string, start, i int) int {
	if i == start {
		return space
	}
	if c := src[i-1]; c < utf8.RuneSelf {
		return classOf(rune(c))
	}
	r, _ := utf8.DecodeLastRuneInString(src[:i])
	return classOf(r)
}

func classAfter(src string, i, end int) int {
	if i >= end {
		return space
	}
	if c := src[i]; c < utf8.RuneSelf {
		return classOf(rune(c))
	}
	r, _ := utf8.DecodeRuneInString(src[i:])
	return classOf(r)
}

func classOf(r rune) int {
	switch {
	case r < utf8.RuneSelf:
		if r <= ' ' {
			return space
		}
		if isPunct(byte(r)) {
			return punct
		}
	case unicode.IsSpace(r):
		return space
	case unicode.IsPunct(r) || unicode.IsSymbol(r):
		return punct
	}
	return word
}

// entity writes the character that an HTML entity stands for.
func (p *plainer) entity(i, end int) int {
	const longest = 32
	for j := i + 1; j < end && j < i+longest; j++ {
		c := p.src[j]
		if c == ';' {
			p.out = append(p.out, html.UnescapeString(p.src[i:j+1])...)
			return j + 1
		}
		if !isWord(c) && c != '#' {
			break
		}
	}
	p.out = append(p.out, '&')
	return i + 1
}
