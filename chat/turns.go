package chat

import (
	"context"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// Follower is told of what is said, and of conversations about which nothing may be kept any more. Its methods
// are called by who writes, and must be quick. recall.Passive is one; tests write down what they are told.
type Follower interface {
	// Said is called when a call of Append has stored messages, and not for those of AppendMany, which may
	// be many. public tells whether a remote reader sees one of them.
	Said(id string, public bool)
	// Dropped is called in the commit that deletes a conversation, or makes it private or public.
	Dropped(id string)
}

// Follow has a Follower told. Call it before anybody writes.
func (s *Store) Follow(f Follower) { s.follower = f }

// lookBack is how many of the last messages of a conversation Turns looks at.
const lookBack = 32

// Turns returns the last turns of a conversation that have ended, n at most, the earlier first. A turn begins
// with a message of the user and goes on to the next one; it has ended when it was answered, or when the
// next has begun: so a message that stands last, to be answered, is in none. Messages of the system are in none.
// The error is NotFound. O(1).
func (s *Store) Turns(ctx context.Context, v *audience.View, id string, n int,
) (turns [][]*record.ChatMessage, err error) {
	var list []*record.ChatMessage
	err = s.db.View(ctx, func(tx *kv.Tx) error {
		list = nil
		c, err := s.find(tx, v, id)
		if err != nil {
			return err
		}
		handleShown, err := showsHandle(tx, v, c)
		if err != nil {
			return err
		}
		total := c.counted(v).Messages
		for index := max(1, total-lookBack+1); index <= total; index++ {
			m, err := at(tx, v, c.ID, index)
			if err != nil {
				return err
			}
			if m != nil && m.Role != record.RoleSystem {
				list = append(list, s.shownMessage(v, c, handleShown, m))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return turn.Last(list, n), nil
}

// tellSaid tells the Follower of what was stored of a call.
func (s *Store) tellSaid(added *Added, said *AppendRequest) {
	if s.follower == nil {
		return
	}
	stored, shown := false, false
	for i, m := range added.Messages {
		stored = stored || !m.Repeat
		shown = shown || !m.Repeat && !said.Messages[i].Private
	}
	c := s.Record(added.ConversationID)
	if stored && c != nil {
		s.follower.Said(c.ID, shown && !c.Private)
	}
}
