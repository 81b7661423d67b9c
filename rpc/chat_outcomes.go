package rpc

import (
	"context"

	"github.com/ctxd/ctxd/chat/background"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// awaitOutcome has an answer that used memories wait for somebody to tell how it went, and say what it has to do with
// them. One that cannot be noted is an answer all the same.
func (c scope) awaitOutcome(ctx context.Context, sent *turn.ChatSent) {
	m := sent.AssistantMessage
	if m == nil {
		return
	}
	ctx = context.WithoutCancel(ctx)
	if used := background.MessageAnswer(m).Shown; !sent.Repeat {
		_ = c.shows.Answered(ctx, c.view, sent.ConversationID, m.ID, used)
	}
	_ = c.withOutcomes(ctx, sent.ConversationID, m)
	sent.Memory = m.Memory
	c.judge(sent)
}

// withOutcomes has messages of a conversation say how they went, and what they have to do with what is remembered.
func (c scope) withOutcomes(ctx context.Context, conversationID string, list ...*record.ChatMessage) error {
	known, err := c.shows.OutcomesOf(ctx, conversationID)
	if err != nil {
		return err
	}
	for _, m := range list {
		if m == nil {
			continue
		}
		m.Outcome = known[m.ID]
		if m.Role != record.RoleAssistant || len(background.MessageAnswer(m).Shown) == 0 {
			continue
		}
		in, err := c.traces.Inspect(ctx, c.view, conversationID, m.Index)
		if fault.KindOf(err) == fault.NotFound || fault.KindOf(err) == fault.Invalid {
			in = &turn.ChatInspected{} // deleted meanwhile, or no part of a turn
		} else if err != nil {
			return err
		}
		in.Answer = m
		m.Memory = background.AnswerMeta(in, m.Outcome, c.tierOf)
	}
	return nil
}

// tierOf returns the tier of a memory that the reader sees, "" for none.
func (c scope) tierOf(id string) string {
	list := c.memory.Shown(c.view, []string{id})
	if len(list) == 0 || list[0] == nil {
		return ""
	}
	return list[0].Tier
}
