package refs

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// target steps over the ']' at f.at, and over the target of the link whose label ends there:
// [label](target), or [label]: target at the start of a line. One that is not closed is
// stepped over as well, so that no part of a text is read twice.
func (f *finder) target() {
	text := f.text
	f.at++
	if f.at == len(text) {
		return
	}
	switch {
	case text[f.at] == '(':
		f.at = targetEnd(text, f.at+1, ')')
	case text[f.at] == ':' && strings.HasPrefix(strings.TrimLeft(text[f.lineStart:min(len(text), f.lineStart+4)], " "), "["):
		start := f.at + 1
		for start < len(text) && (text[start] == ' ' || text[start] == '\t') {
			start++
		}
		f.at = targetEnd(text, start, 0)
	}
}

// targetEnd returns where the target of a link ends that begins at a byte offset: at a
// blank, at a closing byte that it has not opened, or with the <> around it.
func targetEnd(text string, at int, closing byte) int {
	if at < len(text) && text[at] == '<' {
		for at < len(text) && text[at] != '>' && text[at] != '\n' {
			at++
		}
		return at
	}
	depth := 0
	for ; at < len(text) && text[at] > ' '; at++ {
		switch {
		case closing == 0:
		case text[at] == '(':
			depth++
		case text[at] == closing && depth == 0:
			return at
		case text[at] == closing:
			depth--
		}
	}
	return at
}

// url steps over the ':' at f.at, and over scheme://… to its end.
func (f *finder) url() {
	at := f.at
	f.at++
	if at == 0 || !isLetter(f.text[at-1]) || !strings.HasPrefix(f.text[at:], "://") {
		return
	}
	for f.at < len(f.text) {
		if c := f.text[f.at]; c < utf8.RuneSelf { // nearly always
			if urlEnd[c] {
				return
			}
			f.at++
			continue
		}
		r, size := utf8.DecodeRuneInString(f.text[f.at:])
		if unicode.IsSpace(r) || strings.ContainsRune("，。、（）「」", r) {
			return
		}
		f.at += size
	}
}

// urlEnd marks the bytes of ASCII that end a URL in a text.
var urlEnd = [utf8.RuneSelf]bool{
	' ': true, '\t': true, '\n': true, '\v': true, '\f': true, '\r': true, '<': true, '>': true, '"': true, '`': true,
}
