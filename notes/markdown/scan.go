package markdown

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// scanner collects what a Document lists, in one pass over the source.
// Scanners are used again and again, so that the lists grow in memory that is
// there already.
type scanner struct {
	src       string
	links     pile[linkPlace]
	fileLinks pile[linkPlace] // destinations of Markdown links to files

	tags     []string
	seenTags folded
	firstH1  string
	h1       block // that firstH1 is of
	spans    codeSpans
	opens    []int32  // '[' of the block that are not closed yet
	defAt    int      // offset at which the '[' of a definition may stand, -1 for nowhere
	plain    *plainer // for headings with markup; nil until the first

	// What is told of as it is found; nil for what is not asked for.
	onHeading func(Heading)
	onBlock   func(Block)
}

// linkPlace is where a wikilink stands. It takes a tenth of what a Link does.
type linkPlace struct {
	start, end int32
	line       int32 // negative in frontmatter
}

// maxTitle is how long a heading may be, in bytes of its source, to be the title of a
// note.
const maxTitle = 64 << 10

// maxTags is how many different tags of a text count.
const maxTags = 10_000

var scanners = sync.Pool{New: func() any { return new(scanner) }}

func newScanner(src string) *scanner {
	s := scanners.Get().(*scanner)
	s.src = src
	s.spans.reset(src)
	return s
}

// free gives the scanner back, without a hold on the source.
func (s *scanner) free() {
	if s.plain != nil {
		s.plain.free()
	}
	s.src, s.firstH1, s.plain = "", "", nil
	s.onHeading, s.onBlock = nil, nil
	s.links.reset()
	s.fileLinks.reset()
	s.tags = emptied(s.tags)
	s.opens = emptied(s.opens)
	s.seenTags.reset()
	s.spans.reset("")
	scanners.Put(s)
}

// emptied returns a list for the next user; one that a huge note has blown up
// goes to the garbage instead.
func emptied[T any](list []T) []T {
	if cap(list) > 1024 {
		return nil
	}
	clear(list)
	return list[:0]
}

// exact copies a list, nil when it is empty.
func exact[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	out := make([]T, len(list))
	copy(out, list)
	return out
}

// body scans from pos, on the given line, to the end of the source.
func (s *scanner) body(pos, line int) {
	w := walker{src: s.src, pos: pos, line: line}
	for b := w.next(); b.kind != endOfBody; b = w.next() {
		switch b.kind {
		case heading:
			s.heading(b)
		case textBlock:
		default:
			continue
		}
		if end := s.inline(b); end > b.end {
			w.resume(end)
		}
	}
}

// heading tells of a heading, of which the first of level 1 is kept.
func (s *scanner) heading(b block) {
	first := s.firstH1 == "" && b.level == 1 && !b.bullet && b.depth == 0 && b.end-b.start <= maxTitle
	if !first && s.onHeading == nil {
		return
	}
	text := s.headingText(b)
	if first && text != "" {
		s.firstH1, s.h1 = text, b
	}
	if s.onHeading != nil {
		s.onHeading(Heading{Level: b.level, Text: text, Line: b.line, Start: b.lineStart, End: b.last})
	}
}

// headingText renders a heading, which most often has nothing to render.
func (s *scanner) headingText(b block) string {
	t := s.src[b.start:b.end]
	for i := 0; i < len(t); i++ {
		if plainSpecial[t[i]] {
			if s.plain == nil { // one for all headings: it collects the link definitions once
				s.plain = newPlainer(s.src)
			}
			s.plain.out = s.plain.out[:0]
			s.plain.inline(b)
			return oneLine(string(s.plain.out))
		}
	}
	return oneLine(t)
}

// scanSpecial marks the bytes at which inline has something to decide.
var scanSpecial = [256]bool{'\n': true, '\\': true, '`': true, '<': true, '[': true, ']': true, '#': true, '^': true}

// inline scans the text of one block and returns where it stopped: the end of
// the block, or beyond it when a comment reaches further.
func (s *scanner) inline(b block) int {
	src, end, line := s.src, b.end, b.line
	s.opens, s.defAt = s.opens[:0], -1
	if b.kind == textBlock && !b.table {
		s.defAt = b.start
	}
	escaped := -1 // offset after the last backslash escape
	dest := -1    // end of the last destination of a Markdown link, in which are no tags and no others
	for i := b.start; i < end; {
		c := src[i]
		if !scanSpecial[c] {
			i++
			continue
		}
		switch c {
		case '\n':
			line++
			i = skipPrefix(src, i+1, end, b.depth)
		case '\\':
			i = s.spans.afterBackslash(i, end)
			escaped = i
		case '`', '<':
			e := s.spans.skip(i, end)
			if c == '<' && e == i+1 && i >= dest {
				s.htmlLinks(i, end, line)
			}
			line += strings.Count(src[i:e], "\n")
			i = e
		case '[':
			n := s.spans.wikilink(i, end)
			if n == 0 {
				if i >= dest {
					s.opens = opened(s.opens, int32(i))
				}
				i++
				continue
			}
			start := i
			if i > b.start && src[i-1] == '!' && escaped != i {
				start--
			}
			s.addLink(start, i+n, line, false)
			i += n
		case ']':
			if i >= dest {
				dest = max(dest, s.markdownLink(b, i, line))
			}
			i++
		case '#':
			if i >= dest && escaped != i {
				if n := s.tag(b.start, i, end); n > 0 {
					i += n
					continue
				}
			}
			i++
		case '^':
			i += s.blockID(b, i, line)
		}
		if i > end {
			return i
		}
	}
	return end
}

// skipPrefix steps over the blanks and quote markers that start a line.
func skipPrefix(src string, i, end, depth int) int {
	for i < end && (isBlank(src[i]) || src[i] == '>' && depth > 0) {
		if src[i] == '>' {
			depth--
		}
		i++
	}
	return i
}

// addLink records the link written at [start, end), unless it names nothing.
func (s *scanner) addLink(start, end, line int, front bool) {
	l := newLink(s.src[start:end])
	if l.empty() {
		return
	}
	if front {
		line = -line
	}
	s.links.add(linkPlace{int32(start), int32(end), int32(line)})
}

// tag records the inline tag at i, where a '#' stands, and returns its length,
// or 0.
func (s *scanner) tag(blockStart, i, end int) int {
	if i > blockStart && !tagMayFollow(s.src, i) {
		return 0
	}
	n := tagLen(s.src[i+1 : end])
	name := strings.TrimRight(s.src[i+1:i+1+n], "/")
	if name == "" || allDigits(name) {
		return 0
	}
	s.addTag(name)
	return 1 + n
}

// addTag records a tag unless it is there already.
func (s *scanner) addTag(name string) {
	if len(s.tags) < maxTags && s.seenTags.see(name) {
		s.tags = append(s.tags, name)
	}
}

// tagMayFollow looks at what stands before a '#': a tag starts a word.
func tagMayFollow(src string, i int) bool {
	if c := src[i-1]; c < utf8.RuneSelf {
		return strings.IndexByte(" \t\n\r({,;:*_~|>", c) >= 0
	}
	r, _ := utf8.DecodeLastRuneInString(src[:i])
	return unicode.IsSpace(r) || unicode.IsPunct(r)
}

// tagLen counts the bytes of s that can be part of a tag: letters, digits and
// symbols of any script, '_', '-' and '/'.
func tagLen(s string) int {
	i := 0
	for i < len(s) {
		c := s[i]
		if c < utf8.RuneSelf {
			if !isWord(c) && c != '-' && c != '/' {
				break
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || unicode.IsSpace(r) || unicode.IsPunct(r) || unicode.IsControl(r) {
			break
		}
		i += n
	}
	return i
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func allDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// blockID records "^id" at the end of a line and returns how far to step.
func (s *scanner) blockID(b block, i, line int) int {
	n := blockIDLen(s.src, b.start, i, b.end)
	if n == 0 {
		return 1
	}
	if s.onBlock != nil {
		s.onBlock(Block{ID: s.src[i+1 : i+n], Line: line, Start: b.lineStart, End: b.last})
	}
	return n
}

// blockIDLen returns the length of the block identifier whose '^' stands at i,
// or 0: letters, digits and '-', a blank or nothing before it, nothing but
// blanks after it on its line. One without a letter is taken for an exponent.
func blockIDLen(src string, start, i, end int) int {
	if i > start && !isBlank(src[i-1]) && src[i-1] != '\n' {
		return 0
	}
	j, letter := i+1, false
	for j < end && (isWord(src[j]) && src[j] != '_' || src[j] == '-') {
		letter = letter || src[j] > '9'
		j++
	}
	if !letter {
		return 0
	}
	for k := j; k < end && src[k] != '\n'; k++ {
		if !isBlank(src[k]) && src[k] != '\r' {
			return 0
		}
	}
	return j - i
}
