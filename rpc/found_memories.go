package rpc

import (
	"fmt"
	"time"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// recallRequest returns what memory.search asks for.
func recallRequest(p *protocol.MemorySearch) recall.Request {
	return recall.Request{
		Query: p.Query, Kinds: p.Kinds, Limit: p.Limit, Sort: p.Sort, MinScore: p.MinScore, Stages: p.Stages,
		Explain: p.Explain, Diversity: p.Diversity, InConversation: p.InConversation,
		Memories: memory.Filter{Tiers: p.Tiers, Status: p.Status, Tags: p.Tags, Contexts: p.Contexts, EntityIDs: p.EntityIDs},
		After:    timeOf(p.After), Before: timeOf(p.Before), AsOf: timeOf(p.AsOf), AnyValidity: p.Validity == protocol.AnyValidity,
	}
}

func timeOf(t *time.Time) (at time.Time) {
	if t != nil {
		at = *t
	}
	return at
}

// memoriesFound returns what memory.search answers.
func memoriesFound(res *recall.Result) protocol.MemoryFound {
	out := protocol.MemoryFound{
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
	return out
}

func memoryHit(h *recall.Hit, place int) protocol.MemoryHit {
	out := protocol.MemoryHit{
		Kind: h.Kind, ID: h.ID, Position: place + 1, Text: h.Text, Score: h.Score, CreatedAt: h.CreatedAt(),
		OlderThan: h.OlderThan, Ranges: h.Ranges,
	}
	if m := h.Memory; m != nil {
		out.Ref, out.Tier, out.Status, out.Holds = fmt.Sprint("#", m.Number), m.Tier, m.Status, h.Holds
	}
	if m := h.Message; m != nil {
		out.ConversationID, out.Index, out.Role = m.Conversation, m.Index, m.Role
	}
	out.Passage = h.Passage
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
		Words: []string{}, Unknown: append([]string{}, u.Unknown...), Ignored: []string{}, EntityIDs: u.Entities,
		Recent: u.Recent, Sort: u.Sort,
	}
	if u.Query != nil {
		out.Ignored, out.Synonyms = u.Query.Ignored, u.Query.Synonyms()
		for _, w := range u.Query.Words {
			out.Words = append(out.Words, w.Word)
		}
	}
	if u.Span != nil {
		out.From, out.To = bound(u.Span.From), bound(u.Span.To)
	}
	return out
}

// bound returns an end of a span of days, nil for none.
func bound(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
