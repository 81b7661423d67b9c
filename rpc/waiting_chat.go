package rpc

import (
	"context"
	"encoding/json"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// chatSendMethod is the method that Chat has wait.
const chatSendMethod = "chat.send"

// queuedChat is the room of conversations for chat.send, which writes twice: what is said, and the answer. Each is a call of its
// own. When they are made again no model is asked.
type queuedChat struct {
	*chat.Store
	queue *CallQueue
}

// newQueuedChat returns the room with a queue.
func newQueuedChat(s *chat.Store, q *CallQueue) *queuedChat { return &queuedChat{s, q} }

// ChatAppendRequest is what one of the two writes: Question, or the Answer to the message MessageID.
type ChatAppendRequest struct {
	Question *chat.Question `json:"question,omitempty"`

	ConversationID string       `json:"conversationId,omitempty"`
	MessageID      string       `json:"messageId,omitempty"`
	AnswerID       string       `json:"answerId,omitempty"`
	Answer         *chat.Answer `json:"answer,omitempty"`
}

// Ask is chat.Store.Ask as a call that may wait.
func (c *queuedChat) Ask(ctx context.Context, v *audience.View, q chat.Question) (*chat.Turn, error) {
	ctx, call := c.queue.Begin(ctx, chatSendMethod, v.Reader(), "", &ChatAppendRequest{Question: &q})
	q.ConversationID = callConversation(ctx, call, c.Store, v, q.ConversationID)
	if call != nil && q.ConversationID == "" {
		q.NewID = call.ID("")
	}
	if q.Regenerate == "" {
		q.ID = call.ID("")
	}
	return c.Store.Ask(ctx, v, q)
}

// callConversation returns the id of a conversation that a call names, perhaps by a handle that leads elsewhere later.
func callConversation(ctx context.Context, call *DeferrableCall, s chatKeeper, v *audience.View, ref string) string {
	return call.Resolve(ref, func(ref string) (string, error) {
		c, err := s.Get(ctx, v, ref)
		if err != nil {
			return "", err
		}
		return c.ID, nil
	})
}

// Answered is chat.Store.Answered as a call that may wait.
func (c *queuedChat) Answered(ctx context.Context, v *audience.View, t *chat.Turn, a *chat.Answer) (*record.ChatMessage, error) {
	ctx, call := c.queue.Begin(ctx, chatSendMethod, v.Reader(), "", &ChatAppendRequest{
		ConversationID: t.Conversation.ID, MessageID: t.Question.ID, AnswerID: t.AnswerID, Answer: a,
	})
	call.ID(t.AnswerID)
	return c.Store.Answered(ctx, v, t, a)
}

// Again writes what has waited, and returns what chat.send does for an answer; nil for a question.
func (c *queuedChat) Again(ctx context.Context, v *audience.View, call *DeferrableCall) (*turn.ChatSent, error) {
	s, err := call.Said()
	if err != nil {
		return nil, err
	}
	if q := s.Question; q != nil {
		q.At, q.Public = call.At, false // no model is asked now, so nothing has to be fit for a remote one
		_, err := c.Store.Ask(ctx, v, *q)
		return nil, err
	}
	t, err := c.Resume(ctx, v, s.ConversationID, s.MessageID, s.AnswerID)
	if err != nil {
		return nil, err
	}
	s.Answer.At = call.At
	m, err := c.Store.Answered(ctx, v, t, s.Answer)
	if err != nil {
		return nil, err
	}
	return &turn.ChatSent{ConversationID: s.ConversationID, Content: m.Content, UserMessage: t.Question, AssistantMessage: m}, nil
}

// Said is what chat.send was to write.
func (c *DeferrableCall) Said() (s ChatAppendRequest, err error) {
	err = json.Unmarshal(c.Params, &s)
	if err == nil && s.Question == nil && s.Answer == nil {
		err = fault.New(fault.Internal, "a message that waits says nothing")
	}
	return s, err
}
