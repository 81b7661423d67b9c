package inspect

import (
	"strings"
	"testing"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/graph"
)

func TestInspectGraph_NamesCantBreakTheDrawing(t *testing.T) {
	sub := &graph.Subgraph{
		Nodes: []graph.Vertex{{ID: "a", Kind: "entity", Name: "A \"quoted\" \\ name\n#1", Type: "T"}, {ID: "n", Kind: "note", Name: "<b>", Depth: 1}},
		Edges: []graph.Arc{{From: "a", To: "n", Field: `f"x`}, {From: "a", To: "a", Field: "self"}},
	}
	if got := drawn(0, func(s *term.Screen) { drawSubgraph(s, sub) }); !strings.Contains(got, `└─ f"x → [[<b>]]`) || !strings.Contains(got, "self →  itself") || strings.Contains(got, "name\n#1") {
		t.Errorf("tree:\n%s", got)
	}
}
