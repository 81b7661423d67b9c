package text

import "github.com/kljensen/snowball/english"

// StemEnglish returns the stem of an English word (Porter2). A word in another
// script, or with a digit in it, is its own stem.
func StemEnglish(word string) string {
	if len(word) < 3 {
		return word
	}
	for i := range len(word) {
		if c := word[i]; (c < 'a' || c > 'z') && c != '\'' {
			return word
		}
	}
	if !mayHaveEnding(word) {
		return word
	}
	return english.Stem(word, false)
}

// mayHaveEnding reports whether Porter2 might take an ending off a word of three or
// more letters. The endings that it knows end in few ways.
func mayHaveEnding(word string) bool {
	if word[0] == '\'' {
		return true
	}
	before := word[len(word)-2]
	switch word[len(word)-1] {
	case '\'', 's', 'e', 'y':
		return true
	case 'd', 'r': // ed, er, or
		return before == 'e' || before == 'o'
	case 'g', 't': // ing, ant, ent
		return before == 'n'
	case 'l': // al, ful, ll
		return before == 'a' || before == 'u' || before == 'l'
	case 'i': // enci, ogi, bli, iti
		return before == 'c' || before == 'g' || before == 'l' || before == 't'
	case 'n': // ion
		return before == 'o'
	case 'm': // ism
		return before == 's'
	case 'c': // ic
		return before == 'i'
	}
	return false
}

// KeepWord is the stem of a word when there is no stemming.
func KeepWord(word string) string { return word }
