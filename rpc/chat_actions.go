package rpc

import (
	"context"

	"github.com/ctxd/ctxd/chat/tools"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func (c scope) chatActions(ctx context.Context, _ *Session, p protocol.ChatActions) (out protocol.ChatActionList, err error) {
	list, total, err := c.chat.Waiting(ctx, c.view, p.ConversationID, p.Limit)
	out = protocol.ChatActionList{Actions: []protocol.ChatWaiting{}, Total: total}
	for _, w := range list {
		out.Actions = append(out.Actions, protocol.ChatWaiting{
			ConversationID: w.Conversation.ID, Handle: w.Conversation.Handle, Title: w.Conversation.Title, Action: w.Action,
		})
	}
	return out, err
}

func (c scope) chatConfirm(ctx context.Context, _ *Session, p protocol.ChatConfirm) (protocol.ChatDecided, error) {
	return decided(c.actions.Confirm(ctx, c.view, p.ID, p.Args))
}

func (c scope) chatReject(ctx context.Context, _ *Session, p protocol.ChatReject) (protocol.ChatDecided, error) {
	return decided(c.actions.Reject(ctx, c.view, p.ID))
}

func decided(d *tools.Decision, err error) (out protocol.ChatDecided, _ error) {
	if err != nil {
		return out, err
	}
	return protocol.ChatDecided{ChatAction: *d.Action, Repeat: d.Repeat, Warnings: append([]string{}, d.Warnings...)}, nil
}
