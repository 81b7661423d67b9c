package text

import (
	"unicode"
	"unicode/utf8"
)

//go:generate go run chars_gen_ignorable.go

// IsBreak reports the characters that end a line for a reader, though not all
// of them for every program.
func IsBreak(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029':
		return true
	}
	return false
}

// IsHidden reports a character that shows nothing, so that a model may read the
// text as if it weren't there: default-ignorable, format and control characters.
func IsHidden(r rune) bool {
	if unicode.IsControl(r) {
		return r != '\t' && !IsBreak(r)
	}
	return unicode.In(r, defaultIgnorable, unicode.Cf)
}

// AfterHidden returns the byte offset of the first character of s at or after at
// that is not hidden, len(s) if there is none.
func AfterHidden(s string, at int) int {
	for at < len(s) {
		if c := s[at]; c >= ' ' && c < 0x7f {
			return at
		}
		r, size := utf8.DecodeRuneInString(s[at:])
		if !IsHidden(r) {
			return at
		}
		at += size
	}
	return len(s)
}

// BeforeHidden returns the byte offset of the last character of s before at that is
// not hidden, -1 if there is none.
func BeforeHidden(s string, at int) int {
	for at > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
		if !IsHidden(r) {
			return at
		}
	}
	return -1
}

// brailleBlank is the one character that is shown as a blank and is neither white
// space nor hidden.
const brailleBlank = '\u2800'

// IsIndent reports what may stand before the first visible character of a line:
// blanks and hidden characters.
func IsIndent(r rune) bool {
	if IsBreak(r) {
		return false
	}
	return unicode.IsSpace(r) || r == brailleBlank || IsHidden(r)
}
