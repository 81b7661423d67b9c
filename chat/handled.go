package chat

import (
	"context"
	"maps"
	"slices"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities/kv"
)

// What follows is for an index of handles, which knows by itself who sees what.

// Handled returns what a conversation is called.
func (c *conversation) Handled() audience.Handled {
	return audience.Handled{
		Kind: refs.ConversationHandle, ID: c.ID, Handles: audience.CalledBy(c.Private, c.Handle, c.Aliases, c.OpenHandles),
		Private: c.Private,
	}
}

// Records returns all conversations as they are stored, in no order. O(conversations).
func (s *Store) Records() []*Record {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Collect(maps.Values(s.byID))
}

// Record returns a conversation as it is stored, nil for none. O(1).
func (s *Store) Record(id string) *Record {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.byID[id]
}

// Untitled returns what a conversation without a title is called by its messages, and by those that
// are not private: "" where there is no such message.
func (s *Store) Untitled(ctx context.Context, c *Record) (all, public string, err error) {
	title := func(tx *kv.Tx, index int) (string, error) {
		if index == 0 {
			return "", nil
		}
		m, err := Messages.Get(tx, messageKey(c.ID, index))
		if err != nil || m == nil {
			return "", err
		}
		return TitleOf(m.Content), nil
	}
	err = s.db.View(ctx, func(tx *kv.Tx) error {
		if all, err = title(tx, c.All.User); err != nil {
			return err
		}
		public = all
		if c.Public.User != c.All.User {
			public, err = title(tx, c.Public.User)
		}
		return err
	})
	return all, public, err
}
