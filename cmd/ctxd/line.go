package main

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// style is how a text looks on a terminal: the parameters of its SGR sequence.
type style string

const (
	normal style = ""
	strong style = "1"
	faint  style = "2"
	bad    style = "31"
	good   style = "32"
	warn   style = "33"
	accent style = "36"
	marked style = "1;33"
)

// span is a text of one style. Make spans with text and styled, which take the
// control characters out.
type span struct {
	text  string
	style style
}

// line is a line of the terminal.
type line []span

func text(s string) span { return span{clean(s), normal} }

func styled(st style, s string) span { return span{clean(s), st} }

// clean makes a text safe for one line of a terminal: line breaks and tabs
// become spaces, other control characters, invalid bytes and the characters
// that turn the direction of what follows become visible.
func clean(s string) string { return strings.Map(cleanRune, s) }

// cleanLines is clean for a text of several lines, which end with a line feed.
func cleanLines(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return cleanRune(r)
	}, strings.ReplaceAll(s, "\r\n", "\n"))
}

func cleanRune(r rune) rune {
	switch {
	case r == '\n' || r == '\t' || r == '\r' || r == '\u2028' || r == '\u2029':
		return ' '
	case r < ' ':
		return '\u2400' + r // the picture of the control character
	case r == 0x7f:
		return '\u2421'
	case r > 0x7f && r < 0xa0, turnsDirection(r):
		return utf8.RuneError
	}
	return r
}

// turnsDirection reports whether r overrides or embeds a writing direction.
// The marks of Arabic and Hebrew texts themselves don't.
func turnsDirection(r rune) bool {
	return r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// columns returns the columns that a cleaned text takes on a terminal.
func columns(s string) int { return uniseg.StringWidth(s) }

func (l line) width() int {
	n := 0
	for _, s := range l {
		n += columns(s.text)
	}
	return n
}

// plain returns the text of a line.
func (l line) plain() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.text)
	}
	return b.String()
}

// fit returns the line cut to n columns, the last of them an ellipsis when
// something was cut.
func (l line) fit(n int) line {
	if l.width() <= n {
		return l
	}
	var out line
	room := n - 1
	for _, s := range l {
		head, rest := cutColumns(s.text, room)
		out = append(out, span{head, s.style})
		if rest != "" {
			break
		}
		room -= columns(head)
	}
	if n > 0 {
		out = append(out, span{"…", faint})
	}
	return out
}

// cutColumns splits a text after at most n columns, between two graphemes.
func cutColumns(s string, n int) (head, rest string) {
	at, state := 0, -1
	for at < len(s) {
		cluster, _, width, next := uniseg.FirstGraphemeClusterInString(s[at:], state)
		if width > n {
			break
		}
		n -= width
		at += len(cluster)
		state = next
	}
	return s[:at], s[at:]
}

// padded returns the line with spaces up to n columns, on the left side for
// numbers.
func (l line) padded(n int, right bool) line {
	gap := n - l.width()
	if gap <= 0 {
		return l
	}
	space := span{strings.Repeat(" ", gap), normal}
	if right {
		return append(line{space}, l...)
	}
	return append(l[:len(l):len(l)], space)
}

// wrap breaks a cleaned text at spaces into lines of at most n columns.
func wrap(s string, n int) []string {
	var out []string
	for _, paragraph := range strings.Split(s, "\n") {
		rest, cut := strings.TrimRight(paragraph, " "), true
		for cut && columns(rest) > n {
			var head string
			head, _ = cutColumns(rest, n)
			if i := strings.LastIndexFunc(head, unicode.IsSpace); i > 0 {
				head = head[:i]
			}
			cut = head != ""
			if cut {
				out = append(out, strings.TrimRight(head, " "))
				rest = strings.TrimLeft(rest[len(head):], " ")
			}
		}
		out = append(out, rest)
	}
	return out
}

// wrapSpans breaks a line at spaces into lines of at most n columns. A word may
// be of several styles.
func wrapSpans(l line, n int) []line {
	var lines []line
	var current, word line
	flush := func() {
		if len(current) > 0 && current.width()+word.trimmed().width() > n {
			lines = append(lines, current.trimmed())
			current = nil
		}
		current, word = append(current, word...), nil
	}
	for _, sp := range l {
		for _, part := range strings.SplitAfter(sp.text, " ") {
			word = append(word, span{part, sp.style})
			if strings.HasSuffix(part, " ") {
				flush()
			}
		}
	}
	if flush(); len(current) > 0 {
		lines = append(lines, current.trimmed())
	}
	return lines
}

// trimmed returns the line without spaces at its end.
func (l line) trimmed() line {
	out := slices.Clone(l)
	for len(out) > 0 {
		last := &out[len(out)-1]
		if last.text = strings.TrimRight(last.text, " "); last.text != "" {
			break
		}
		out = out[:len(out)-1]
	}
	return out
}
