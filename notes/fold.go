package notes

import "github.com/ctxd/ctxd/entities"

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
