package chat

import (
	"strings"

	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities/kv"
)

// handleTaken tells inside a transaction whether anything has a handle.
func (s *Store) handleTaken(tx *kv.Tx, h string) (bool, error) {
	key := refs.FoldHandle(h)
	taken, err := handles.Has(tx, key)
	if err != nil || taken || s.opts.Memories == nil {
		return taken, err
	}
	return s.opts.Memories.HandleTaken(tx, key)
}

// callNew gives a new conversation a handle that is free, made of a title.
func (s *Store) callNew(tx *kv.Tx, c *conversation, title string) error {
	var err error
	c.Handle, err = s.counters.Next(
		func(counter int) string { return refs.NewConversationHandle(title, c.CreatedAt, counter) },
		func(h string) (bool, error) { return s.handleTaken(tx, h) })
	if err != nil {
		return err
	}
	return handles.Put(tx, refs.FoldHandle(c.Handle), &owner{c.ID})
}

// name gives a message a hash that no other one of the conversation has. Which one a public message
// gets does not depend on private ones, which are named by what nobody can guess.
func name(n *nameCounters, tx *kv.Tx, c *conversation, m *message) error {
	text := m.Content
	if m.private() {
		text = m.ID + "\x00" + text
	}
	key, err := n.Next(
		func(counter int) string { return nameKey(c.ID, refs.MessageHash(c.Handle, text, counter)) },
		func(key string) (bool, error) { return hashes.Has(tx, key) })
	m.Hash = strings.TrimPrefix(key, nameKey(c.ID, ""))
	return err
}

// lead stores what leads to a message.
func (m *message) lead(tx *kv.Tx, id string) error {
	p := place{Index: m.Index, Private: m.private()}
	if !m.private() {
		if err := public.Put(tx, messageKey(id, m.PublicIndex), &place{Index: m.Index}); err != nil {
			return err
		}
	}
	if m.ClientMessageID != "" {
		if err := clients.Put(tx, clientKey(m.ClientMessageID, id, m.Index), &p); err != nil {
			return err
		}
	}
	for key, a := range m.proposals(id) {
		if err := actions.Put(tx, key, &a); err != nil {
			return err
		}
	}
	return hashes.Put(tx, nameKey(id, m.Hash), &p)
}
