package chat

import (
	"maps"
	"slices"
	"sync"

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

// Pins knows the conversations in which memories are pinned. The zero value knows of none: whoever opens the memories gives
// it to them first, to unpin what they delete, and then to the conversations, which keep it current. It may be used
// concurrently.
type Pins struct {
	mu       sync.RWMutex               // guards byMemory
	byMemory map[string]map[string]bool // ids of conversations
}

// add enters what a conversation pins.
func (p *Pins) add(conversationID string, memoryIDs []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range memoryIDs {
		if p.byMemory == nil {
			p.byMemory = make(map[string]map[string]bool)
		}
		if p.byMemory[id] == nil {
			p.byMemory[id] = make(map[string]bool)
		}
		p.byMemory[id][conversationID] = true
	}
}

// remove takes back what add entered.
func (p *Pins) remove(conversationID string, memoryIDs []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range memoryIDs {
		delete(p.byMemory[id], conversationID)
		if len(p.byMemory[id]) == 0 {
			delete(p.byMemory, id)
		}
	}
}

// Unpin takes memories that are deleted out of the pins of conversations. That is no change of those: nobody
// sees a pin of what is gone. A conversation that another transaction has just pinned one in may keep the id.
func (p *Pins) Unpin(tx *kv.Tx, memoryIDs []string) error {
	of := make(map[string]bool)
	p.mu.RLock()
	for _, id := range memoryIDs {
		maps.Copy(of, p.byMemory[id])
	}
	p.mu.RUnlock()
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
