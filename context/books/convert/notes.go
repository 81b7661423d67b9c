package convert

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The number of a footnote stands apart from the word that it follows, as [1]: who searches for the word finds it, and who
// reads it sees no year or amount.

const (
	noteReach  = 40 // letters before a number that are looked at
	noteDigits = 3
	noteWord   = 3 // letters of a word that may have a footnote; shorter ones are units and variables: m², x²
)

// powered are longer words that a power may follow.
var powered = map[string]bool{
	"sin": true, "cos": true, "tan": true, "cot": true, "sec": true, "csc": true, "log": true, "exp": true, "det": true, "max": true,
	"min": true, "mol": true, "rad": true, "deg": true,
}

// isNote reports whether raised digits, or a sign, are the mark of a footnote by the text before them: a word, or a word with the
// sign that ends it.
func isNote(before, mark string) bool {
	if mark == "" || utf8.RuneCountInString(mark) > noteDigits || strings.Trim(mark, "0123456789*†‡§") != "" {
		return false
	}
	word := strings.TrimRight(before, ".,;:!?)]\"'”’»。，、；：！？」』")
	letters := 0
	rest := word
	for rest != "" {
		r, size := utf8.DecodeLastRuneInString(rest)
		if !unicode.IsLetter(r) && !unicode.Is(unicode.Mn, r) {
			break
		}
		letters++
		if r >= 0x2E80 { // of a script whose words have one or two
			letters = noteWord
		}
		rest = rest[:len(rest)-size]
	}
	if len(word) < len(before) {
		letters++ // a sign that ends a word is no part of a unit
	}
	return letters >= noteWord && !powered[strings.ToLower(word[len(rest):])]
}

// raisedDigits are the digits of Unicode that stand higher.
var raisedDigits = map[rune]byte{'⁰': '0', '¹': '1', '²': '2', '³': '3', '⁴': '4', '⁵': '5', '⁶': '6', '⁷': '7', '⁸': '8', '⁹': '9'}

// notesApart is a text whose footnotes are written in raised digits, with these apart from their words.
func notesApart(s string) string {
	if !strings.ContainsAny(s, "⁰¹²³⁴⁵⁶⁷⁸⁹") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		var mark []byte
		end := i
		for end < len(s) {
			r, size := utf8.DecodeRuneInString(s[end:])
			d, ok := raisedDigits[r]
			if !ok {
				break
			}
			mark = append(mark, d)
			end += size
		}
		if end == i {
			_, size := utf8.DecodeRuneInString(s[i:])
			b.WriteString(s[i : i+size])
			i += size
			continue
		}
		next, _ := utf8.DecodeRuneInString(s[end:])
		if !isWord(next) && isNote(s[max(0, i-4*noteReach):i], string(mark)) {
			b.WriteString(" [" + string(mark) + "]")
		} else {
			b.WriteString(s[i:end])
		}
		i = end
	}
	return b.String()
}
