package chat

import (
	"context"
	"strconv"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// Handled returns the id of the conversation with a handle, "" for none that the reader sees. It takes no
// time where there is none.
func (s *Store) Handled(ctx context.Context, v *audience.View, h string) (id string, err error) {
	s.mu.RLock()
	_, known := s.byHandle[refs.FoldHandle(h)]
	s.mu.RUnlock()
	if !known {
		return "", nil
	}
	err = s.db.View(ctx, func(tx *kv.Tx) error {
		c, err := s.find(tx, v, h)
		if c != nil {
			id = c.ID
		}
		return err
	})
	if fault.KindOf(err) == fault.NotFound {
		return "", nil
	}
	return id, err
}

// Referred returns the message that a reference names as the reader sees it: by its number from 1 among those
// that he sees when which is digits, else by its hash; nil for none. total counts the messages that he
// sees. The error is NotFound for a conversation that he does not see. O(1).
func (s *Store) Referred(ctx context.Context, v *audience.View, id, which string,
) (out *record.ChatMessage, total int, err error) {
	err = s.db.View(ctx, func(tx *kv.Tx) error {
		out = nil
		c, err := s.find(tx, v, id)
		if err != nil {
			return err
		}
		total = c.counted(v).Messages
		m, err := referred(tx, v, c, which)
		if err != nil || m == nil {
			return err
		}
		handleShown, err := showsHandle(tx, v, c)
		if err != nil {
			return err
		}
		shown := s.shownMessage(v, c, handleShown, m)
		if shown.Hash == which || isMessageNumber(which) {
			out = shown
		}
		return nil
	})
	return out, total, err
}

// referred returns the message with a number or a hash, nil for none that a reader sees.
func referred(tx *kv.Tx, v *audience.View, c *conversation, which string) (*message, error) {
	if isMessageNumber(which) {
		index, tooLarge := strconv.Atoi(which)
		if tooLarge != nil || index < 1 || index > c.counted(v).Messages {
			return nil, nil //nolint:nilerr // there is no such message
		}
		return at(tx, v, c.ID, index)
	}
	p, err := hashes.Get(tx, nameKey(c.ID, which))
	if err != nil || p == nil {
		return nil, err
	}
	m, err := Messages.Get(tx, messageKey(c.ID, p.Index))
	if m == nil || err != nil || !v.Sees(m.private()) {
		return nil, err
	}
	return m, nil
}
