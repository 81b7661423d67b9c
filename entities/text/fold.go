package text

import (
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold returns the form under which names are compared: NFC, case folded.
// Two names are the same name when their folds are equal.
func Fold(s string) string {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= 0x80 || 'A' <= c && c <= 'Z' {
			if c >= 0x80 {
				return norm.NFC.String(cases.Fold().String(norm.NFC.String(s)))
			}
			return foldASCII(s)
		}
	}
	return s
}

// foldASCII lowers a text that may still hold a non-ASCII byte further on, in
// which case it takes the long way.
func foldASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		switch {
		case c >= 0x80:
			return norm.NFC.String(cases.Fold().String(norm.NFC.String(s)))
		case 'A' <= c && c <= 'Z':
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// AppendFold appends Name(s) to b.
func AppendFold(b []byte, s string) []byte {
	from := len(b)
	b = append(b, s...)
	for i, c := range b[from:] {
		switch {
		case c >= 0x80:
			return append(b[:from], Fold(s)...)
		case 'A' <= c && c <= 'Z':
			b[from+i] = c + 'a' - 'A'
		}
	}
	return b
}
