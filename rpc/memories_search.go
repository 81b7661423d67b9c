package rpc

import (
	"context"
	"slices"

	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Search is memory.search.
func (r *memoryHandlers) Search(ctx context.Context, by callReader, p protocol.MemorySearch) (out protocol.MemoryFound, err error) {
	if p.ConversationID != "" {
		if err := entities.CheckID("conversationId", p.ConversationID); err != nil {
			return out, err
		}
	}
	if r.noBooks != nil && slices.Contains(p.Kinds, recall.Passages) {
		return out, fault.Under("kinds", r.noBooks)
	}
	res, err := r.recall.Search(ctx, by.View, recallRequest(&p))
	if err != nil {
		return out, err
	}
	out = memoriesFound(res)
	r.show(by, p.ConversationID, out.Hits)
	return out, nil
}

// show keeps what a search has shown in a conversation.
func (r *memoryHandlers) show(by callReader, conversationID string, hits []protocol.MemoryHit) {
	list := make([]learn.OutcomeHit, len(hits))
	for i := range hits {
		list[i] = learn.OutcomeHit{Kind: hits[i].Kind, ID: hits[i].ID, In: hits[i].ConversationID}
	}
	r.shows.Show(by.View, conversationID, "", list)
}

// meantMemory returns the id of the memory that a call names by its id or by a text.
func (r *memoryHandlers) meant(ctx context.Context, by callReader, id, match string) (string, error) {
	switch {
	case (id == "") == (match == ""):
		return "", fault.Field("id", "give either id or match").WithHint("match says which memory is meant, in words")
	case match != "":
		return r.recall.Match(ctx, by.View, match)
	}
	return id, nil
}
