package term

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestSpan is how much is waited for the end of emphasis, code or a link, in bytes.
const longestSpan = 240

// inline draws what of the line can be told, in a style.
func (w *MarkdownWriter) inline(style Style, whole bool) {
	for w.line != "" {
		n := strings.IndexAny(w.line, special)
		if n < 0 {
			n = len(w.line)
		}
		if n > 0 {
			w.text(w.line[:n], style)
			w.line = w.line[n:]
			continue
		}
		used := w.span(w.line, style, whole)
		if used == 0 {
			return
		}
		w.line = w.line[used:]
	}
}

// special are the characters that may begin something.
const special = "\\`*_[!"

// span draws what begins with a special character and returns its length, 0 when more must come first.
func (w *MarkdownWriter) span(s string, style Style, whole bool) int {
	hopeless := whole || len(s) > longestSpan // what has not ended by now is no span
	literal := func(n int) int {
		w.text(s[:n], style)
		return n
	}
	switch s[0] {
	case '\\':
		switch {
		case len(s) > 1 && isPunct(s[1]):
			w.text(s[1:2], style)
			return 2
		case len(s) > 1 || whole:
			return literal(1)
		}
		return 0
	case '`':
		return w.codeSpan(s, style, whole, hopeless)
	case '*', '_':
		return w.emphasised(s, style, whole, hopeless)
	case '!':
		if len(s) == 1 && !whole {
			return 0
		}
		if len(s) == 1 || s[1] != '[' {
			return literal(1)
		}
		if strings.HasPrefix(s, "![[") {
			return literal(1)
		}
		n := w.link(s[1:], style, hopeless)
		if n > 0 {
			return n + 1
		}
		return 0
	}
	return w.link(s, style, hopeless)
}

func isPunct(c byte) bool { return c > ' ' && c < 0x7f && !('0' <= c && c <= '9') && !isLetter(c) }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// run returns how often a text begins with its first byte.
func run(s string) int { return len(s) - len(strings.TrimLeft(s, s[:1])) }

func (w *MarkdownWriter) codeSpan(s string, style Style, whole, hopeless bool) int {
	n := run(s)
	if n == len(s) && !whole {
		return 0
	}
	for at := n; ; {
		i := strings.IndexByte(s[at:], '`')
		if i < 0 {
			break
		}
		at += i
		m := run(s[at:])
		if at+m == len(s) && !whole {
			return 0
		}
		if m == n {
			text := s[n:at]
			if len(text) > 2 && text[0] == ' ' && text[len(text)-1] == ' ' {
				text = text[1 : len(text)-1]
			}
			w.text(text, code)
			return at + m
		}
		at += m
	}
	if !hopeless {
		return 0
	}
	w.text(s[:n], style)
	return n
}

func (w *MarkdownWriter) emphasised(s string, style Style, whole, hopeless bool) int {
	n := run(s)
	if n == len(s) && !whole {
		return 0
	}
	next, _ := utf8.DecodeRuneInString(s[n:])
	opens := n < len(s) && n <= 3 && !unicode.IsSpace(next) && (s[0] == '*' || !isWord(w.last))
	if opens {
		end, known := closing(s, n, whole)
		if end > 0 {
			w.styled(s[n:end], merged(style, n))
			return end + n
		}
		if !known && !hopeless {
			return 0
		}
	}
	w.text(s[:n], style)
	return n
}

// closing returns where the run of n characters stands that ends the emphasis which s begins with, 0 for nowhere. known
// is false when more of the text may have it.
func closing(s string, n int, whole bool) (at int, known bool) {
	for at = n; at < len(s); {
		switch {
		case s[at] == '\\':
			at += 2
		case s[at] == '`':
			m := run(s[at:])
			i := strings.Index(s[at+m:], s[at:at+m])
			if i < 0 {
				at += m
				continue
			}
			at += m + i + m
		case s[at] != s[0]:
			at++
		default:
			m := run(s[at:])
			if at+m == len(s) && !whole {
				return 0, false
			}
			before, _ := utf8.DecodeLastRuneInString(s[:at])
			after, _ := utf8.DecodeRuneInString(s[at+m:])
			if m >= n && (m == n || n < 3 && m == 3) && !unicode.IsSpace(before) && (s[0] == '*' || at+m == len(s) || !isWord(after)) {
				return at + m - n, true
			}
			at += m
		}
	}
	return 0, whole
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// merged adds emphasis to a style.
func merged(style Style, n int) Style {
	own := map[int]Style{1: emphasis, 2: strong, 3: strong + ";" + emphasis}[n]
	if style == Normal || style == own {
		return own
	}
	return style + ";" + own
}

// styled draws a whole text with what it marks in a style.
func (w *MarkdownWriter) styled(s string, style Style) {
	for s != "" {
		n := strings.IndexAny(s, special)
		if n != 0 {
			if n < 0 {
				n = len(s)
			}
			w.text(s[:n], style)
		} else {
			n = w.span(s, style, true)
		}
		s = s[n:]
	}
}

// link draws [text](address), and [[Title]] as it is.
func (w *MarkdownWriter) link(s string, style Style, hopeless bool) int {
	literal := func(n int, st Style) int {
		w.text(s[:n], st)
		return n
	}
	if len(s) == 1 && !hopeless {
		return 0
	}
	if strings.HasPrefix(s, "[[") {
		end := strings.Index(s, "]]")
		switch {
		case end > 0:
			return literal(end+2, code)
		case hopeless:
			return literal(2, style)
		}
		return 0
	}
	end := strings.IndexByte(s, ']')
	switch {
	case end < 0 && hopeless:
		return literal(1, style)
	case end < 0, end+1 == len(s) && !hopeless:
		return 0
	case end+1 == len(s), s[end+1] != '(':
		return literal(1, style)
	}
	to := strings.IndexByte(s[end:], ')')
	switch {
	case to < 0 && hopeless:
		return literal(1, style)
	case to < 0:
		return 0
	}
	text, address := s[1:end], s[end+2:end+to]
	address, _, _ = strings.Cut(strings.TrimSpace(address), " ") // a title may follow
	if style == Normal {
		w.styled(text, linked)
	} else {
		w.styled(text, style+";"+linked)
	}
	if address != "" && address != text {
		w.text(" ("+address+")", Faint)
	}
	return end + to + 1
}
