package text

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// appendFolded appends the form of a word under which it is found: NFKC, case
// folded, without the accents of Latin, Greek and Cyrillic letters and the
// vowel points of Hebrew and Arabic. Marks that make another letter of one, as
// in Hindi and Japanese, stay.
func appendFolded(b []byte, word string) []byte {
	from := len(b)
	b, ok := appendClassed(b, word)
	if ok {
		return b
	}
	return appendWhole(b[:from], word)
}

// appendWhole is appendFolded for any word: what a character becomes may depend on others.
func appendWhole(b []byte, word string) []byte {
	from := len(b)
	b, _ = strip(b, decompose(word))
	return append(b[:from], norm.NFC.Bytes(b[from:])...)
}

// decompose returns the compatibility decomposition of a word without case: each letter with
// its marks behind it.
func decompose(word string) string {
	return norm.NFD.String(cases.Fold().String(norm.NFKC.String(word)))
}

// strip appends a decomposed word without what is not compared, and reports whether marks
// that follow are dropped.
func strip(b []byte, decomposed string) (_ []byte, bare bool) {
	for _, r := range decomposed {
		switch {
		case unicode.Is(unicode.Mn, r):
			if bare && !unicode.Is(unicode.Devanagari, r) || isPoint(r) {
				continue
			}
		case r == 'ـ' || unicode.Is(unicode.Cf, r): // the stretched line of Arabic, what is not seen
			continue
		case r == '’':
			r = '\''
		default:
			bare = unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic)
		}
		if plain, ok := plainLetters[r]; ok {
			b = append(b, plain...)
			continue
		}
		b = utf8.AppendRune(b, r)
	}
	return b, bare
}

// plainLetters are letters with strokes and ligatures, which do not decompose.
var plainLetters = map[rune]string{
	'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th", 'æ': "ae", 'œ': "oe", 'ı': "i", 'ħ': "h", 'ŧ': "t",
}

// isPoint reports whether a mark is a vowel point or an accent of Hebrew or
// Arabic, or the hamza and madda that a letter may be written without.
func isPoint(r rune) bool {
	return 0x0591 <= r && r <= 0x05C7 || 0x0610 <= r && r <= 0x061A || 0x064B <= r && r <= 0x065F ||
		r == 0x0670 || 0x06D6 <= r && r <= 0x06ED
}

// inPairs reports whether a character is of a script that is written without
// blanks between words, or, as Hangul, with endings that stick to them.
func inPairs(r rune) bool {
	return r >= 0x0E00 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Bopomofo) || r == 'ー' || r == 'ｰ') &&
		!unicode.IsMark(r)
}

// isJoining reports the vowels and final consonants of decomposed Hangul: with
// the consonant before them they are one character.
func isJoining(r rune) bool { return 0x1160 <= r && r <= 0x11FF || 0xD7B0 <= r && r <= 0xD7FB }

// isVoiced reports the half-width signs that voice the character before them.
func isVoiced(r rune) bool { return r == 'ﾞ' || r == 'ﾟ' }
