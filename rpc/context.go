package rpc

import (
	"context"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func (c scope) contextAssemble(ctx context.Context, s *Session, p prompt.Params) (*prompt.Result, error) {
	if err := s.srv.promptOff(&p); err != nil {
		return nil, err
	}
	res, err := c.gather.Assemble(ctx, gather.Readers{Prompt: c.view, Report: c.audiences.View(s.Reader())}, p)
	if err == nil && p.ConversationID != "" {
		c.shows.Show(c.view, p.ConversationID, "", shownIn(res))
	}
	return res, err
}

// shownIn are the memories that stand in a prompt, in its order.
func shownIn(res *prompt.Result) (hits []learn.OutcomeHit) {
	for _, s := range res.Report.Sections {
		for _, it := range s.Items {
			if it.Kind == prompt.KindMemory {
				hits = append(hits, learn.OutcomeHit{Kind: learn.HitMemories, ID: it.ID})
			}
		}
	}
	return hits
}

func (c scope) refsGather(ctx context.Context, s *Session, p prompt.GatherParams) (*prompt.Gathered, error) {
	return c.gather.Gather(ctx, gather.Readers{Prompt: c.view, Report: c.audiences.View(s.Reader())}, p)
}

func (c scope) contextRecent(_ context.Context, _ *Session, p protocol.Recent) (protocol.RecentReports, error) {
	return protocol.RecentReports{Reports: c.gather.Recent(p.Limit, c.view.Reader())}, nil
}
