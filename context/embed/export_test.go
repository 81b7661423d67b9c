package embed

// Tokens gives the tokens of a text, for comparison with the reference.
func (s *Static) Tokens(text string) []int32 {
	ids, _ := s.vocab.appendTokens([]int32{}, nil, text)
	return ids
}
