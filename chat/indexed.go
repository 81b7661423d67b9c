package chat

import (
	"context"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// Message is a message as it is stored: for an index of them, which knows by itself who sees what.
type Message = message

// Hidden reports whether a message is kept from remote readers, whatever its conversation is.
func (m *message) Hidden() bool { return m.private() }

// With returns the message with another content. The message itself stays as it is.
func (m *message) With(content string) *Message {
	other := *m
	other.Content = content
	return &other
}

// workingFor is how long a message is of the day.
const workingFor = 24 * time.Hour

// Tier is the tier of a message: working on the day on which it was said, history from then on.
func (m *message) Tier(now time.Time) string {
	if now.Sub(m.CreatedAt) < workingFor {
		return record.TierWorking
	}
	return record.TierHistory
}

// ConversationOf returns the conversation of the message that is stored under a key.
func ConversationOf(key string) (id string) {
	id, _, _ = strings.Cut(key, "/")
	return id
}

// FoundMessage is a message that a search found, with its conversation.
type FoundMessage struct {
	Conversation *record.Conversation
	Message      *record.ChatMessage
}

// Found returns the messages that are stored under keys as a reader may see them, nil in the place of
// each that he does not see. O(keys).
func (s *Store) Found(ctx context.Context, v *audience.View, keys []string) (list []*FoundMessage, err error) {
	list = make([]*FoundMessage, len(keys))
	err = s.db.View(ctx, func(tx *kv.Tx) error {
		for i, key := range keys {
			if list[i], err = s.found(tx, v, key); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

func (s *Store) found(tx *kv.Tx, v *audience.View, key string) (*FoundMessage, error) {
	c, err := Conversations.Get(tx, ConversationOf(key))
	if err != nil || !sees(v, c) {
		return nil, err
	}
	m, err := Messages.Get(tx, key)
	if err != nil || m == nil || !v.Sees(m.private()) {
		return nil, err
	}
	out := &FoundMessage{}
	if out.Conversation, err = s.shown(tx, v, c); err != nil {
		return nil, err
	}
	out.Message = s.shownMessage(v, c, out.Conversation.Handle != "", m)
	return out, nil
}
