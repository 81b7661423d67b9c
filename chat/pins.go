package chat

import (
	"maps"
	"slices"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// PinTx pins a note or a memory in a conversation, in a transaction of another room. The errors are those of Update.
func (s *Store) PinTx(tx *kv.Tx, v *audience.View, conversationID, noteID, memoryID string) error {
	c, err := s.find(tx, v, conversationID)
	if err != nil {
		return fault.Under("conversationId", err)
	}
	has, err := s.shown(tx, v, c)
	if err != nil {
		return err
	}
	var set Settings
	if noteID != "" && !slices.Contains(has.PinnedNoteIDs, noteID) {
		list := append(slices.Clone(has.PinnedNoteIDs), noteID)
		set.PinnedNotes = &list
	}
	if memoryID != "" && !slices.Contains(has.PinnedMemoryIDs, memoryID) {
		list := append(slices.Clone(has.PinnedMemoryIDs), memoryID)
		set.PinnedMemories = &list
	}
	if err := set.Check(v, s.rememberedBy(v)); err != nil {
		return err
	}
	_, err = s.updateTx(tx, v, c.ID, &Change{Settings: set})
	return err
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
		c.PinnedMemories = filterStrings(c.PinnedMemories, func(id string) bool { return !slices.Contains(memoryIDs, id) })
		if err := Conversations.Put(tx, id, c); err != nil {
			return err
		}
	}
	return nil
}
