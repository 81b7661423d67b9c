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
}

// What becomes of an action is told with the message that proposes it, of which that takes so many bytes.
const (
	actionBytes = 600
	mostActions = 20
)

// History returns what was said before the question of a turn, as far as it fits into bytes: whole turns, the newest
// ones. asker is who asked. O(messages returned).
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
		var turn []*record.ChatMessage // that is being read, the later first
		for index := c.parent(t.index); index > 0; index = c.parent(index) {
			m, err := Messages.Get(tx, messageKey(c.ID, index))
			switch {
			case err != nil:
				return err
			case m == nil || m.Role == record.RoleSystem || !asker.Sees(m.private()):
				continue
			case !v.Sees(m.private()):
				h.Withheld++
				continue
			}
			turn = append(turn, s.shownMessage(v, c, handleShown, m))
			bytes -= len(turn[len(turn)-1].Content) + actionBytes*min(len(turn[len(turn)-1].Actions), mostActions)
			if bytes < 0 {
				h.Dropped = true
				break
			}
			if m.Role == record.RoleUser {
				h.Messages = append(h.Messages, turn...)
				turn = nil
			}
		}
		slices.Reverse(h.Messages)
		return nil
	})
	return h, err
}
