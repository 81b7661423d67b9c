package connect

import (
	"context"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// FindConversation returns the conversation of an id or a handle.
func FindConversation(ctx context.Context, cl *client.Client, ref string) (*record.Conversation, error) {
	var page protocol.ChatPage
	err := cl.Call(ctx, "chat.get", protocol.ChatGet{Ref: ref, Limit: 1}, &page)
	if fault.KindOf(err) == fault.NotFound {
		return nil, term.NotFound("conversation", ref).
			WithHint("give an id or a handle, as listed by ctxd chat list")
	}
	return page.Conversation, err
}
