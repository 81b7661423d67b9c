package background

import (
	"context"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// page is how many messages are read at a time.
const page = 50

// conversationLookup returns the test of whether a reader sees a conversation.
func conversationLookup(c *chat.Store) func(ctx context.Context, v *audience.View, id string) bool {
	return func(ctx context.Context, v *audience.View, id string) bool {
		_, err := c.Get(ctx, v, id)
		return err == nil
	}
}

// answerLookup returns what an answer of a conversation stood on.
func answerLookup(c *chat.Store) func(ctx context.Context, v *audience.View, conversationID, messageID string) (learn.Answer, error) {
	return func(ctx context.Context, v *audience.View, conversationID, messageID string) (a learn.Answer, err error) {
		conv, err := c.Get(ctx, v, conversationID)
		if err != nil {
			return a, err
		}
		for end := conv.Messages; end > 0; end -= page {
			begin := max(0, end-page)
			p, err := c.Messages(ctx, v, conv.ID, chat.AllBranches, begin, end-begin)
			if err != nil {
				return a, err
			}
			for _, m := range slices.Backward(p.Messages) {
				if m.ID == messageID {
					return MessageAnswer(m), nil
				}
			}
		}
		return a, fault.Missing("message", messageID)
	}
}

// MessageAnswer returns the memories that a message stands on.
func MessageAnswer(m *record.ChatMessage) (a learn.Answer) {
	for i := range m.References {
		r := &m.References[i]
		if r.MemoryID == "" {
			continue
		}
		a.Shown = append(a.Shown, r.MemoryID)
		if names(m.Content, r.Ref) || strings.Contains(m.Content, "id:"+r.MemoryID) {
			a.Cited = append(a.Cited, r.MemoryID)
		}
	}
	return a
}

// names reports whether a text has the number of a memory, as in #42, and not that of another, as in #421.
func names(text, ref string) bool {
	if ref == "" {
		return false
	}
	for {
		_, after, found := strings.Cut(text, ref)
		if !found {
			return false
		}
		if after == "" || after[0] < '0' || after[0] > '9' {
			return true
		}
		text = after
	}
}
