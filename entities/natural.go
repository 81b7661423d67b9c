package entities

import (
	"cmp"
	"strings"
)

// CompareNatural orders two names as people do: runs of digits by their value
// (Item 9 before Item 10), letters without case, and where that makes no
// difference by code point, so that only equal texts compare equal.
func CompareNatural(a, b string) int {
	if c := compareFolded(Fold(a), Fold(b)); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

// compareFolded compares two folded names in natural order.
func compareFolded(a, b string) int {
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
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
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
