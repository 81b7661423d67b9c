package rpc

import (
	"context"

	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func (c scope) refsComplete(ctx context.Context, _ *Session, p protocol.RefsComplete) (record.RefCompletions, error) {
	items, err := c.handles.Complete(ctx, c.view, p.Prefix, p.Kinds, p.Limit)
	return record.RefCompletions{Items: items}, err
}

func (c scope) refsResolve(ctx context.Context, s *Session, p protocol.RefsResolve) (*protocol.RefsResolved, error) {
	return resolveReferences(ctx, c.view, c.refs, p, func(err error) *protocol.Error {
		return toWire(ctx, s.srv.log, "refs.resolve", err)
	})
}

func (c scope) refsRename(ctx context.Context, _ *Session, p protocol.RefsRename) (record.Renamed, error) {
	return renameReference(ctx, c.view, c.refs, c.memory, c.chat, p)
}

func refsParse(_ context.Context, _ *Session, p protocol.RefsParse) (*refs.Result, error) {
	return refs.Parse(p.Text, refs.Unit(p.Unit))
}
