package rpc

import (
	"context"

	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func (r *Rooms) graphNeighbors(ctx context.Context, _ *Session, p protocol.GraphNeighbors) (*graph.Subgraph, error) {
	sub, err := r.Graph.Neighbors(ctx, p.ID, p.Depth, p.Kinds)
	return r.described(ctx, sub, err, p.Fields)
}

func (r *Rooms) graphPath(ctx context.Context, _ *Session, p protocol.GraphPath) (*graph.Subgraph, error) {
	if p.Ways > 0 {
		sub, err := r.Graph.Paths(ctx, p.From, p.To, p.MaxDepth, p.Ways)
		return r.described(ctx, sub, err, p.Fields)
	}
	sub, err := r.Graph.Path(ctx, p.From, p.To, p.MaxDepth)
	return r.described(ctx, sub, err, p.Fields)
}

func (r *Rooms) graphStats(context.Context, *Session, protocol.Empty) (graph.Stats, error) {
	return r.Graph.Stats(), nil
}

// described adds the fields that were asked for.
func (r *Rooms) described(ctx context.Context, sub *graph.Subgraph, err error, fields int) (*graph.Subgraph, error) {
	if err != nil {
		return nil, err
	}
	return sub, r.Graph.Describe(ctx, sub, fields)
}
