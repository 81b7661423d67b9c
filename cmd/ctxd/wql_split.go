package main

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities"
)

// statement is one of several in a text: a query, or a command that begins with
// a backslash.
type statement struct {
	text   string // without the semicolon, and the blanks and comments before it
	line   int    // of the whole text, on which it begins, from 1
	column int    // in that line, in UTF-16 code units, from 1
}

// isCommand reports whether the statement is for the prompt and not for the
// daemon.
func (s statement) isCommand() bool { return strings.HasPrefix(s.text, `\`) }

// splitStatements takes a text apart at the semicolons that end a query, which
// are those outside of texts, quoted names and comments. A command ends with its
// line. rest is what follows the last of them, its text "" when that is nothing;
// open reports whether rest ends within a text or a parenthesis. O(len(src)).
func splitStatements(src string) (list []statement, rest statement, open bool) {
	at, lines := 0, 1
	for {
		start := skipBlank(src, at)
		if start == len(src) {
			return list, statement{}, false
		}
		lines += strings.Count(src[at:start], "\n")
		st := statement{line: lines, column: entities.UTF16Len(src[strings.LastIndexByte(src[:start], '\n')+1:start]) + 1}
		if src[start] == '\\' {
			at = lineEnd(src, start)
			st.text = strings.TrimSpace(src[start:at])
			list = append(list, st)
			continue
		}
		end, unclosed := statementEnd(src, start)
		st.text = strings.TrimRightFunc(src[start:end], unicode.IsSpace)
		if end == len(src) {
			return list, st, unclosed
		}
		if st.text != "" {
			list = append(list, st)
		}
		lines += strings.Count(src[start:end], "\n")
		at = end + 1
	}
}

// statementEnd returns where the semicolon of a query stands, len(src) when it
// has none. unclosed reports whether something was left open then.
func statementEnd(src string, start int) (end int, unclosed bool) {
	depth := 0
	for i := start; i < len(src); {
		switch src[i] {
		case ';':
			return i, false
		case '(':
			depth++
		case ')':
			depth--
		}
		next, closed := skipToken(src, i)
		if !closed {
			return len(src), true
		}
		i = next
	}
	return len(src), depth > 0
}

// skipToken returns where the text, the quoted name, the comment or else the
// character ends that begins at i. They are read as the daemon reads them: a
// name ends with its line at the latest, a text may have several. closed is
// false for a text that does not end.
func skipToken(src string, i int) (next int, closed bool) {
	switch c := src[i]; {
	case c == '\'' || c == '"':
		return skipText(src, i)
	case c == '`' || c == '[':
		return skipName(src, i), true
	case strings.HasPrefix(src[i:], "--"):
		return lineEnd(src, i), true
	}
	return i + 1, true
}

func skipText(src string, i int) (next int, closed bool) {
	quote := src[i]
	for i++; i < len(src); i++ {
		next := byte(0)
		if i+1 < len(src) {
			next = src[i+1]
		}
		switch {
		case src[i] == '\\' && (next == '\'' || next == '"' || next == '\\'), src[i] == quote && next == quote:
			i++
		case src[i] == quote:
			return i + 1, true
		}
	}
	return len(src), false
}

func skipName(src string, i int) int {
	closing := src[i]
	if closing == '[' {
		closing = ']'
	}
	end := lineEnd(src, i)
	for i++; i < end; i++ {
		switch {
		case src[i] != closing:
		case closing == '`' && i+1 < end && src[i+1] == '`':
			i++
		default:
			return i + 1
		}
	}
	return end
}

// skipBlank returns where blanks, comments and empty statements end.
func skipBlank(src string, i int) int {
	for i < len(src) {
		r, n := utf8.DecodeRuneInString(src[i:])
		switch {
		case strings.HasPrefix(src[i:], "--"):
			i = lineEnd(src, i)
		case unicode.IsSpace(r), r == '\uFEFF', r == ';':
			i += n
		default:
			return i
		}
	}
	return i
}

// lineEnd returns where the line of i ends.
func lineEnd(src string, i int) int {
	if n := strings.IndexByte(src[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(src)
}
