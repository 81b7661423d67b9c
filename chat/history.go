package chat

import (
	"context"
	"slices"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// History is what was said before a question on its branch, as somebody reads it.
type History struct {
	Messages []*record.ChatMessage // the earlier first; it begins with a message of a user
	Dropped  bool                  // there are messages before them, for which there is no room
	Withheld int                   // messages that the asker sees, and the reader does not
	Before   string                // the provider of the last answer that the asker sees; "" for none

	// Told are the lists of references that stood behind Messages, and Last the one behind the question. Private tells
	// that a remote reader would have been told others.
	Told    []string
	Last    string
	Private bool
}

// What becomes of an action is told with the message that proposes it, of which that takes so many bytes.
const (
	actionBytes = 600
	mostActions = 20
)

// History returns what was said before the question of a turn, as far as it fits into bytes: whole turns, the newest
// ones. asker is who asked. The error is ErrPrivate where v may not see the question any more. O(messages returned).
func (s *Store) History(ctx context.Context, v, asker *audience.View, t *Turn, bytes int) (h *History, err error) {
	err = s.db.View(ctx, func(tx *kv.Tx) error {
		h = &History{}
		c, err := Conversations.Get(tx, t.Conversation.ID)
		if err != nil {
			return err
		}
		if c == nil {
			return missing(t.Conversation.ID)
		}
		handleShown, err := showsHandle(tx, v, c)
		if err != nil {
			return err
		}
		question, err := Messages.Get(tx, messageKey(c.ID, t.index))
		if err != nil {
			return err
		}
		if !sees(v, c) || question != nil && !v.Sees(question.private()) {
			return ErrPrivate // it has become so since it was stored
		}
		if question != nil {
			h.Last = s.told(h, v, question)
			bytes -= len(h.Last)
		}
		var turn []*record.ChatMessage // that is being read, the later first
		var told []string
		for index := c.Forks.Parent(t.index); index > 0; index = c.Forks.Parent(index) {
			m, err := Messages.Get(tx, messageKey(c.ID, index))
			switch {
			case err != nil:
				return err
			case m == nil || m.Role == record.RoleSystem || !asker.Sees(m.private()):
				continue
			case h.Before == "" && m.Role == record.RoleAssistant:
				h.Before = member[string](m, "provider")
			}
			if !v.Sees(m.private()) {
				h.Withheld++
				continue
			}
			shown, list := s.shownMessage(v, c, handleShown, m), s.told(h, v, m)
			turn, told = append(turn, shown), append(told, list)
			bytes -= len(shown.Content) + len(list) + actionBytes*min(len(shown.Actions), mostActions)
			if bytes < 0 {
				h.Dropped = true
				break
			}
			if m.Role == record.RoleUser {
				h.Messages, h.Told = append(h.Messages, turn...), append(h.Told, told...)
				turn, told = nil, nil
			}
		}
		slices.Reverse(h.Messages)
		slices.Reverse(h.Told)
		return nil
	})
	return h, err
}

// told returns the list that stood behind a message for a reader.
func (s *Store) told(h *History, v *audience.View, m *message) string {
	list := s.toldOf(v, m)
	if !v.Hides() && s.opts.Remote != nil && !h.Private {
		h.Private = s.toldOf(s.opts.Remote, m) != list
	}
	return list
}
