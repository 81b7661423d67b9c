package inspect

import (
	"fmt"
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

// hub is a team with others around it: people that it names, projects that name it, and notes.
func hub(people, projects, notes int) *graph.Subgraph {
	sub := &graph.Subgraph{Nodes: []graph.Vertex{{ID: "hub", Kind: "entity", Name: "Engineering", Type: "Team"}}}
	add := func(id, kind, name, typ string, arcs ...graph.Arc) {
		sub.Nodes = append(sub.Nodes, graph.Vertex{ID: id, Kind: kind, Name: name, Type: typ, Depth: 1})
		sub.Edges = append(sub.Edges, arcs...)
	}
	for i := range people {
		id := fmt.Sprint("p", i)
		add(id, "entity", fmt.Sprint("Person ", people-i), "Person", graph.Arc{From: "hub", To: id, Field: "members"}, graph.Arc{From: id, To: "hub", Field: "team"})
	}
	for i := range projects {
		id := fmt.Sprint("j", i)
		add(id, "entity", fmt.Sprint("Project ", i), "Project", graph.Arc{From: id, To: "hub", Field: "team"})
	}
	for i := range notes {
		id := fmt.Sprint("n", i)
		add(id, "note", fmt.Sprint("Meeting ", i), "", graph.Arc{From: id, To: "hub", Field: graph.WikiLink})
	}
	add("lead", "entity", "Alice", "Person", graph.Arc{From: "hub", To: "lead", Field: "lead"})
	return sub
}

// TestCLI7_ManyNeighborsStandTogether: those of one type that the same edges lead to share a
// heading, in columns, and a link between notes is said by its arrow alone.
func TestCLI7_ManyNeighborsStandTogether(t *testing.T) {
	got := drawn(60, func(s *term.Screen) { drawSubgraph(s, hub(11, 2, 4)) })
	want := `@Engineering (Team)
├─ members →, team ← 11 of type Person
│     @Person 1   @Person 4   @Person 7   @Person 10
│     @Person 2   @Person 5   @Person 8   @Person 11
│     @Person 3   @Person 6   @Person 9
├─ team ← @Project 0 (Project)
├─ team ← @Project 1 (Project)
├─ ← 4 notes
│     [[Meeting 0]]  [[Meeting 2]]
│     [[Meeting 1]]  [[Meeting 3]]
└─ lead → @Alice (Person)

19 records, 29 edges; → refers to, ← is referenced by
`
	if got != want {
		t.Errorf("%s", got)
	}
}

// TestCLI7_SixtyNeighborsFitATerminal: each stands there once, on 24 lines of 80 columns.
func TestCLI7_SixtyNeighborsFitATerminal(t *testing.T) {
	sub := hub(22, 20, 17)
	for _, width := range []int{80, 120} {
		got := drawn(width, func(s *term.Screen) { drawSubgraph(s, sub) })
		lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
		if len(lines) > 24 {
			t.Errorf("%d lines of %d columns", len(lines), width)
		}
		for _, l := range lines {
			if term.Columns(l) > width {
				t.Errorf("%d columns: %s", width, l)
			}
		}
		for _, v := range sub.Nodes {
			name := "@" + v.Name + " "
			if v.Kind == "note" {
				name = "[[" + v.Name + "]]"
			}
			if n := strings.Count(strings.ReplaceAll(got, "\n", " \n"), name); n != 1 {
				t.Errorf("%s is there %d times in\n%s", name, n, got)
			}
		}
	}
}

// TestCLI7_FewNeighborsHaveALineEach: eleven are told from each other at a glance.
func TestCLI7_FewNeighborsHaveALineEach(t *testing.T) {
	got := drawn(80, func(s *term.Screen) { drawSubgraph(s, hub(5, 5, 0)) })
	if strings.Contains(got, "of type") || strings.Count(got, "├─ ")+strings.Count(got, "└─ ") != 11 {
		t.Errorf("%s", got)
	}
}
