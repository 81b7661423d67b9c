package rpc

import (
	"context"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func (c scope) graphNeighbors(ctx context.Context, _ *Session, p protocol.GraphNeighbors) (*graph.Subgraph, error) {
	id, err := c.view.FindRecord(p.Ref)
	if err != nil {
		return nil, err
	}
	return c.view.Neighbors(ctx, id, p.Depth, p.Kinds, p.Fields)
}

func (c scope) graphPath(ctx context.Context, _ *Session, p protocol.GraphPath) (*graph.Subgraph, error) {
	from, err := c.view.FindRecord(p.From)
	if err != nil {
		return nil, fault.In("from", err)
	}
	to, err := c.view.FindRecord(p.To)
	if err != nil {
		return nil, fault.In("to", err)
	}
	return c.view.Paths(ctx, from, to, p.MaxDepth, p.Ways, p.Fields)
}

func (c scope) graphStats(ctx context.Context, _ *Session, _ protocol.ReadAll) (graph.Stats, error) {
	return c.view.GraphStats(ctx)
}
