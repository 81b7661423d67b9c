package chat

import (
	"maps"
	"slices"

	"github.com/ctxd/ctxd/entities/kv"
)

// HideStanding makes the answers private that stand on memories, in the transaction that makes those private. It
// returns the ids of these answers by their conversations. For remote readers the conversations are as if the answers
// had never been there: the numbers of later messages move up. O(all messages).
func HideStanding(tx *kv.Tx, memoryIDs []string) (hidden map[string][]string, err error) {
	hidden = make(map[string][]string)
	for key, m := range Messages.All(tx, "") {
		if !m.private() && m.standsOn(memoryIDs) {
			id := ConversationOf(key)
			hidden[id] = append(hidden[id], m.ID)
		}
	}
	if err := tx.Err(); err != nil {
		return nil, err
	}
	return hidden, HideMessages(tx, hidden)
}

// HideMessages makes messages private, as HideStanding does, by their ids and those of their conversations.
func HideMessages(tx *kv.Tx, messages map[string][]string) error {
	for _, id := range slices.Sorted(maps.Keys(messages)) {
		if err := hideMessages(tx, id, messages[id]); err != nil {
			return err
		}
	}
	return nil
}

// standsOn reports whether a message says that it stands on one of some memories.
func (m *message) standsOn(memoryIDs []string) bool {
	return slices.ContainsFunc(ReferencedMemories(m.Members), func(id string) bool { return slices.Contains(memoryIDs, id) })
}

// hideMessages makes public messages of a conversation private.
func hideMessages(tx *kv.Tx, id string, messageIDs []string) error {
	c, err := Conversations.Get(tx, id)
	if err != nil || c == nil {
		return err
	}
	left := counts{Messages: c.Public.Messages, Lost: c.Public.Lost}
	gone := 0
	for index := 1; index <= c.All.Messages; index++ {
		m, err := Messages.Get(tx, messageKey(id, index))
		if err != nil {
			return err
		}
		if m == nil || m.private() {
			continue
		}
		hide := slices.Contains(messageIDs, m.ID)
		switch {
		case hide:
			gone++
			err = hideMessage(tx, c, m)
		case gone > 0:
			err = renumber(tx, c, m, m.PublicIndex-gone)
		}
		if err != nil {
			return err
		}
		if !hide {
			left.keep(m)
		}
	}
	left.Messages -= gone
	c.Public = left
	return Conversations.Put(tx, id, c)
}

// hideMessage makes a public message private. Its hash becomes one that nobody can guess, as other private ones have.
func hideMessage(tx *kv.Tx, c *conversation, m *message) error {
	if err := public.Delete(tx, messageKey(c.ID, m.PublicIndex)); err != nil {
		return err
	}
	m.PublicIndex = 0
	if err := hashes.Delete(tx, nameKey(c.ID, m.Hash)); err != nil {
		return err
	}
	if err := name(new(nameCounters), tx, c, m); err != nil { // the hash of a private message is like no other
		return err
	}
	if err := m.lead(tx, c.ID); err != nil {
		return err
	}
	return Messages.Put(tx, messageKey(c.ID, m.Index), m)
}

// renumber gives a message a smaller number for remote readers, which no other one has any more.
func renumber(tx *kv.Tx, c *conversation, m *message, number int) error {
	if err := public.Delete(tx, messageKey(c.ID, m.PublicIndex)); err != nil {
		return err
	}
	m.PublicIndex = number
	if err := public.Put(tx, messageKey(c.ID, number), &place{Index: m.Index}); err != nil {
		return err
	}
	return Messages.Put(tx, messageKey(c.ID, m.Index), m)
}
