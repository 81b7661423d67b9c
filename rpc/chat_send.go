package rpc

import (
	"context"

	"github.com/ctxd/ctxd/chat/background"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/rpc/jsonrpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// chatFeed sends chat.delta. Remote and local connections follow subjects of their own, since remote ones don't get
// every answer.
var chatFeed = jsonrpc.NewFeed(protocol.NotifyChatDelta, turn.Join)

func chatSubject(r audience.Reader, conversationID string) string {
	return string(r) + "/" + conversationID
}

// chatListener sends the deltas of a call.
type chatListener struct {
	ctx    context.Context // of the call
	quiet  bool            // the caller gets none
	remote bool            // the caller is a remote reader
	stream *jsonrpc.Stream[turn.ChatDelta]
}

func (l *chatListener) Begin(conversationID string, private bool) {
	subjects := []string{chatSubject(audience.Local, conversationID)}
	if !private {
		subjects = append(subjects, chatSubject(audience.Remote, conversationID))
	}
	if l.quiet {
		l.stream = chatFeed.OpenQuiet(subjects...)
		return
	}
	l.stream = Deltas(l.ctx, chatFeed, subjects...)
}

func (l *chatListener) Hide(last turn.ChatDelta) {
	l.stream.Leave(chatSubject(audience.Remote, last.ConversationID), last)
	if l.remote {
		l.stream.LeaveCaller(l.ctx, last)
	}
}

func (l *chatListener) Local(ctx context.Context, d turn.ChatDelta) error {
	if l.remote {
		return nil
	}
	return l.stream.SendBut(ctx, chatSubject(audience.Remote, d.ConversationID), d)
}

func (l *chatListener) Delta(ctx context.Context, d turn.ChatDelta) error {
	return l.stream.Send(ctx, d)
}

func (c scope) chatSend(ctx context.Context, _ *Session, p turn.ChatSend) (*turn.ChatSent, error) {
	sent, err := c.answers.Send(ctx, c.view, p, &chatListener{ctx: ctx, remote: c.view.Hides(), quiet: p.Stream != nil && !*p.Stream})
	if err != nil {
		return sent, err
	}
	c.afterAnswer(ctx, sent)
	return sent, nil
}

// afterAnswer does what follows an answer. Of one that waits it does nothing before that is written again.
func (c scope) afterAnswer(ctx context.Context, sent *turn.ChatSent) {
	c.markWaiting(nil, sent.UserMessage, sent.AssistantMessage)
	if m := sent.AssistantMessage; m == nil || !m.Pending {
		c.answered(ctx, sent)
		c.awaitOutcome(ctx, sent)
	}
}

func (c scope) chatCancel(ctx context.Context, _ *Session, p protocol.ChatConversation) (out protocol.ChatCancelled, err error) {
	conv, err := c.chat.Get(ctx, c.view, p.ConversationID)
	if err != nil {
		return out, err
	}
	out.Cancelled = c.answers.Cancel(c.view, conv.ID)
	return out, nil
}

func (c scope) chatFollow(ctx context.Context, s *Session, p protocol.ChatFollow) (out protocol.ChatFollowed, err error) {
	conv, err := c.chat.Get(ctx, c.view, p.ConversationID)
	if err != nil {
		return out, err
	}
	subject := chatSubject(c.view.Reader(), conv.ID)
	out.ConversationID = conv.ID
	if p.Stop {
		Unfollow(s, chatFeed, subject)
		return out, nil
	}
	Follow(s, chatFeed, subject)
	out.Following, out.MessageID = true, c.answers.Running(c.view, conv.ID)
	return out, nil
}

func (c scope) chatInspect(ctx context.Context, _ *Session, p protocol.ChatInspect) (*turn.ChatInspected, error) {
	out, err := c.traces.Inspect(ctx, c.view, p.ConversationID, p.Index)
	if err != nil {
		return nil, err
	}
	known, err := c.shows.OutcomesOf(ctx, out.Conversation.ID)
	if err != nil {
		return nil, err
	}
	out.Answer.Outcome = known[out.Answer.ID]
	out.Answer.Memory = background.AnswerMeta(out, out.Answer.Outcome, c.tierOf)
	return out, nil
}
