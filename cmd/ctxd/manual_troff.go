package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// manLineWidth is how long a line of the source is, so that it can be read.
const manLineWidth = 76

// prose writes a text of several paragraphs.
func (w *manWriter) prose(s string) {
	for part := range strings.SplitSeq(s, "\n\n") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		w.line(".PP")
		w.paragraph(part)
	}
}

// paragraph writes a text that troff fills, each sentence on a line of its own, as its
// rules want.
func (w *manWriter) paragraph(s string) {
	s = strings.TrimSpace(s)
	if s == "" {
		return
	}
	words, line := strings.Fields(s), ""
	flush := func() {
		if line != "" {
			w.line("%s", safeTroffLine(troffText(line)))
		}
		line = ""
	}
	for i, word := range words {
		if line != "" && len(troffText(line+" "+word)) > manLineWidth {
			flush()
		}
		if line != "" {
			line += " "
		}
		line += word
		if i+1 < len(words) && endsSentence(word) {
			flush()
		}
	}
	flush()
}

// endsSentence reports whether troff takes a word at the end of a line for the end of a
// sentence.
func endsSentence(word string) bool {
	word = strings.TrimRight(word, `"')]*`)
	return strings.HasSuffix(word, ".") || strings.HasSuffix(word, "!") || strings.HasSuffix(word, "?")
}

// troffText writes prose. Words that begin with a hyphen are flags, which one copies.
func troffText(s string) string {
	words := strings.Split(s, " ")
	for i, word := range words {
		bare := strings.TrimLeft(word, `("'`)
		escaped := escapeTroff(word)
		if strings.HasPrefix(bare, "-") || strings.ContainsAny(bare, "/=_") {
			escaped = strings.ReplaceAll(escaped, "-", `\-`)
		}
		if len(word) > manLineWidth/2 { // a list without blanks, which may be broken behind a comma
			escaped = strings.ReplaceAll(escaped, ",", `,\:`)
		}
		words[i] = escaped
	}
	return strings.Join(words, " ")
}

// troffCode writes what one types: each character as it is.
func troffCode(s string) string { return strings.ReplaceAll(escapeTroff(s), "-", `\-`) }

// troffEscapes are the characters that mean something to troff, or that it prints in another
// form.
var troffEscapes = map[rune]string{
	'\\': `\e`, '\'': `\(aq`, '`': `\(ga`, '^': `\(ha`, '~': `\(ti`, '"': `\(dq`, '\t': "    ",
}

func escapeTroff(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch known := troffEscapes[r]; {
		case known != "":
			b.WriteString(known)
		case r == utf8.RuneError || unicode.IsControl(r):
			b.WriteByte('?')
		case r >= utf8.RuneSelf:
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// safeTroffLine keeps a line from being taken for a request.
func safeTroffLine(line string) string {
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		return `\&` + line
	}
	return line
}

// quoteTroff writes an argument of a macro.
func quoteTroff(s string) string { return `"` + troffCode(s) + `"` }

func upperFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}
