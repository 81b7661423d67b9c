package search

// CountTokens estimates the tokens of a text.
func CountTokens(text string) int { return countTokens(text) }
