package chat

import (
	"context"
	"maps"
	"slices"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/kv"
)

// Pins returns what stands in every prompt of the conversation with an id or a handle, in its order; nothing
// where the reader sees none. Some ids may be of what is gone, or not for every reader. The lists must not be
// changed. It reads the store for a handle only. O(1).
func (s *Store) Pins(ctx context.Context, v *audience.View, ref string) (notes, memories []string, err error) {
	c := s.Record(ref)
	if c == nil {
		id, err := s.Handled(ctx, v, ref)
		if err != nil || id == "" {
			return nil, nil, err
		}
		c = s.Record(id)
	}
	if !sees(v, c) {
		return nil, nil, nil
	}
	return c.PinnedNotes, c.PinnedMemories, nil
}

// pinning are the conversations that pin a memory, by its id.
type pinning map[string]map[string]bool

func (p pinning) add(c *conversation) {
	for _, id := range c.PinnedMemories {
		if p[id] == nil {
			p[id] = make(map[string]bool)
		}
		p[id][c.ID] = true
	}
}

func (p pinning) remove(c *conversation) {
	for _, id := range c.PinnedMemories {
		delete(p[id], c.ID)
		if len(p[id]) == 0 {
			delete(p, id)
		}
	}
}

// Unpin takes memories that are deleted out of the pins of conversations. That is no change of those: nobody
// sees a pin of what is gone. A conversation that another transaction has just pinned one in may keep the id.
func (s *Store) Unpin(tx *kv.Tx, memoryIDs []string) error {
	of := make(map[string]bool)
	s.mu.RLock()
	for _, id := range memoryIDs {
		maps.Copy(of, s.pinning[id])
	}
	s.mu.RUnlock()
	for _, id := range slices.Sorted(maps.Keys(of)) {
		c, err := Conversations.Get(tx, id)
		if err != nil {
			return err
		}
		if c == nil {
			continue
		}
		c.PinnedMemories = only(c.PinnedMemories, func(id string) bool { return !slices.Contains(memoryIDs, id) })
		if err := Conversations.Put(tx, id, c); err != nil {
			return err
		}
	}
	return nil
}
