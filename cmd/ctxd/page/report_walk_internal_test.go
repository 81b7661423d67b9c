package page

import (
	"bytes"
	"testing"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/prompt"
)

// A report draws every item exactly once, whatever its edges are.
func TestCTX32_TheWalkIsDrawnWhole(t *testing.T) {
	items := []prompt.Item{
		{Kind: prompt.KindEntity, ID: "a", Title: "Alice", Chars: 1503},
		{Kind: prompt.KindEntity, ID: "b", Title: "Bo", Chars: 20, Depth: 1, Cut: &prompt.Extent{Kept: 3, Of: 40, Unit: prompt.Lines}, Via: []prompt.Edge{{From: "a", Field: "boss"}, {From: "b", Field: "mentor"}, {From: "c", Field: "x"}, {From: "c", Field: "y"}, {From: "c", Field: "z"}}},
		{Kind: prompt.KindEntity, ID: "c", Title: "Core", Chars: 7, Depth: 2, Via: []prompt.Edge{{From: "b", Field: "team"}}},
		{Kind: prompt.KindEntity, ID: "d", Title: "Dora", Chars: 8, Depth: 1, Via: []prompt.Edge{{From: "gone", Field: "of"}}},
	}
	var b bytes.Buffer
	term.DrawTree(&term.Screen{Writer: &b}, "", walkOf(items))
	got := b.String()
	want := `@Alice  1,503
└─ boss → @Bo  20  3 of 40 lines
   │  also via @Bo.mentor ↺, @Core.x ↺, @Core.y ↺, @Core.z ↺
   └─ team → @Core  7
of → @Dora  8
`
	if got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}
