package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MarkContext is what stands before the mark of a reference, an @ or a #.
type MarkContext uint8

// What may stand before a mark. Mentions by name count behind Blank, Opening and Other; handles and
// numbers behind Blank, Opening and Unspaced. What is withheld from a reader is looked for behind all
// but Word.
const (
	AfterBlank    MarkContext = iota // or nothing: the text begins with the mark
	AfterOpening                     // punctuation behind which words begin
	AfterUnspaced                    // a script that puts no blanks between words
	AfterWord                        // a letter or a digit of any other: the mark is part of an address
	AfterAccent                      // a mark on such a letter, or on nothing
	AfterEscape                      // a backslash
	AfterOther                       // any other punctuation, and the quotes of an attribute, as in <a href="@x">
)

// opening is the punctuation behind which words begin.
const opening = "([{\"'“‘«「（，。、:;,*_~—–…|"

// openingASCII marks the bytes of opening.
var openingASCII = func() (set [utf8.RuneSelf]bool) {
	for _, r := range opening {
		if r < utf8.RuneSelf {
			set[r] = true
		}
	}
	return set
}()

// ContextOfMark returns what a text ends with, behind which a mark follows. It is the one place that
// decides this for mentions, handles and numbers. O(marks at the end of the text).
func ContextOfMark(head string) MarkContext {
	if head == "" {
		return AfterBlank
	}
	if c := head[len(head)-1]; c < utf8.RuneSelf {
		return beforeASCII(head, c)
	}
	r, size := utf8.DecodeLastRuneInString(head)
	switch {
	case unicode.IsSpace(r):
		return AfterBlank
	case unicode.IsMark(r):
		if IsUnspacedScript(baseOf(head)) {
			return AfterUnspaced
		}
		return AfterAccent
	case r == utf8.RuneError && size == 1:
		return AfterOther
	case unicode.IsLetter(r) || unicode.IsDigit(r):
		if IsUnspacedScript(r) {
			return AfterUnspaced
		}
		return AfterWord
	case strings.ContainsRune(opening, r) || IsUnspacedScript(r): // such as 〇, which is no letter
		return AfterOpening
	}
	return AfterOther
}

// beforeASCII is BeforeMark for a text that ends with a byte of ASCII.
func beforeASCII(head string, last byte) MarkContext {
	switch {
	case last == ' ' || '\t' <= last && last <= '\r':
		return AfterBlank
	case 'a' <= last|0x20 && last|0x20 <= 'z' || '0' <= last && last <= '9':
		return AfterWord
	case last == '\\':
		return AfterEscape
	case (last == '"' || last == '\'') && len(head) > 1 && head[len(head)-2] == '=':
		return AfterOther
	case openingASCII[last]:
		return AfterOpening
	}
	return AfterOther
}

// baseOf returns the character that a text ends with, without the marks on it: a kana may
// be written as two code points.
func baseOf(text string) rune {
	for {
		r, size := utf8.DecodeLastRuneInString(text)
		if !unicode.IsMark(r) || IsUnspacedScript(r) {
			return r
		}
		text = text[:len(text)-size]
	}
}
