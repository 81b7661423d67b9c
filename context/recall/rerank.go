package recall

import (
	"context"
	"errors"
	"math"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/entities/fault"
)

// How a cross-encoder counts.
const (
	reranked    = 30 // of the best hits
	ownShare    = 0.4
	rerankShare = 0.6
)

// rerank mixes in what a cross-encoder says of the best hits. What it says nothing of keeps its score.
func (s *run) rerank() error {
	if s.opts.Reranker == nil {
		return skip("no reranker is configured")
	}
	if len(s.list) <= 2*s.req.Limit {
		return skip("there are few hits")
	}
	best := s.list[:min(reranked, len(s.list))]
	texts := make([]string, len(best))
	remote := s.opts.Reranker.Status().Remote
	for i, c := range best {
		texts[i] = s.textFor(c, remote)
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.opts.RerankTimeout)
	defer cancel()
	scores, err := s.opts.Reranker.Rerank(ctx, s.req.Query, texts)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) && s.ctx.Err() == nil {
			return fault.New(fault.Unavailable, "it did not answer in time")
		}
		return err
	}
	if len(scores) != len(best) {
		return fault.New(fault.Unavailable, "it gave another number of scores")
	}
	for i, c := range best {
		if embed.HasScore(scores[i]) && texts[i] != "" {
			p := 1 / (1 + math.Exp(-float64(scores[i])))
			c.score = ownShare*c.score + rerankShare*p
			c.signals = append(c.signals, Signal{Rerank, p})
			s.changed++
		}
	}
	s.sort()
	return nil
}

// textFor is what a reranker may read of a hit: on another machine the public form, "" of a private one.
func (s *run) textFor(c *candidate, remote bool) string {
	if !remote {
		return c.doc.Plain()
	}
	in := s.in.Memories
	if c.kind == Messages {
		in = s.in.Messages
	}
	if c.doc.Private() {
		return ""
	}
	stored := in.Source.Get(c.doc.ID())
	if stored == nil {
		return ""
	}
	public := in.Source.Public(stored)
	if public == nil {
		return ""
	}
	return public.Plain()
}
