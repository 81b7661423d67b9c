package audience

import (
	"context"

	"github.com/ctxd/ctxd/graph"
)

// Neighbors is graph.Graph.Neighbors, with fields of each entity in words if fields is
// not 0.
func (v *View) Neighbors(ctx context.Context, id string, depth int, kinds []string,
	fields int,
) (*graph.Subgraph, error) {
	sub, err := v.graph.Neighbors(ctx, id, depth, kinds)
	return v.described(ctx, sub, err, fields)
}

// Paths is graph.Graph.Paths, or Path for 0 ways.
func (v *View) Paths(ctx context.Context, from, to string, maxDepth, ways, fields int) (*graph.Subgraph, error) {
	if ways == 0 {
		sub, err := v.graph.Path(ctx, from, to, maxDepth)
		return v.described(ctx, sub, err, fields)
	}
	sub, err := v.graph.Paths(ctx, from, to, maxDepth, ways)
	return v.described(ctx, sub, err, fields)
}

func (v *View) described(ctx context.Context, sub *graph.Subgraph, err error, fields int) (*graph.Subgraph, error) {
	if err != nil {
		return nil, err
	}
	return sub, v.graph.Describe(ctx, sub, fields)
}

// GraphStats is graph.Graph.Stats.
func (v *View) GraphStats(ctx context.Context) (graph.Stats, error) { return v.graph.Stats(ctx) }

// Number returns the number of a record, the same for every reader.
func (v *View) Number(key graph.Key) graph.Node { return v.graph.Number(key) }

// Key returns what a number stands for. The record may be one that the reader does not
// see.
func (v *View) Key(n graph.Node) graph.Key { return v.graph.Key(n) }

// Referrers is graph.Graph.Referrers: of all records, whoever reads.
func (v *View) Referrers(key graph.Key) []string { return v.graph.Referrers(key) }

// Walk searches breadth first as graph.Graph.Walk does.
func (v *View) Walk(roots []graph.Node, maxDepth int, visit func(graph.Step) []graph.Node) {
	v.graph.Walk(roots, maxDepth, visit)
}
