package cites

// An AnswerHider makes the answers private that stand on notes that become private (PRIV-4).
//
// The daemon calls it when it opens the stores: [AnswerHider.Note] is the Hide of notes.Options, and [AnswerHider.Use]
// is called when all stores are open, before anybody reads.
//
// An answer stands on a note when one of its references to it is used: the note stood in the prompt, a tool has read
// it, or the answer cites it. Where people and remote readers have different references the latter count: an answer
// that only links to a private note stays public. In the transaction in which a note becomes private these answers
// become private, too, and what was made from them: memories that come from them, and answers that stand on those. For
// remote readers the conversations are as if the answers had never been there (chat.HideMessages), so numbers of later
// messages move up.
//
// Where an existing note becomes private, all messages are read, once a transaction: O(all messages). Use takes O(notes
// that are referred to). Errors are those of the store.

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/kv"
)

// AnswerHider makes answers private. The zero value does nothing until Use is called.
type AnswerHider struct {
	mu  sync.Mutex // guards what follows
	mem *memory.Store
	x   *Index

	// Many notes may become private in one transaction, in which no message is written but by a Hider: uses is what
	// messages use as tx has found it. To keep tx keeps another one from getting its place in memory.
	tx   *kv.Tx
	uses map[string]messages // by id of the note
}

// messages are ids of messages by those of their conversations.
type messages map[string][]string

// Use says what stands on notes, and makes private what stands on those that a remote reader may not know of. Call it
// when the rooms are open.
func (h *AnswerHider) Use(db *kv.Store, mem *memory.Store, x *Index, remote *audience.View) error {
	h.mu.Lock()
	h.mem, h.x = mem, x
	h.mu.Unlock()
	due := make(map[string]bool)
	for _, id := range x.PubliclyUsed() {
		if remote.HidesNote(id) {
			due[id] = true
		}
	}
	if len(due) == 0 {
		return nil
	}
	return db.Update(context.Background(), func(tx *kv.Tx) error {
		uses, err := usesOf(tx)
		if err != nil {
			return err
		}
		for _, id := range slices.Sorted(maps.Keys(due)) {
			if err := hide(tx, mem, uses[id]); err != nil {
				return err
			}
		}
		return nil
	})
}

// Note makes private what stands on a note, in the transaction in which that becomes private. fresh says that there was
// no note of that id.
func (h *AnswerHider) Note(tx *kv.Tx, id string, fresh bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mem == nil || fresh && !h.x.Refers(id) {
		return nil
	}
	if h.tx != tx {
		uses, err := usesOf(tx)
		if err != nil {
			return err
		}
		h.tx, h.uses = tx, uses
	}
	return hide(tx, h.mem, h.uses[id])
}

// usesOf returns which public messages use which notes.
func usesOf(tx *kv.Tx) (map[string]messages, error) {
	uses := make(map[string]messages)
	for key, m := range chat.Messages.All(tx, "") {
		if m.Hidden() {
			continue
		}
		for _, id := range chat.UsedNotes(m.Members) {
			if uses[id] == nil {
				uses[id] = make(messages)
			}
			in := chat.ConversationOf(key)
			uses[id][in] = append(uses[id][in], m.ID)
		}
	}
	return uses, tx.Err()
}

// hide makes messages private, and what was made from them.
func hide(tx *kv.Tx, mem *memory.Store, list messages) error {
	if len(list) == 0 {
		return nil
	}
	if err := chat.HideMessages(tx, list); err != nil {
		return err
	}
	return mem.HideSaid(tx, list)
}
