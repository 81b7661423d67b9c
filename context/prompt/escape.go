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

// isIndent reports what may stand before the first visible character of a
// line: blanks, and characters that show nothing.
func isIndent(r rune) bool {
	if isBreak(r) {
		return false
	}
	switch r {
	case '\u2800', '\u3164', '\u115f', '\u1160', '\uffa0', '\u034f':
		return true // blank by another name
	}
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Variation_Selector)
}

// EscapeText makes a text of several lines safe to stand in a section: a
// backslash goes before the first visible character of every line that begins
// with #, --- or a backslash. Line ends become "\n". UnescapeText undoes it.
// O(n), without allocation when there is nothing to do.
func EscapeText(s string) string {
	s = normalizeBreaks(s)
	if strings.IndexByte(s, '#') < 0 && strings.IndexByte(s, '\\') < 0 && !strings.Contains(s, "---") {
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

func forges(line string) bool {
	return line != "" && (line[0] == '#' || line[0] == '\\' || strings.HasPrefix(line, "---"))
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
// for such a mark. UnescapeInline undoes the latter. O(n), without allocation
// when there is nothing to do.
func EscapeInline(s string) string {
	if isPlain(s, false) {
		return s
	}
	return escapeInline(flatten(s), inlineMarks)
}

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
		switch s[i] {
		case '[':
			if i == 0 || s[i-1] == '[' || i+1 < len(s) && s[i+1] == '[' || hasFoldPrefix(s[i+1:], "id:") {
				b.WriteByte('\\')
			}
		case ']':
			if i+1 == len(s) || s[i+1] == ']' || i > 0 && s[i-1] == ']' {
				b.WriteByte('\\')
			}
		case '|':
			if marks == cellMarks {
				b.WriteByte('\\')
			}
		case '\\':
			if i+1 == len(s) || strings.IndexByte(marks, s[i+1]) >= 0 {
				b.WriteByte('\\')
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
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

func hasFoldPrefix(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
