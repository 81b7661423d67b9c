package chat

import (
	"context"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/kv"
)

// What follows is what a prompt needs of conversations. It is asked for before each turn, so it comes from memory
// where it can: to read and decode each conversation was a third of a prompt with what waits for it
// (BenchmarkPERF19).

// Pins returns what stands in every prompt of the conversation with an id or a handle, in its order; nothing
// where the reader sees none. Some ids may be of what is gone, or not for every reader. The lists must not be
// changed. It reads the store for a handle only. O(1).
func (s *Store) Pins(ctx context.Context, v *audience.View, ref string) (notes, memories []string, err error) {
	c, err := s.seen(ctx, v, ref)
	if c == nil {
		return nil, nil, err
	}
	return c.PinnedNotes, c.PinnedMemories, nil
}

// Last returns how many messages a reader sees of the conversation with an id or a handle, and when it last
// changed for him; 0 where he sees none. It reads the store for a handle only. O(1).
func (s *Store) Last(ctx context.Context, v *audience.View, ref string) (messages int, at time.Time, err error) {
	c, err := s.seen(ctx, v, ref)
	if c == nil {
		return 0, time.Time{}, err
	}
	return c.counted(v).Messages, c.updatedAt(v), nil
}

// IsPrivate reports whether the conversation that a reader means by an id or a handle is private; false for none. O(1).
func (s *Store) IsPrivate(ctx context.Context, v *audience.View, ref string) bool {
	c, err := s.seen(ctx, v, ref)
	return err == nil && c != nil && c.Private
}

// seen returns the conversation that a reader means by an id or a handle, nil for none. It must not be changed.
func (s *Store) seen(ctx context.Context, v *audience.View, ref string) (*conversation, error) {
	c := s.Record(ref)
	if c == nil {
		id, err := s.Handled(ctx, v, ref)
		if id == "" {
			return nil, err
		}
		c = s.Record(id)
	}
	if !sees(v, c) {
		return nil, nil
	}
	return c, nil
}

// Titles returns what conversations are called for a reader, by their ids: "" for one that he does not see. It
// reads the store for those that are called by a message, of all in one transaction.
func (s *Store) Titles(ctx context.Context, v *audience.View, ids []string) ([]string, error) {
	titles, untitled := make([]string, len(ids)), make([]*conversation, len(ids))
	reads := false
	s.mu.RLock()
	for i, id := range ids {
		c := s.byID[id]
		switch {
		case !sees(v, c):
		case c.Title == "":
			untitled[i], reads = c, true
		default:
			titles[i] = c.Title
		}
	}
	s.mu.RUnlock()
	for i, title := range titles {
		titles[i] = v.TextOf("", title)
	}
	if !reads {
		return titles, nil
	}
	err := s.db.View(ctx, func(tx *kv.Tx) (err error) {
		for i, c := range untitled {
			if c != nil && err == nil {
				titles[i], err = titleUnset(tx, v, c)
			}
		}
		return err
	})
	return titles, err
}

// titleOfMessage returns what the first message of a user calls a conversation for a reader, "" where there is none.
func titleOfMessage(tx *kv.Tx, v *audience.View, c *conversation) (string, error) {
	index := c.counted(v).User
	if index == 0 {
		return "", nil
	}
	m, err := Messages.Get(tx, messageKey(c.ID, index))
	if err != nil || m == nil {
		return "", err
	}
	return TitleOf(v.TextOf("", m.Content)), nil
}
