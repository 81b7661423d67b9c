package text

import "unicode"

// IsSpaceless reports whether a character is of a script of which each character may begin a word.
func IsSpaceless(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao,
		unicode.Khmer, unicode.Myanmar)
}

// IsUnspacedScript reports whether a character is of a script that puts no blanks between words.
func IsUnspacedScript(r rune) bool {
	return r >= 0x0E00 && (IsSpaceless(r) || unicode.Is(unicode.Hangul, r))
}
