package rpc

import (
	"context"

	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func (c scope) graphNeighbors(ctx context.Context, _ *Session, p protocol.GraphNeighbors) (*graph.Subgraph, error) {
	return c.view.Neighbors(ctx, p.ID, p.Depth, p.Kinds, p.Fields)
}

func (c scope) graphPath(ctx context.Context, _ *Session, p protocol.GraphPath) (*graph.Subgraph, error) {
	return c.view.Paths(ctx, p.From, p.To, p.MaxDepth, p.Ways, p.Fields)
}

func (c scope) graphStats(ctx context.Context, _ *Session, _ protocol.ReadAll) (graph.Stats, error) {
	return c.view.GraphStats(ctx)
}
