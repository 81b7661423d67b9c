package rpc

import (
	"context"

	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func (r *Rooms) graphNeighbors(ctx context.Context, _ *Session, p protocol.GraphNeighbors) (*graph.Subgraph, error) {
	return r.Graph.Neighbors(ctx, p.ID, p.Depth, p.Kinds)
}

func (r *Rooms) graphPath(ctx context.Context, _ *Session, p protocol.GraphPath) (*graph.Subgraph, error) {
	return r.Graph.Path(ctx, p.From, p.To, p.MaxDepth)
}

func (r *Rooms) graphStats(context.Context, *Session, protocol.Empty) (graph.Stats, error) {
	return r.Graph.Stats(), nil
}
