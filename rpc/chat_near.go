package rpc

import (
	"context"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// excerptFinder finds the excerpts that answers stood on.
type excerptFinder interface {
	Of(ctx context.Context, v *audience.View, messageID, conversation string) (*turn.ChatHighlights, error)
}

func (c scope) chatHighlights(ctx context.Context, _ *Session, p protocol.ChatHighlightsParams) (*turn.ChatHighlights, error) {
	return c.excerpts.Of(ctx, c.view, p.MessageID, p.ConversationID)
}

// noteSuggester suggests notes for conversations.
type noteSuggester interface {
	Of(ctx context.Context, v *audience.View, conversation string, limit int) ([]turn.ChatSuggestion, error)
}

func (c scope) chatSuggest(ctx context.Context, _ *Session, p protocol.ChatSuggest) (out protocol.ChatSuggestions, err error) {
	out.Items, err = c.suggests.Of(ctx, c.view, p.ConversationID, p.Limit)
	return out, err
}
