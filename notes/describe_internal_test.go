package notes

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestREL14_TagsAreComparedBeforeTheirTurn describes a note of a text with very many tags: that takes no more memory than
// for one with few, since nothing of them is worked out in the turn of the writer, and gives what joining them gives.
func TestREL14_TagsAreComparedBeforeTheirTurn(t *testing.T) {
	text := func(tags int) *reading {
		var b strings.Builder
		for i := range tags {
			fmt.Fprintf(&b, "#tag%d #Tag%d ", i, i)
		}
		return read(b.String())
	}
	few, many := text(2), text(9000)
	n := new(Note)
	needs := func(r *reading) float64 { return testing.AllocsPerRun(5, func() { n.describe(r, nil, 100) }) }
	if a, b := needs(few), needs(many); a != b {
		t.Errorf("few tags are described with %v allocations, many with %v", a, b)
	}
	if want := union(nil, many.Tags); !slices.Equal(n.Tags, want) || len(want) != 9000 {
		t.Errorf("%d tags of %d", len(n.Tags), len(want))
	}
}
