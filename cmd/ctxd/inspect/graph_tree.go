package inspect

import (
	"slices"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/graph"
)

// drawSubgraph draws the tree of the walk: each record hangs from the one that
// it was first reached from, with the edges between them. Edges that the tree
// has no place for follow it.
func drawSubgraph(s *term.Screen, sub *graph.Subgraph) {
	if len(sub.Nodes) == 0 {
		return
	}
	t := newWalkTree(sub)
	root := t.branch(0)
	root.Label = vertexLabel(sub.Nodes[0], term.Strong)
	term.DrawTree(s, "", []*term.Branch{root})
	drawRest(s, sub, t.rest.list)
	s.Say()
	s.Say(term.Styled(term.Faint,
		term.Count(len(sub.Nodes), "record")+", "+term.Count(len(sub.Edges), "edge")+
			"; → refers to, ← is referenced by"))
	if sub.Truncated {
		s.Say(term.Styled(term.Warn, "there is more than could be read"))
	}
}

// walkTree is a part of the graph as a tree. Its slices are by the positions in Nodes.
type walkTree struct {
	*graph.Subgraph
	below [][]int    // what hangs from a record
	edges [][]string // between a record and the one that it hangs from: "team ←"
	rest  strays
}

func newWalkTree(sub *graph.Subgraph) *walkTree {
	t := &walkTree{Subgraph: sub, below: make([][]int, len(sub.Nodes)), edges: make([][]string, len(sub.Nodes))}
	index := graph.IndexOf(sub)
	above := make([]int, len(sub.Nodes)) // what a record hangs from
	for i := range above {
		above[i] = -1
	}
	for _, e := range sub.Edges {
		from, to, ok := index.Ends(e)
		if !ok {
			continue
		}
		over, under, arrow := from, to, "→"
		if sub.Nodes[from].Depth > sub.Nodes[to].Depth {
			over, under, arrow = to, from, "←"
		}
		if sub.Nodes[over].Depth != sub.Nodes[under].Depth-1 || above[under] >= 0 && above[under] != over {
			t.rest.add(from, to, e.Field)
			continue
		}
		above[under] = over
		t.edges[under] = append(t.edges[under], e.Field+" "+arrow)
	}
	for i, over := range above {
		if over >= 0 {
			t.below[over] = append(t.below[over], i)
		}
	}
	return t
}

// branch returns what stands below a record: its fields, and the records that hang from it.
// Of a dozen and more, those that the same edges lead to and that are of one type stand
// together.
func (t *walkTree) branch(i int) *term.Branch {
	b := &term.Branch{Children: fieldBranches(t.Nodes[i])}
	type key struct{ edges, kind, typ string }
	keyOf := func(c int) key { return key{strings.Join(t.edges[c], ", "), t.Nodes[c].Kind, t.Nodes[c].Type} }
	alike := make(map[key][]int)
	if len(t.below[i]) >= graph.CrowdedLayer {
		for _, c := range t.below[i] {
			if len(t.below[c]) == 0 && len(t.Nodes[c].Fields) == 0 {
				alike[keyOf(c)] = append(alike[keyOf(c)], c)
			}
		}
	}
	for _, c := range t.below[i] {
		group := alike[keyOf(c)]
		switch {
		case len(group) < graph.MinGroupedNodes || !slices.Contains(group, c):
			child := t.branch(c)
			child.Label = append(term.Line{term.Styled(term.Faint, strings.Join(t.edges[c], ", ")), term.Text(" ")},
				vertexLabel(t.Nodes[c], term.Accent)...)
			b.Children = append(b.Children, child)
		case group[0] == c:
			b.Children = append(b.Children, t.together(group))
		}
	}
	return b
}

// together returns a branch for records that differ by their names alone.
func (t *walkTree) together(group []int) *term.Branch {
	first := &t.Nodes[group[0]]
	edges := slices.Clone(t.edges[group[0]])
	of := term.Count(len(group), "note")
	if first.Kind == graph.Note.String() {
		for i, e := range edges { // that a note links is all that the name of this edge says
			edges[i] = strings.TrimPrefix(e, graph.WikiLink+" ")
		}
	} else {
		of = term.Number(len(group)) + " of type " + first.Type
	}
	group = slices.Clone(group)
	slices.SortStableFunc(group, func(a, b int) int { return text.CompareNatural(t.Nodes[a].Name, t.Nodes[b].Name) })
	b := &term.Branch{Label: term.Line{term.Styled(term.Faint, strings.Join(edges, ", ")), term.Text(" " + of)}}
	for _, i := range group {
		b.Members = append(b.Members, vertexLabel(t.Nodes[i], term.Accent)[:1])
	}
	return b
}
