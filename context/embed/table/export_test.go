package table

// Tokens gives the tokens of a text, for comparison with the reference.
func (s *Static) Tokens(text string) []int32 {
	w := workspace{ids: []int32{}}
	s.vocab.appendTokens(&w, text)
	return w.ids
}
