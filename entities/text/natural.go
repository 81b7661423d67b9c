package text

import (
	"cmp"
	"strings"
)

// CompareNatural orders two names as people do: runs of digits by their value
// (Item 9 before Item 10), letters without case, and where that makes no
// difference by code point, so that only equal texts compare equal.
//
// Names of ASCII are compared as they are, without memory: searches order equals by it.
func CompareNatural(a, b string) int {
	var c int
	if isASCII(a) && isASCII(b) {
		c = compareLowered(a, b)
	} else {
		c = compareLowered(Fold(a), Fold(b))
	}
	if c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// lower folds a character of ASCII.
func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// compareLowered compares two names in natural order that are folded but for the case of
// letters of ASCII.
func compareLowered(a, b string) int {
	for a != "" && b != "" {
		if isDigit(a[0]) && isDigit(b[0]) {
			na, restA := digits(a)
			nb, restB := digits(b)
			// Without leading zeros the longer number is the greater one, and
			// numbers of one length compare as texts: no overflow.
			if c := cmp.Compare(len(na), len(nb)); c != 0 {
				return c
			}
			if c := strings.Compare(na, nb); c != 0 {
				return c
			}
			a, b = restA, restB
			continue
		}
		// Bytes of UTF-8 compare in the order of the code points.
		if c := cmp.Compare(lower(a[0]), lower(b[0])); c != 0 {
			return c
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

// digits splits s behind its leading run of digits and drops leading zeros.
func digits(s string) (number, rest string) {
	end := 0
	for end < len(s) && isDigit(s[end]) {
		end++
	}
	return strings.TrimLeft(s[:end], "0"), s[end:]
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
