package rpc

import (
	"context"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func (r *Rooms) contextAssemble(ctx context.Context, _ *Session, p gather.Params) (*prompt.Result, error) {
	return r.Gather.Assemble(ctx, p)
}

func (r *Rooms) contextRecent(_ context.Context, _ *Session, p protocol.Recent) (protocol.RecentReports, error) {
	out := protocol.RecentReports{Reports: r.Gather.Recent(p.Limit)}
	if out.Reports == nil {
		out.Reports = []gather.Recorded{}
	}
	return out, nil
}
