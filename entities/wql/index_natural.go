package wql

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/wql/syntax"
)

// naturalPrefix returns the part of a text that has a natural key of its own: not
// more than most bytes, and no number or composed letter cut in two.
func naturalPrefix(s string, most int) (part string, cut bool) {
	if len(s) <= most {
		return s, false
	}
	end := most
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	if !isASCII(s[:end]) || s[end] >= utf8.RuneSelf {
		end = max(norm.NFC.LastBoundary([]byte(s[:end])), 0)
	}
	for end > 0 && syntax.IsDigit(s[end-1]) {
		end--
	}
	return s[:end], true
}

// appendNaturalKey appends the key of a text whose order by bytes is the natural
// order of names without case (entities.CompareNatural), so that sorting n rows
// folds each once and not at each of n log n comparisons. A run of digits
// becomes a digit, the number of digits without leading zeros, and these digits.
func appendNaturalKey(key []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			s = entities.Fold(s)
			break
		}
	}
	for i := 0; i < len(s); {
		c := s[i]
		if !syntax.IsDigit(c) {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			key = append(key, c)
			i++
			continue
		}
		end := i
		for end < len(s) && syntax.IsDigit(s[end]) {
			end++
		}
		digits := strings.TrimLeft(s[i:end], "0")
		n := len(digits)
		key = append(key, '0', byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
		key = append(key, digits...)
		i = end
	}
	return key
}
