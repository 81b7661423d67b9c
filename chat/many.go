package chat

import (
	"context"
	"fmt"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// MaxGroup is how many bytes of messages AppendMany takes: a transaction is held in memory a few times.
const MaxGroup = 32 << 20

// AppendMany is Append for the messages of several conversations, in one transaction, all or none. How
// many messages each has is not limited, only their size together. The errors are those of Append,
// under "conversations[i]".
func (s *Store) AppendMany(ctx context.Context, v *audience.View, list []AppendRequest) ([]*Added, error) {
	size := 0
	for i := range list {
		err := s.checkSaid(&list[i])
		if err != nil {
			return nil, ofConversation(i, err)
		}
		for j := range list[i].Messages {
			size += len(list[i].Messages[j].Content)
		}
	}
	if size > MaxGroup {
		return nil, fault.TooLarge("conversations", size, MaxGroup, "bytes").WithHint("give the others in another call")
	}
	out := make([]*Added, len(list))
	err := s.db.Update(ctx, func(tx *kv.Tx) (err error) {
		for i := range list {
			if out[i], err = s.appendTx(tx, v, &list[i]); err != nil {
				return ofConversation(i, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func ofConversation(i int, err error) error {
	return fault.Under(fmt.Sprintf("conversations[%d]", i), err)
}

// AppendPreview says what is there of messages that Append would be given.
type AppendPreview struct {
	ConversationID string // empty: none, Append would make one
	Repeats        []bool // of each message whether it is there
	Room           int    // how many more public messages the conversation takes
}

// Known says for each of a list what of it is there already, without storing anything. Neither
// conversations nor messages are checked.
func (s *Store) Known(ctx context.Context, v *audience.View, list []AppendRequest) (known []AppendPreview, err error) {
	err = s.db.View(ctx, func(tx *kv.Tx) error {
		known = make([]AppendPreview, len(list))
		for i := range list {
			if known[i], err = s.knownTx(tx, v, &list[i]); err != nil {
				return ofConversation(i, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return known, nil
}

func (s *Store) knownTx(tx *kv.Tx, v *audience.View, said *AppendRequest) (AppendPreview, error) {
	k := AppendPreview{Repeats: make([]bool, len(said.Messages)), Room: s.opts.Limits.Messages}
	c, err := s.target(tx, v, said)
	if err != nil || c == nil {
		return k, err
	}
	k.ConversationID = c.ID
	k.Room -= c.Public.Messages
	for i := range said.Messages {
		m, err := repeated(tx, v, said.Messages[i].ClientMessageID, c.ID)
		if err != nil {
			return k, err
		}
		k.Repeats[i] = m != nil
	}
	return k, nil
}

// MayBeSaidAt reports whether a message may have a time.
func (s *Store) MayBeSaidAt(t time.Time) bool { return plausibleTime(t, s.opts.Now()) }
