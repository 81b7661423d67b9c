package embed_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/embed"
)

// The vocabulary finds what a search through the list of all tokens finds, of equal tokens the last one.
func TestSRCH20_TheLongestTokenIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tokens := rapid.SliceOfN(rapid.StringMatching(`(##)?[ab]{0,3}|#`), 1, 60).Draw(t, "tokens")
		word := rapid.StringMatching(`[abc]{1,6}|#`).Draw(t, "word")
		continues := rapid.Bool().Draw(t, "continues")
		want, length := int32(0), 0
		for i, token := range tokens {
			piece, isTail := token, len(token) > 2 && strings.HasPrefix(token, "##")
			if isTail {
				piece = token[2:]
			}
			if isTail == continues && len(piece) > 0 && len(piece) >= length && strings.HasPrefix(word, piece) {
				want, length = int32(i), len(piece)
			}
		}
		id, n, err := embed.LongestPiece(tokens, continues, word)
		if err != nil || id != want || n != length {
			t.Fatalf("token %d of %d bytes, %v; want %d of %d", id, n, err, want, length)
		}
	})
}
