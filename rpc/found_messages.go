package rpc

import (
	"github.com/ctxd/ctxd/chat/cites"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// messagesFound is what chat.search answers. explain has each hit say what it got from where.
func messagesFound(res *cites.FindResult, explain bool) protocol.ChatFound {
	by := res.Search
	out := protocol.ChatFound{
		Hits: []protocol.ChatHit{}, Mode: string(by.Mode), Corrected: by.Corrected, Understood: searchUnderstood(by.Understood),
		Fused: searchFused(by.Fused), Stages: searchStages(by.Stages),
	}
	out.Confidence, out.Reason = by.Confidence, by.Reason
	if by.Nothing != "" {
		out.Nothing = &protocol.SearchNothing{Why: by.Nothing}
	}
	if by.Degraded != "" {
		out.Degraded = &protocol.Degraded{Stage: by.Stage, Why: by.Degraded}
	}
	for _, h := range res.Hits {
		c, m := h.Conversation, h.Message
		hit := protocol.ChatHit{
			ConversationID: c.ID, Handle: c.Handle, Title: c.Title, ID: m.ID, Index: m.Index, Hash: m.Hash, Role: m.Role,
			Private: m.Private, CreatedAt: m.CreatedAt,
			Score: h.Score, By: foundBy(h.Found), Snippet: h.Snippet, Ranges: h.Ranges,
		}
		if explain {
			hit.Signals = hitSignals(h.By)
		}
		out.Hits = append(out.Hits, hit)
	}
	return out
}
