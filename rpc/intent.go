package rpc

import (
	"context"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/tools"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/names"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func (c scope) intentRoute(ctx context.Context, _ *Session, p protocol.IntentRoute) (out protocol.IntentRouted, err error) {
	if len(p.Text) > chat.MaxContent {
		return out, fault.TooLarge("text", len(p.Text), chat.MaxContent, "bytes").WithHint("give what a person typed")
	}
	at := tools.OrderPlace{}
	if p.ConversationID != "" {
		conversation, err := c.chat.Get(ctx, c.view, p.ConversationID)
		if err != nil {
			return out, fault.Under("conversationId", err)
		}
		at.ConversationID = conversation.ID
	}
	routed, err := c.intents.Route(ctx, c.view, p.Text, at)
	if err != nil {
		return out, err
	}
	out = protocol.IntentRouted{Intents: make([]protocol.Intent, len(routed.Orders)), Rest: routed.Rest, Left: routed.Left}
	for i := range routed.Orders {
		o, made := &routed.Orders[i], &routed.Proposed[i]
		from := names.UTF16Len(p.Text[:o.Start])
		out.Intents[i] = protocol.Intent{
			Kind: string(o.Kind), Text: o.Text, Range: [2]int{from, from + names.UTF16Len(p.Text[o.Start:o.End])},
			Command: o.Command, Language: o.Language, Confidence: o.Confidence, Proposal: made.Proposal, Warnings: made.Warnings,
		}
		if made.Problem != nil {
			out.Intents[i].Problem = toWire(ctx, nil, "intent.route", made.Problem)
		}
	}
	return out, nil
}
