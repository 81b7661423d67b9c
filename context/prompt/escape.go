package prompt

import (
	"strings"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities/text"
)

// escapeStart makes a text that begins its line safe there: a backslash goes before its
// first visible character when the line would begin with #, --- or a backslash, hidden
// characters among the dashes or not.
func escapeStart(s string) string {
	first := firstVisible(s)
	if !forges(s[first:]) {
		return s
	}
	return s[:first] + `\` + s[first:]
}

// unescapeStart undoes escapeStart.
func unescapeStart(s string) string {
	first := firstVisible(s)
	return s[:first] + strings.TrimPrefix(s[first:], `\`)
}

// forges reports whether a line, from its first visible character on, could pass
// for structure or for a line that escapeStart has marked.
func forges(line string) bool {
	return line != "" && (line[0] == '#' || line[0] == '\\' || beginsRule(line))
}

// firstVisible returns where the first character of a line stands that is no indent.
func firstVisible(s string) int {
	for i, r := range s {
		if !text.IsIndent(r) {
			return i
		}
	}
	return len(s)
}

// beginsRule reports whether s begins with three dashes, hidden characters among
// them or not.
func beginsRule(s string) bool {
	at := 0
	for range 3 {
		if at == len(s) || s[at] != '-' {
			return false
		}
		at = text.AfterHidden(s, at+1)
	}
	return true
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
func EscapeLine(s string) string { return escapeStart(EscapeInline(s)) }

// UnescapeLine takes the backslashes of EscapeLine out again.
func UnescapeLine(s string) string { return UnescapeInline(unescapeStart(s)) }

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
			if r, _ := utf8.DecodeRuneInString(s[i:]); text.IsBreak(r) {
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
		before, next := text.BeforeHidden(s, i), text.AfterHidden(s, i+1)
		return before < 0 || s[before] == '[' || next < len(s) && s[next] == '[' || beginsID(s, next)
	case ']':
		before, next := text.BeforeHidden(s, i), text.AfterHidden(s, i+1)
		return next == len(s) || s[next] == ']' || before >= 0 && s[before] == ']'
	case '|':
		return marks == cellMarks
	case '\\':
		next := text.AfterHidden(s, i+1)
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
		at = text.AfterHidden(s, at+1)
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
		if text.IsBreak(r) {
			return ' '
		}
		return r
	}, s)
}
