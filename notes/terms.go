package notes

import "github.com/ctxd/ctxd/entities"

// Terms returns the words of a query that a search looks for, folded: a note is
// found when a word of it begins with one of them.
func Terms(query string) []string { return searchTerms(query) }

// appendFold appends entities.Fold(s).
func appendFold(b []byte, s string) []byte {
	from := len(b)
	b = append(b, s...)
	for i, c := range b[from:] {
		switch {
		case c >= 0x80:
			return append(b[:from], entities.Fold(s)...)
		case 'A' <= c && c <= 'Z':
			b[from+i] = c + 'a' - 'A'
		}
	}
	return b
}
