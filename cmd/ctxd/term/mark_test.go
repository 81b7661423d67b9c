package term_test

import (
	"slices"
	"testing"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

func TestMark_RangesAreUTF16(t *testing.T) {
	got := term.Mark("𝛼 drift", [][2]int{{3, 8}, {6, 7}, {40, 50}})
	want := term.Line{term.Text("𝛼 "), term.Styled(term.Marked, "drift"), term.Text("")}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
