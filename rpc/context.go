package rpc

import (
	"context"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func (c scope) contextAssemble(ctx context.Context, s *Session, p prompt.Params) (*prompt.Result, error) {
	if err := s.srv.promptOff(&p); err != nil {
		return nil, err
	}
	return c.gather.Assemble(ctx, gather.Readers{Prompt: c.view, Report: c.rooms.View(s.Reader())}, p)
}

func (c scope) refsGather(ctx context.Context, s *Session, p prompt.GatherParams) (*prompt.Gathered, error) {
	return c.gather.Gather(ctx, gather.Readers{Prompt: c.view, Report: c.rooms.View(s.Reader())}, p)
}

func (c scope) contextRecent(_ context.Context, _ *Session, p protocol.Recent) (protocol.RecentReports, error) {
	return protocol.RecentReports{Reports: c.gather.Recent(p.Limit, c.view.Reader())}, nil
}
