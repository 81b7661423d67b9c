package prompt

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// isBreak reports the characters that end a line for a reader, though not all
// of them for every program.
func isBreak(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029':
		return true
	}
	return false
}

//go:generate go run gen_ignorable.go

// isHidden reports a character that shows nothing, so that a model may read the
// text as if it weren't there: default-ignorable, format and control characters.
func isHidden(r rune) bool {
	if unicode.IsControl(r) {
		return r != '\t' && !isBreak(r)
	}
	return unicode.In(r, defaultIgnorable, unicode.Cf)
}

// afterHidden returns the byte offset of the first character of s at or after at
// that is not hidden, len(s) if there is none.
func afterHidden(s string, at int) int {
	for at < len(s) {
		if c := s[at]; c >= ' ' && c < 0x7f {
			return at
		}
		r, size := utf8.DecodeRuneInString(s[at:])
		if !isHidden(r) {
			return at
		}
		at += size
	}
	return len(s)
}

// beforeHidden returns the byte offset of the last character of s before at that is
// not hidden, -1 if there is none.
func beforeHidden(s string, at int) int {
	for at > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
		if !isHidden(r) {
			return at
		}
	}
	return -1
}

// brailleBlank is the one character that is shown as a blank and is neither white
// space nor hidden.
const brailleBlank = '\u2800'

// isIndent reports what may stand before the first visible character of a line:
// blanks and hidden characters.
func isIndent(r rune) bool {
	if isBreak(r) {
		return false
	}
	return unicode.IsSpace(r) || r == brailleBlank || isHidden(r)
}

// EscapeText makes a text of several lines safe to stand in a section: a
// backslash goes before the first visible character of every line that begins
// with #, --- or a backslash, hidden characters among the dashes or not. Line ends
// become "\n". UnescapeText undoes it. O(n), without allocation when there is
// nothing to do.
func EscapeText(s string) string {
	s = normalizeBreaks(s)
	if strings.IndexByte(s, '#') < 0 && strings.IndexByte(s, '\\') < 0 && !holdsRule(s) {
		return s
	}
	var b strings.Builder
	copied := 0
	for start := 0; start < len(s); {
		first, next := lineAt(s, start)
		if forges(s[first:next]) {
			if copied == 0 {
				b.Grow(len(s) + 16)
			}
			b.WriteString(s[copied:first])
			b.WriteByte('\\')
			copied = first
		}
		start = next
	}
	if copied == 0 && b.Len() == 0 {
		return s
	}
	b.WriteString(s[copied:])
	return b.String()
}

// UnescapeText undoes EscapeText.
func UnescapeText(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for start := 0; start < len(s); {
		first, next := lineAt(s, start)
		b.WriteString(s[start:first])
		b.WriteString(strings.TrimPrefix(s[first:next], `\`))
		start = next
	}
	return b.String()
}

// forges reports whether a line, from its first visible character on, could pass
// for structure or for a line that EscapeText has marked.
func forges(line string) bool {
	return line != "" && (line[0] == '#' || line[0] == '\\' || beginsRule(line))
}

// holdsRule reports whether a text may hold a line that beginsRule: it holds three
// dashes, or one that a character beyond ASCII or a control character follows.
func holdsRule(s string) bool {
	if strings.Contains(s, "---") {
		return true
	}
	for {
		at := strings.IndexByte(s, '-')
		if at < 0 || at+1 == len(s) {
			return false
		}
		next := s[at+1]
		if next >= 0x7f || next < ' ' && next != '\n' {
			return true
		}
		s = s[at+1:]
	}
}

// beginsRule reports whether s begins with three dashes, hidden characters among
// them or not.
func beginsRule(s string) bool {
	at := 0
	for range 3 {
		if at == len(s) || s[at] != '-' {
			return false
		}
		at = afterHidden(s, at+1)
	}
	return true
}

// lineAt returns where the first visible character of the line at start
// stands, and where the next line begins.
func lineAt(s string, start int) (first, next int) {
	first = start
	for first < len(s) {
		if c := s[first]; c == ' ' || c == '\t' {
			first++
			continue
		} else if c > 0x20 && c < 0x7f {
			break
		}
		r, size := utf8.DecodeRuneInString(s[first:])
		if !isIndent(r) {
			break
		}
		first += size
	}
	for next = first; next < len(s); {
		if c := s[next]; c >= 0x20 && c < 0xC2 { // no break begins with it
			next++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[next:])
		next += size
		if isBreak(r) {
			break
		}
	}
	return first, next
}

func normalizeBreaks(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// EscapeInline makes a title, name or value safe to stand within a line: line
// breaks become spaces, and a backslash goes before each bracket that could
// pass for one of a link or an id, and before each backslash that could pass
// for such a mark. What stands next to what is decided as if hidden characters
// were not there. UnescapeInline takes the backslashes out again. O(n), without
// allocation when there is nothing to do.
func EscapeInline(s string) string {
	if isPlain(s, false) {
		return s
	}
	return escapeInline(flatten(s), inlineMarks)
}

// EscapeLine is EscapeInline for a text that begins its line, where it could pass
// for a heading or a rule too.
func EscapeLine(s string) string { return EscapeText(EscapeInline(s)) }

// UnescapeLine takes the backslashes of EscapeLine out again.
func UnescapeLine(s string) string { return UnescapeInline(UnescapeText(s)) }

// escapeCell is EscapeInline for a text in a line of several parts, which bars
// separate.
func escapeCell(s string) string {
	if isPlain(s, true) {
		return s
	}
	return escapeInline(flatten(s), cellMarks)
}

// isPlain reports a text without line breaks and without the characters that
// escapeInline looks at.
func isPlain(s string, cell bool) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '[', c == ']', c == '\\', c == '|' && cell:
			return false
		case '\n' <= c && c <= '\r':
			return false
		case c == 0xC2, c == 0xE2:
			if r, _ := utf8.DecodeRuneInString(s[i:]); isBreak(r) {
				return false
			}
		}
	}
	return true
}

// What a backslash may stand before.
const (
	inlineMarks = `\[]`
	cellMarks   = `\[]|`
)

func escapeInline(s, marks string) string {
	var b strings.Builder
	b.Grow(len(s) + 8)
	for i := 0; i < len(s); i++ {
		if isMark(s, i, marks) {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// isMark reports whether a backslash goes before the byte of s at i.
func isMark(s string, i int, marks string) bool {
	switch s[i] {
	case '[':
		before, next := beforeHidden(s, i), afterHidden(s, i+1)
		return before < 0 || s[before] == '[' || next < len(s) && s[next] == '[' || beginsID(s, next)
	case ']':
		before, next := beforeHidden(s, i), afterHidden(s, i+1)
		return next == len(s) || s[next] == ']' || before >= 0 && s[before] == ']'
	case '|':
		return marks == cellMarks
	case '\\':
		next := afterHidden(s, i+1)
		return next == len(s) || strings.IndexByte(marks, s[next]) >= 0
	}
	return false
}

// beginsID reports whether "id:" stands in s at a byte offset, in letters of any
// case, hidden characters among them or not.
func beginsID(s string, at int) bool {
	for _, want := range []byte("id:") {
		if at == len(s) || s[at]|0x20 != want|0x20 {
			return false
		}
		at = afterHidden(s, at+1)
	}
	return true
}

// UnescapeInline undoes the marks of EscapeInline.
func UnescapeInline(s string) string { return unescapeInline(s, inlineMarks) }

// UnescapeCell undoes the marks of a part of a line of the client's sections.
func UnescapeCell(s string) string { return unescapeInline(s, cellMarks) }

func unescapeInline(s, marks string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte(marks, s[i+1]) >= 0 {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// flatten turns every line break into one space.
func flatten(s string) string {
	s = strings.ReplaceAll(s, "\r\n", " ")
	return strings.Map(func(r rune) rune {
		if isBreak(r) {
			return ' '
		}
		return r
	}, s)
}
