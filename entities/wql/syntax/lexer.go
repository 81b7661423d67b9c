package syntax

import (
	"iter"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// tokenKind is the kind of a token. Keywords are words: whether a word is one
// depends on where it stands, so that a field may be called Order.
type tokenKind uint8

const (
	tokEOF      tokenKind = iota
	tokWord               // an identifier or a keyword
	tokQuoted             // an identifier in backticks or brackets
	tokString             // text: the value without quotes
	tokNumber             // text: the digits
	tokDuration           // text: the digits and the unit
	tokSymbol             // text: the operator or the punctuation
	tokBad                // reported already; keeps the parser in step
)

type token struct {
	kind tokenKind
	text string
	Span
}

// is reports whether the token is the keyword, which is given in upper case.
func (t token) is(keyword string) bool {
	return t.kind == tokWord && len(t.text) == len(keyword) && strings.EqualFold(t.text, keyword)
}

func (t token) symbol(s string) bool { return t.kind == tokSymbol && t.text == s }

func (t token) isName() bool { return t.kind == tokWord || t.kind == tokQuoted }

// describe names the token in a message.
func (t token) describe(src string) string {
	switch t.kind {
	case tokEOF:
		return "the end of the query"
	case tokString:
		return "a text"
	}
	text := src[t.Start:t.End]
	if len(text) > 40 {
		return "'" + strings.ToValidUTF8(text[:40], "") + "…'"
	}
	return "'" + text + "'"
}

// Texts gives the texts of a query: where they stand between their quotes, and what they say.
func Texts(src string) iter.Seq2[Span, string] {
	return func(yield func(Span, string) bool) {
		for _, t := range lex(src, new(Findings)) {
			if t.kind == tokString && !yield(Span{t.Start + 1, t.End - 1}, t.text) {
				return
			}
		}
	}
}

// Quoted gives what a query has in quotes, backticks and brackets, as messages repeat it.
func Quoted(src string) (list []string) {
	for _, t := range lex(src, new(Findings)) {
		if t.kind == tokString || t.kind == tokQuoted {
			list = append(list, t.text)
		}
	}
	return list
}

type lexer struct {
	src    string
	pos    int
	tokens []token
	found  *Findings
}

// lex splits src into tokens, the last of which is tokEOF.
func lex(src string, found *Findings) []token {
	l := &lexer{src: src, found: found}
	for l.next() {
	}
	l.add(tokEOF, "", len(src))
	return l.tokens
}

func (l *lexer) add(kind tokenKind, text string, start int) {
	l.tokens = append(l.tokens, token{kind: kind, text: text, Span: Span{start, l.pos}})
}

func (l *lexer) next() bool {
	l.skipBlank()
	if l.pos >= len(l.src) {
		l.pos = len(l.src)
		return false
	}
	start := l.pos
	c, size := utf8.DecodeRuneInString(l.src[l.pos:])
	switch {
	case c == '\'' || c == '"':
		l.text(byte(c))
	case c == '`' || c == '[':
		l.quotedName(byte(c))
	case c >= '0' && c <= '9':
		l.number()
	case isNameStart(c):
		for l.pos < len(l.src) {
			r, n := utf8.DecodeRuneInString(l.src[l.pos:])
			if !isNamePart(r) {
				break
			}
			l.pos += n
		}
		l.add(tokWord, l.src[start:l.pos], start)
	default:
		l.symbol(c, size)
	}
	return true
}

func (l *lexer) skipBlank() {
	for l.pos < len(l.src) {
		if strings.HasPrefix(l.src[l.pos:], "--") {
			end := strings.IndexByte(l.src[l.pos:], '\n')
			if end < 0 {
				l.pos = len(l.src)
				return
			}
			l.pos += end
			continue
		}
		r, n := utf8.DecodeRuneInString(l.src[l.pos:])
		if !unicode.IsSpace(r) && r != '\uFEFF' {
			return
		}
		l.pos += n
	}
}

var symbols = [...]string{"==", "!=", "<>", "<=", ">=", "=", "<", ">", "(", ")", ",", ".", "*", "{", "}", "+", "-", ";"}

func (l *lexer) symbol(c rune, size int) {
	start := l.pos
	for _, s := range symbols {
		if strings.HasPrefix(l.src[l.pos:], s) {
			l.pos += len(s)
			l.add(tokSymbol, s, start)
			return
		}
	}
	l.pos += size
	hint, meant := "write names with such characters in `backticks` and texts in 'quotes'", ""
	switch c {
	case '&', '|':
		hint, meant = "conditions are joined with AND and OR", "AND"
		if c == '|' {
			meant = "OR"
		}
		if l.pos < len(l.src) && l.src[l.pos] == byte(c) {
			l.pos++
		}
	case '!':
		hint = "a condition is negated with NOT"
	case '‘', '’', '“', '”', '„':
		hint = "texts stand in straight quotes: 'text'"
		// What is between them is the text that was meant.
		if n := strings.IndexAny(l.src[l.pos:lineEnd(l.src, l.pos)], "‘’“”"); n >= 0 {
			l.pos += n + len("”")
		}
	case utf8.RuneError:
		hint = "the query must be valid UTF-8"
	}
	l.found.Fail(Span{start, l.pos}, "unexpected character "+quoteRune(c), hint)
	l.add(tokBad, meant, start)
}

// text reads a text in quotes. A doubled quote and \' \" \\ stand for the
// character itself; any other backslash stays, because LIKE has its own escapes.
func (l *lexer) text(quote byte) {
	start := l.pos
	var b strings.Builder
	for i := start + 1; i < len(l.src); i++ {
		c := l.src[i]
		switch {
		case c == '\\' && i+1 < len(l.src) && (l.src[i+1] == '\'' || l.src[i+1] == '"' || l.src[i+1] == '\\'):
			i++
			b.WriteByte(l.src[i])
		case c == quote && i+1 < len(l.src) && l.src[i+1] == quote:
			i++
			b.WriteByte(quote)
		case c == quote:
			l.pos = i + 1
			l.add(tokString, b.String(), start)
			if !utf8.ValidString(b.String()) {
				l.found.Fail(Span{start, l.pos}, "the text is not valid UTF-8", "the query must be valid UTF-8")
			}
			return
		default:
			b.WriteByte(c)
		}
	}
	l.pos = lineEnd(l.src, start)
	l.found.unclosed = true
	l.found.Fail(Span{start, start + 1}, "the text is not closed", "end it with "+string(quote))
	l.add(tokBad, "", start)
}

// quotedName reads a name in backticks, where a doubled backtick stands for
// itself, or in brackets.
func (l *lexer) quotedName(open byte) {
	start, closing := l.pos, byte('`')
	if open == '[' {
		closing = ']'
	}
	var b strings.Builder
	for i := start + 1; i < len(l.src) && l.src[i] != '\n'; i++ {
		c := l.src[i]
		if c == closing {
			if c == '`' && i+1 < len(l.src) && l.src[i+1] == '`' {
				i++
				b.WriteByte(c)
				continue
			}
			l.pos = i + 1
			if strings.TrimSpace(b.String()) == "" {
				l.found.Fail(Span{start, l.pos}, "the name is empty", "write the name of a type or field")
				l.add(tokBad, "", start)
				return
			}
			l.add(tokQuoted, b.String(), start)
			return
		}
		b.WriteByte(c)
	}
	l.pos = lineEnd(l.src, start)
	l.found.unclosed = true
	l.found.Fail(Span{start, start + 1}, "the name is not closed", "end it with "+string(closing))
	l.add(tokBad, "", start)
}

// number reads a number, or a duration when a unit follows at once.
func (l *lexer) number() {
	start := l.pos
	if n := len(time.DateOnly); len(l.src)-start >= n {
		_, isDate := Day(l.src[start : start+n])
		if rest := l.src[start+n:]; isDate && (rest == "" || !IsDigit(rest[0])) {
			l.pos += n
			l.found.Fail(Span{start, l.pos}, "a date stands in quotes", "write it as date('"+l.src[start:l.pos]+"')")
			l.add(tokBad, "", start)
			return
		}
	}
	l.digits()
	whole := l.pos
	if l.pos+1 < len(l.src) && l.src[l.pos] == '.' && IsDigit(l.src[l.pos+1]) {
		l.pos++
		l.digits()
	}
	if rest := l.src[l.pos:]; len(rest) > 1 && (rest[0] == 'e' || rest[0] == 'E') {
		i := 1
		if rest[i] == '+' || rest[i] == '-' {
			i++
		}
		if i < len(rest) && IsDigit(rest[i]) {
			l.pos += i
			l.digits()
		}
	}
	end := l.pos
	for l.pos < len(l.src) {
		r, n := utf8.DecodeRuneInString(l.src[l.pos:])
		if !isNamePart(r) {
			break
		}
		l.pos += n
	}
	switch suffix := l.src[end:l.pos]; {
	case suffix == "":
		l.add(tokNumber, l.src[start:end], start)
	case end == whole && len(suffix) == 1 && strings.ContainsAny(suffix, "dwmyhDWMYH"):
		l.add(tokDuration, strings.ToLower(l.src[start:l.pos]), start)
	default:
		l.found.Fail(Span{start, l.pos}, "'"+Clip(l.src[start:l.pos])+"' is neither a number nor a duration",
			"durations are digits with d, w, m (months), y or h, as in 7d; names that begin with a digit stand in `backticks`")
		l.add(tokBad, "", start)
	}
}

func (l *lexer) digits() {
	for l.pos < len(l.src) && IsDigit(l.src[l.pos]) {
		l.pos++
	}
}

// IsDigit reports whether a byte is a digit of ASCII.
func IsDigit(c byte) bool { return '0' <= c && c <= '9' }

func isNameStart(r rune) bool { return r == '_' || unicode.IsLetter(r) }

// isNamePart takes marks as well: in NFD, and in many scripts, letters carry
// them.
func isNamePart(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

func lineEnd(src string, from int) int {
	if i := strings.IndexByte(src[from:], '\n'); i >= 0 {
		return from + i
	}
	return len(src)
}
