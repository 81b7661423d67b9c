package rpc

import (
	"context"

	"github.com/ctxd/ctxd/chat/feedback"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/entities/record"
)

// awaitOutcome has an answer that used memories wait for somebody to tell how it went. One that cannot be noted is an
// answer all the same.
func (c scope) awaitOutcome(ctx context.Context, sent *turn.ChatSent) {
	m := sent.AssistantMessage
	if m == nil {
		return
	}
	if used := feedback.Of(m).Shown; !sent.Repeat {
		_ = c.shows.Answered(context.WithoutCancel(ctx), c.view, sent.ConversationID, m.ID, used)
	}
	_ = c.withOutcomes(context.WithoutCancel(ctx), sent.ConversationID, m)
	c.judge(sent)
}

// withOutcomes has messages of a conversation say how they went.
func (c scope) withOutcomes(ctx context.Context, conversationID string, list ...*record.ChatMessage) error {
	known, err := c.shows.OutcomesOf(ctx, conversationID)
	for _, m := range list {
		if m != nil {
			m.Outcome = known[m.ID]
		}
	}
	return err
}
