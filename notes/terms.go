package notes

// Terms returns the words of a query that a search looks for, folded: a note is
// found when a word of it begins with one of them.
func Terms(query string) []string { return searchTerms(query) }
