package chat

import (
	"strings"
	"time"

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
