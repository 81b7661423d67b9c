package rpc

import (
	"context"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// markWaiting has a conversation, nil for none, and messages say whether they wait.
func (c scope) markWaiting(conv *record.Conversation, list ...*record.ChatMessage) {
	waits := c.queue.Pending()
	if waits == nil {
		return
	}
	if conv != nil {
		conv.Pending = waits[conv.ID]
	}
	for _, m := range list {
		if m != nil {
			m.Pending = waits[m.ID]
		}
	}
}

// again makes a call again that has waited.
func (c scope) again(ctx context.Context, method string, call *DeferrableCall, textBytes int) error {
	switch method {
	case "memory.add":
		return redo(ctx, call, textBytes, func(ctx context.Context, s *Session, p protocol.MemoryAdd) (protocol.MemoryAdded, error) {
			return c.memories.Add(ctx, c.by(s), p)
		})
	case "notes.put":
		return redo(ctx, call, textBytes, c.notesPut)
	case "entities.put":
		return redo(ctx, call, textBytes, c.entitiesPut)
	case "chat.append":
		return redo(ctx, call, textBytes, c.chatAppend)
	case chatSendMethod:
		sent, err := c.asked.Again(ctx, c.view, call)
		if err == nil && sent != nil {
			c.afterAnswer(ctx, sent)
		}
		return err
	}
	return fault.New(fault.Unavailable, "this program does not know the call %s, which waits", method).
		WithHint("install the version of ctxd that has taken it")
}

// redo gives a handler the params of a call again.
func redo[P, R any](ctx context.Context, call *DeferrableCall, textBytes int, fn func(context.Context, *Session, P) (R, error)) error {
	var params P
	if _, err := decoder.Decode(call.Params, &params, textBytes); err != nil {
		return err
	}
	_, err := fn(ctx, nil, params)
	return err
}
