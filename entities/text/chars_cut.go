package text

// chars_*.go know of characters what a prompt has to: how many a text has in the unit of
// budgets, where it may be cut, and which characters end a line or show nothing. All functions
// are linear in the length of what they look at.

import (
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// Ellipsis ends a text that was cut. It counts as one character.
const Ellipsis = "…"

// CountChars is the length of a text in the unit of budgets.
func CountChars[Text string | []byte](s Text) (n int) {
	for len(s) >= 8 {
		word := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		if word&0x8080808080808080 == 0 { // most of a prompt is ASCII
			n += 8
			s = s[8:]
			continue
		}
		at := 0
		for at < 8 {
			_, size := utf8.DecodeRuneInString(string(s[at:min(len(s), at+utf8.UTFMax)]))
			at += size
			n++
		}
		s = s[at:]
	}
	return n + utf8.RuneCountInString(string(s))
}

// Truncate shortens a text to at most limit code points, the ellipsis included, on a
// boundary of graphemes: no letter loses its accent, no emoji falls apart.
// A limit below 1 gives "".
func Truncate(s string, limit int) (text string, cut bool) {
	if len(s) <= limit || CountChars(s) <= limit {
		return s, false
	}
	if limit < 1 {
		return "", true
	}
	return s[:BoundaryBefore(s, CharOffset(s, limit-1))] + Ellipsis, true
}

// Prefix returns the first n code points of a text, or all.
func Prefix(s string, n int) string { return s[:CharOffset(s, n)] }

// CharOffset returns the byte offset of the n-th code point of s.
func CharOffset(s string, n int) int {
	if len(s) <= n {
		return len(s)
	}
	for at := range s {
		if n == 0 {
			return at
		}
		n--
	}
	return len(s)
}

// BoundaryBefore returns the last grapheme boundary of s at or before at.
func BoundaryBefore(s string, at int) int {
	if at >= len(s) || plainBoundary(s, at) {
		return min(at, len(s))
	}
	// Between two plain ASCII characters there is always a boundary: begin
	// there and go on by graphemes.
	start := at
	for start > 0 && !plainBoundary(s, start) {
		start--
	}
	last := start
	for g := graphemes.FromString(s[start:]); g.Next(); {
		if start+g.End() > at {
			break
		}
		last = start + g.End()
	}
	return last
}

// plainBoundary reports whether at lies between two ASCII characters that
// never belong together.
func plainBoundary(s string, at int) bool {
	if at <= 0 {
		return true
	}
	before, after := s[at-1], s[at]
	return before < utf8.RuneSelf && after < utf8.RuneSelf && (before != '\r' || after != '\n')
}
