package embed

import "strings"

// Tokens gives the tokens of a text, for comparison with the reference.
func (s *StaticTable) Tokens(text string) []int32 {
	w := workspace{ids: []int32{}}
	s.vocab.appendTokens(&w, text)
	return w.ids
}

// Ways to add a row to a vector: as this processor does, and as all can.
var AddScaled, AddPlain = addScaled, addPlain

// LongestPiece gives the token of the longest beginning of a word, and its length.
func LongestPiece(tokens []string, continues bool, word string) (id int32, length int, err error) {
	v, err := newVocabulary([]byte(strings.Join(tokens, "\n")), len(tokens))
	if err != nil {
		return 0, 0, err
	}
	k := wordStart
	if continues {
		k = wordRest
	}
	id, length = v.longestPiece(k, []byte(word))
	return id, length, nil
}
