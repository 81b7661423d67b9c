package term

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Style is how a text looks on a terminal: the parameters of its SGR sequence.
type Style string

// The styles.
const (
	Normal Style = ""
	Strong Style = "1"
	Faint  Style = "2"
	Bad    Style = "31"
	Good   Style = "32"
	Warn   Style = "33"
	Accent Style = "36"
	Marked Style = "1;33"
)

// Span is a text of one style. Make spans with text and styled, which take the
// control characters out.
type Span struct {
	Text  string
	Style Style
}

// Line is a line of the terminal.
type Line []Span

// Text returns a cleaned text of no style.
func Text(s string) Span { return Span{Clean(s), Normal} }

// Styled returns a cleaned text of a style.
func Styled(st Style, s string) Span { return Span{Clean(s), st} }

// Clean makes a text safe for one line of a terminal: line breaks and tabs
// become spaces, other control characters, invalid bytes and the characters
// that turn the direction of what follows become visible.
func Clean(s string) string { return strings.Map(cleanRune, s) }

// CleanLines is clean for a text of several lines, which end with a line feed.
func CleanLines(s string) string {
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

// Columns returns the columns that a cleaned text takes on a terminal.
func Columns(s string) int { return uniseg.StringWidth(s) }

// Width returns the columns that a line takes.
func (l Line) Width() int {
	n := 0
	for _, s := range l {
		n += Columns(s.Text)
	}
	return n
}

// Plain returns the text of a line.
func (l Line) Plain() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Fit returns the line cut to n columns, the last of them an ellipsis when
// something was cut.
func (l Line) Fit(n int) Line {
	if l.Width() <= n {
		return l
	}
	var out Line
	room := n - 1
	for _, s := range l {
		head, rest := CutColumns(s.Text, room)
		out = append(out, Span{head, s.Style})
		if rest != "" {
			break
		}
		room -= Columns(head)
	}
	if n > 0 {
		out = append(out, Span{"…", Faint})
	}
	return out
}

// CutColumns splits a text after at most n columns, between two graphemes.
func CutColumns(s string, n int) (head, rest string) {
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

// Padded returns the line with spaces up to n columns, on the left side for
// numbers.
func (l Line) Padded(n int, right bool) Line {
	gap := n - l.Width()
	if gap <= 0 {
		return l
	}
	space := Span{strings.Repeat(" ", gap), Normal}
	if right {
		return append(Line{space}, l...)
	}
	return append(l[:len(l):len(l)], space)
}

// Wrap breaks a cleaned text at spaces into lines of at most n columns.
func Wrap(s string, n int) []string {
	var out []string
	for _, paragraph := range strings.Split(s, "\n") {
		rest, cut := strings.TrimRight(paragraph, " "), true
		for cut && Columns(rest) > n {
			var head string
			head, _ = CutColumns(rest, n)
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

// WrapSpans breaks a line at spaces into lines of at most n columns. A word may
// be of several styles.
func WrapSpans(l Line, n int) []Line {
	var lines []Line
	var current, word Line
	flush := func() {
		if len(current) > 0 && current.Width()+word.trimmed().Width() > n {
			lines = append(lines, current.trimmed())
			current = nil
		}
		current, word = append(current, word...), nil
	}
	for _, sp := range l {
		for _, part := range strings.SplitAfter(sp.Text, " ") {
			word = append(word, Span{part, sp.Style})
			if strings.HasSuffix(part, " ") {
				flush()
			}
		}
	}
	flush()
	if len(current) > 0 {
		lines = append(lines, current.trimmed())
	}
	return lines
}

// trimmed returns the line without spaces at its end.
func (l Line) trimmed() Line {
	out := slices.Clone(l)
	for len(out) > 0 {
		last := &out[len(out)-1]
		last.Text = strings.TrimRight(last.Text, " ")
		if last.Text != "" {
			break
		}
		out = out[:len(out)-1]
	}
	return out
}
