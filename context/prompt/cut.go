package prompt

import (
	"encoding/binary"
	"math/bits"

	"github.com/ctxd/ctxd/entities/text"
)

// Ellipsis ends a text that was cut. It counts as one character.
const Ellipsis = text.Ellipsis

// Chars is the length of a text in the unit of budgets.
func Chars[Text string | []byte](s Text) int { return text.CountChars(s) }

// Cut is text.Truncate.
func Cut(s string, limit int) (content string, cut bool) { return text.Truncate(s, limit) }

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
