package syntax

import (
	"strings"
	"unicode"

	"github.com/ctxd/ctxd/entities/names"
)

// Statement is one of several in a text: a query, or a command that begins with
// a backslash.
type Statement struct {
	Text   string // without the semicolon, and the blanks and comments before it
	Line   int    // of the whole text, on which it begins, from 1
	Column int    // in that line, in UTF-16 code units, from 1
}

// IsCommand reports whether the statement is for a prompt and not for the
// daemon.
func (s Statement) IsCommand() bool { return strings.HasPrefix(s.Text, `\`) }

// Move counts the places of diagnostics from the beginning of the whole text.
func (s Statement) Move(list []Diagnostic) {
	for i := range list {
		list[i].Line, list[i].Column = s.Place(list[i].Line, list[i].Column)
	}
}

// Place returns where a place in the statement is in the whole text.
func (s Statement) Place(row, column int) (int, int) {
	if row == 1 {
		column += s.Column - 1
	}
	return row + s.Line - 1, column
}

// Split takes a text apart at the semicolons that end a query, which are those
// outside of texts, quoted names and comments. A command ends with its line.
// rest is what follows the last of them, its Text "" when that is nothing; open
// reports whether rest ends within a text or a parenthesis. O(len(src)).
func Split(src string) (list []Statement, rest Statement, open bool) {
	at, lines := 0, 1
	for {
		start := statementStart(src, at)
		if start == len(src) {
			return list, Statement{}, false
		}
		lines += strings.Count(src[at:start], "\n")
		st := Statement{Line: lines, Column: names.UTF16Len(src[strings.LastIndexByte(src[:start], '\n')+1:start]) + 1}
		if src[start] == '\\' {
			at = lineEnd(src, start)
			st.Text = strings.TrimSpace(src[start:at])
			list = append(list, st)
			continue
		}
		end, unclosed := statementEnd(src, start)
		st.Text = strings.TrimRightFunc(src[start:end], unicode.IsSpace)
		if end == len(src) {
			return list, st, unclosed
		}
		if st.Text != "" {
			list = append(list, st)
		}
		lines += strings.Count(src[start:end], "\n")
		at = end + 1
	}
}

// statementStart returns where blanks, comments and empty statements end.
func statementStart(src string, at int) int {
	l := &lexer{src: src, pos: at}
	for {
		l.skipBlank()
		if l.pos == len(src) || src[l.pos] != ';' {
			return l.pos
		}
		l.pos++
	}
}

// statementEnd returns where the semicolon of a query stands, len(src) when it
// has none. unclosed reports whether something was left open then.
func statementEnd(src string, start int) (end int, unclosed bool) {
	depth := 0
	for t := range tokensOf(src, start) {
		switch {
		case t.openText:
			return len(src), true
		case t.symbol(";"):
			return t.Start, false
		case t.symbol("("):
			depth++
		case t.symbol(")"):
			depth--
		}
	}
	return len(src), depth > 0
}

// readToken is a token with what is still open at its end.
type readToken struct {
	token
	openText, openName bool // a text, or a name in quotes, that does not end
}

// tokensOf reads the tokens of a text one by one from an offset.
func tokensOf(src string, at int) func(yield func(readToken) bool) {
	return func(yield func(readToken) bool) {
		var found Findings
		l := &lexer{src: src, pos: at, found: &found}
		for l.next() {
			t := readToken{token: l.tokens[len(l.tokens)-1]}
			l.tokens = l.tokens[:0]
			if t.kind == tokBad && found.unclosed {
				t.openText = src[t.Start] == '\'' || src[t.Start] == '"'
				t.openName = !t.openText
			}
			found = Findings{}
			if !yield(t) {
				return
			}
		}
	}
}
