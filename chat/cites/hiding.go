package cites

// An AnswerHider makes the answers private that stand on notes and entities that become private (PRIV-4, PRIV-13).
//
// The daemon calls it when it opens the stores: [AnswerHider.Note] is the Hide of notes.Options, [AnswerHider.Entity] that
// of entities.Options, and [AnswerHider.Use] is called when all stores are open, before anybody reads.
//
// What a message was made of is stored with it (chat.Sources). It stands on an entity when that stood in the prompt or in
// the result of a tool, was named there by a field or an edge, or went into a value that was computed.
//
// An answer stands on a note when one of its references to it is used: the note stood in the prompt, a tool has read
// it, or the answer cites it. Where people and remote readers have different references the latter count: an answer
// that only links to a private note stays public. In the transaction in which a note becomes private these answers
// become private, too, and what was made from them: memories that come from them, and answers that stand on those. For
// remote readers the conversations are as if the answers had never been there (chat.Made), so numbers of later
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
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
)

// AnswerHider makes answers private. The zero value does nothing until Use is called.
type AnswerHider struct {
	mu  sync.Mutex // guards what follows
	mem *memory.Store
	x   *Index

	books notedBooks

	// Many records may become private in one transaction, in which no message is written but by a Hider: made is what
	// messages were made of as tx has found it. To keep tx keeps another one from getting its place in memory. Both are
	// kept until that is told in which last, an id, becomes private.
	tx   *kv.Tx
	made chat.Made
	last string
}

// notedBooks are the books of files of notes. It is books.Store, or nil.
type notedBooks interface {
	HideNoted(tx *kv.Tx, noteID string) error
}

// Use says what stands on notes, and makes private what stands on those that a remote reader may not know of. Call it
// when the rooms are open.
func (h *AnswerHider) Use(db *kv.Store, mem *memory.Store, books notedBooks, x *Index, remote *audience.View) error {
	h.mu.Lock()
	h.mem, h.books, h.x = mem, books, x
	h.mu.Unlock()
	db.OnCommit(h.commit)
	due := make(map[string]bool)
	for _, id := range x.PubliclyUsed() {
		if remote.HidesNote(id) {
			due[id] = true
		}
	}
	if len(due) == 0 {
		return nil
	}
	defer func() {
		h.mu.Lock()
		h.forget()
		h.mu.Unlock()
	}()
	return db.Update(context.Background(), func(tx *kv.Tx) error {
		for _, id := range slices.Sorted(maps.Keys(due)) {
			if err := h.Note(tx, id, false); err != nil {
				return err
			}
		}
		return nil
	})
}

// commit forgets what messages were made of in a transaction that is over. It waits for nobody: who holds h.mu has another
// transaction, and may wait for this one to be applied.
func (h *AnswerHider) commit(cs *kv.ChangeSet) {
	if !h.mu.TryLock() {
		return
	}
	defer h.mu.Unlock()
	if h.tx != nil && slices.ContainsFunc(cs.Changes, func(c kv.Change) bool { return c.ID == h.last }) {
		h.forget()
	}
}

// forget drops what is kept for a transaction. Hold h.mu.
func (h *AnswerHider) forget() { h.tx, h.made, h.last = nil, nil, "" }

// Note makes private what stands on a note, in the transaction in which that becomes private. fresh says that there was
// no note of that id.
func (h *AnswerHider) Note(tx *kv.Tx, id string, fresh bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mem == nil {
		return nil
	}
	if h.books != nil {
		if err := h.books.HideNoted(tx, id); err != nil {
			return err
		}
	}
	if fresh && !h.x.Refers(id) {
		return nil
	}
	ids, err := h.mem.HideNoted(tx, id)
	if err != nil {
		return err
	}
	return h.hide(tx, id, append(memories(ids), chat.Source{Kind: chat.NoteSource, ID: id}))
}

// Entity makes private what stands on an entity, in the transaction in which that becomes private.
func (h *AnswerHider) Entity(tx *kv.Tx, e *entities.Entity) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mem == nil {
		return nil
	}
	return h.hide(tx, e.ID, []chat.Source{{Kind: chat.EntitySource, ID: e.ID}, {Kind: chat.TypeSource, ID: entities.Fold(e.Type)}})
}

// memories are sources of those ids.
func memories(ids []string) (list []chat.Source) {
	for _, id := range ids {
		list = append(list, chat.Source{Kind: chat.MemorySource, ID: id})
	}
	return list
}

// hide makes private what was made of sources, and of that, and so on. id is what becomes private. Hold h.mu.
func (h *AnswerHider) hide(tx *kv.Tx, id string, of []chat.Source) error {
	if h.tx != tx {
		made, err := chat.MadeOf(tx)
		if err != nil {
			return err
		}
		h.tx, h.made = tx, made
	}
	h.last = id
	for len(of) > 0 {
		hidden, err := h.made.Hide(tx, of)
		if err != nil {
			return err
		}
		ids, err := h.mem.HideMade(tx, hidden) // those that were public
		if err != nil {
			return err
		}
		of = memories(ids)
	}
	return nil
}
