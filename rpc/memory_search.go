package rpc

import (
	"context"
	"fmt"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// memoryRecaller finds what answers a question, for the reader of a View.
type memoryRecaller interface {
	Search(ctx context.Context, v *audience.View, req recall.Request) (*recall.Result, error)
	Match(ctx context.Context, v *audience.View, text string) (id string, err error)
}

func (c scope) memorySearch(ctx context.Context, _ *Session, p protocol.MemorySearch) (out protocol.MemoryFound, err error) {
	req := recall.Request{
		Query: p.Query, Limit: p.Limit, SortBy: p.SortBy, MinScore: p.MinScore, Stages: p.Stages, Explain: p.Explain,
		Memories: memory.Filter{
			Tiers: p.Tiers, Status: p.Status, Tags: p.Tags, Contexts: p.Contexts, EntityIDs: p.EntityIDs,
		},
		Diversity: p.Diversity, After: timeOf(p.After), Before: timeOf(p.Before), AsOf: timeOf(p.AsOf),
	}
	res, err := c.recall.Search(ctx, c.view, req)
	if err != nil {
		return out, err
	}
	out = protocol.MemoryFound{
		Hits: []protocol.MemoryHit{}, Understood: memoryUnderstood(res), Confidence: res.Confidence, Reason: res.Reason,
	}
	for i := range res.Hits {
		out.Hits = append(out.Hits, memoryHit(&res.Hits[i], i))
	}
	if res.Degraded != "" {
		out.Degraded = &protocol.Degraded{Stage: res.Stage, Why: res.Degraded}
	}
	for _, st := range res.Stages {
		out.Stages = append(out.Stages, protocol.MemoryStage{
			Stage: st.Name, On: st.On, Skipped: st.Skipped, Changed: st.Changed, US: st.Took.Microseconds(),
		})
	}
	return out, nil
}

func timeOf(t *time.Time) (at time.Time) {
	if t != nil {
		at = *t
	}
	return at
}

func memoryHit(h *recall.Hit, place int) protocol.MemoryHit {
	out := protocol.MemoryHit{
		Kind: h.Kind, ID: h.ID, Ref: fmt.Sprint("#", h.Memory.Number), Position: place + 1, Tier: h.Memory.Tier,
		Status: h.Memory.Status, Text: h.Text, Score: h.Score, CreatedAt: h.Memory.CreatedAt, OlderThan: h.OlderThan,
		Ranges: h.Ranges,
	}
	for _, s := range h.Signals {
		if out.Signals == nil {
			out.Signals = make(map[string]float64)
		}
		out.Signals[s.Name] = s.Value
	}
	return out
}

func memoryUnderstood(res *recall.Result) protocol.MemoryUnderstood {
	u := &res.Understood
	out := protocol.MemoryUnderstood{
		Words: []string{}, Unknown: []string{}, Ignored: []string{}, EntityIDs: u.Entities, Recent: u.Recent, SortBy: u.SortBy,
	}
	if u.Query != nil {
		out.Ignored = u.Query.Ignored
		for _, w := range u.Query.Words {
			out.Words = append(out.Words, w.Word)
			if w.Docs == 0 {
				out.Unknown = append(out.Unknown, w.Word)
			}
		}
	}
	if u.Span != nil {
		out.From, out.To = &u.Span.From, &u.Span.To
	}
	return out
}

// meantMemory returns the id of the memory that a call names by its id or by a text.
func (c scope) meantMemory(ctx context.Context, id, match string) (string, error) {
	switch {
	case (id == "") == (match == ""):
		return "", fault.Field("id", "give either id or match").WithHint("match says which memory is meant, in words")
	case match != "":
		return c.recall.Match(ctx, c.view, match)
	}
	return id, nil
}
