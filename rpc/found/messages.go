package found

import (
	"github.com/ctxd/ctxd/chat/cites"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Messages is what chat.search answers. explain has each hit say what it got from where.
func Messages(res *cites.FindResult, explain bool) protocol.ChatFound {
	by := res.Search
	out := protocol.ChatFound{
		Hits: []protocol.ChatHit{}, Mode: string(by.Mode), Corrected: by.Corrected, Understood: Understood(by.Understood),
		Fused: Fused(by.Fused), Stages: Stages(by.Stages),
	}
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
			Score: h.Score, By: By(h.Found), Snippet: h.Snippet, Ranges: h.Ranges,
		}
		if explain {
			hit.Signals = Signals(h.By)
		}
		out.Hits = append(out.Hits, hit)
	}
	return out
}
