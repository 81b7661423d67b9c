package cites

import (
	"fmt"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/graph"
)

// Drawable is the graph as package graph draws it: conversations on the left, notes on the right.
func (g *Graph) Drawable() *graph.Subgraph {
	out := &graph.Subgraph{Truncated: g.More}
	for depth, kind := range []string{turn.KindConversation, turn.KindNote} {
		for _, n := range g.Nodes {
			if n.Kind != kind {
				continue
			}
			v := graph.Vertex{ID: n.ID, Kind: kind, Name: n.Title, Depth: depth}
			switch {
			case n.Title == "" && kind == turn.KindNote:
				v.Name = "a note that is gone"
			case n.Title == "":
				v.Name = "untitled"
			}
			if kind == turn.KindConversation {
				v.Type = kind
			}
			out.Nodes = append(out.Nodes, v)
		}
	}
	for _, e := range g.Edges {
		out.Edges = append(out.Edges, graph.Arc{
			From: e.From, To: e.To, FromKind: turn.KindConversation, ToKind: turn.KindNote, Field: fmt.Sprint("×", e.Weight),
		})
	}
	return out
}
