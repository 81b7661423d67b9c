package embed_test

import (
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/embed"
)

var _ = []embed.Embedder{(*embed.StaticTable)(nil), (*embed.Runner)(nil), (*embed.Endpoint)(nil)}

func TestClipKeepsCharactersWhole(t *testing.T) {
	for _, c := range []struct {
		text string
		size int
	}{
		{"", 0},
		{strings.Repeat("x", embed.MaxText), embed.MaxText},
		{strings.Repeat("x", embed.MaxText+1), embed.MaxText},
		{strings.Repeat("x", embed.MaxText-1) + "é", embed.MaxText - 1},
		{strings.Repeat("x", embed.MaxText-3) + "😀", embed.MaxText - 3},
	} {
		if got := embed.Clip(c.text); len(got) != c.size || !strings.HasPrefix(c.text, got) {
			t.Errorf("%d bytes are cut to %d, want %d", len(c.text), len(got), c.size)
		}
	}
}
