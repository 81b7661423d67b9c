package prompt

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// Ellipsis ends a text that was cut. It counts as one character.
const Ellipsis = "…"

// Chars is the length of a text in the unit of budgets.
func Chars(s string) (n int) {
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
			_, size := utf8.DecodeRuneInString(s[at:])
			at += size
			n++
		}
		s = s[at:]
	}
	return n + utf8.RuneCountInString(s)
}

// Cut shortens a text to at most limit code points, the ellipsis included, on a
// boundary of graphemes: no letter loses its accent, no emoji falls apart.
// A limit below 1 gives "".
func Cut(s string, limit int) (text string, cut bool) {
	if len(s) <= limit || Chars(s) <= limit {
		return s, false
	}
	if limit < 1 {
		return "", true
	}
	return s[:boundaryBefore(s, runeOffset(s, limit-1))] + Ellipsis, true
}

// Beginning returns the first n code points of a text, or all.
func Beginning(s string, n int) string { return s[:runeOffset(s, n)] }

// runeOffset returns the byte offset of the n-th code point of s.
func runeOffset(s string, n int) int {
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

// boundaryBefore returns the last grapheme boundary of s at or before at.
func boundaryBefore(s string, at int) int {
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

// beyondBMP counts the code points of s that take two UTF-16 code units: in
// UTF-8 they are those that begin with a byte from 0xF0 on.
func beyondBMP(s []byte) (n int) {
	for ; len(s) >= 8; s = s[8:] {
		x := binary.LittleEndian.Uint64(s)
		x &= 0x8080808080808080
		if x != 0 { // most of a prompt is ASCII
			x = binary.LittleEndian.Uint64(s)
			n += bits.OnesCount64(x & (x << 1) & (x << 2) & (x << 3) & 0x8080808080808080)
		}
	}
	for _, c := range s {
		if c >= 0xF0 {
			n++
		}
	}
	return n
}
