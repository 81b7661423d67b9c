package chat

import (
	"maps"
	"slices"

	"github.com/ctxd/ctxd/chat/bounds"
	"github.com/ctxd/ctxd/entities/kv"
)

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
		c.PinnedMemories = bounds.Only(c.PinnedMemories, func(id string) bool { return !slices.Contains(memoryIDs, id) })
		if err := Conversations.Put(tx, id, c); err != nil {
			return err
		}
	}
	return nil
}
