package hook

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// keeping hands messages to the daemon, in the conversation of the session. What is there already is kept once, and of
// two calls at once both find the conversation that one of them has made. Nobody is there to be told what fails.
func (w *work) keeping(messages []protocol.ChatMessageDraft) func(context.Context, *client.Client) string {
	return func(ctx context.Context, cl *client.Client) string {
		if len(messages) == 0 || w.session == "" {
			return ""
		}
		params := protocol.ChatAppend{ConversationID: w.conversation(w.session), Messages: messages}
		err := cl.Call(ctx, "chat.append", params, nil)
		var refused *client.Error
		if !errors.As(err, &refused) || refused.Code != protocol.CodeNotFound {
			return ""
		}
		none := 0
		created := protocol.ChatPut{ID: params.ConversationID, Title: title(messages), Private: w.private, IfVersion: &none}
		_ = cl.Call(ctx, "chat.put", created, nil) // another call may have been faster
		if cl.Call(ctx, "chat.append", params, nil) == nil {
			w.keepContext(ctx, cl)
		}
		return ""
	}
}

// title is the beginning of what was asked first; a conversation has its handle of it.
func title(messages []protocol.ChatMessageDraft) string {
	for _, m := range messages {
		if m.Role == record.RoleUser {
			line, _, _ := strings.Cut(strings.TrimSpace(m.Content), "\n")
			return strings.TrimSpace(shortened(line, maxTitle))
		}
	}
	return ""
}

// maxTitle is the length of a title in bytes.
const maxTitle = 60

// keepContext makes the context of the folder of the project, when it is not there.
func (w *work) keepContext(ctx context.Context, cl *client.Client) {
	none := 0
	_ = cl.Call(ctx, "contexts.put", protocol.ContextPut{ // one that is there stays as it is
		ID: contextID(w.folder), Name: filepath.Base(w.folder), Description: "The project in " + w.folder,
		Private: w.private, IfVersion: &none,
	}, nil)
}
