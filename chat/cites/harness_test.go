package cites_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/cites"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// failer is what a test or a property fails by.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// world is a store with notes, conversations and an Index.
type world struct {
	failer
	ctx           context.Context
	db            *kv.Store
	notes         *notes.Store
	chats         *chat.Store
	local, remote *audience.View
	index         *cites.Index
	now           time.Time
}

func open(ctx context.Context, t failer) *world {
	t.Helper()
	w := &world{failer: t, ctx: ctx, now: time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)}
	var err error
	w.db, err = kv.Open(kv.InMemory, kv.Options{})
	w.must(err)
	ents, err := entities.Open(w.db, entities.Options{})
	w.must(err)
	w.notes, err = notes.Open(w.db, ents, notes.Options{})
	w.must(err)
	rooms := audience.Open(w.db, audience.Stores{Entities: ents, Notes: w.notes})
	w.local, w.remote = rooms.View(audience.Local), rooms.View(audience.Remote)
	w.chats, err = chat.Open(w.db, chat.Options{Now: func() time.Time { return w.now }, Remote: w.remote})
	w.must(err)
	w.index = cites.OpenIndex(w.db, w.chats, w.messages())
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// messages are all that are stored, by their keys.
func (w *world) messages() iter.Seq2[string, *chat.Message] {
	all := make(map[string]*chat.Message)
	w.must(w.db.View(w.ctx, func(tx *kv.Tx) error {
		maps.Insert(all, chat.Messages.All(tx, ""))
		return nil
	}))
	return maps.All(all)
}

func (w *world) note(id, title string, private bool) {
	w.Helper()
	_, err := w.notes.Put(w.ctx, notes.Draft{ID: id, Title: title, Private: private}, nil)
	w.must(err)
}

// said has a message stored that refers to notes. The conversation is a new one when it has no id.
func (w *world) said(conversationID string, private bool, refs ...record.ChatReference) (conversation, message string) {
	w.Helper()
	added, err := w.chats.Append(w.ctx, w.local, chat.AppendRequest{
		ConversationID: conversationID,
		Messages:       []chat.Draft{{Role: record.RoleUser, Content: fmt.Sprint("said at ", w.now.Unix()), Private: private, CreatedAt: w.now}},
	})
	w.must(err)
	m := added.Messages[0]
	if len(refs) > 0 {
		w.refer(added.ConversationID, m.ID, chat.ReferencesMember, refs)
	}
	return added.ConversationID, m.ID
}

// refer gives a stored message its references, by the member that has them.
func (w *world) refer(conversationID, messageID, member string, refs any) {
	w.Helper()
	data, err := json.Marshal(refs)
	w.must(err)
	w.must(w.db.Update(w.ctx, func(tx *kv.Tx) error {
		for key, m := range chat.Messages.All(tx, conversationID+"/") {
			if m.ID == messageID {
				if m.Members == nil {
					m.Members = make(map[string]json.RawMessage)
				}
				m.Members[member] = data
				return chat.Messages.Put(tx, key, m)
			}
		}
		return tx.Err()
	}))
}

func direct(note string) record.ChatReference {
	return record.ChatReference{NoteID: note, Type: record.ReferDirect, Status: record.ReferOK}
}

func read(note string) record.ChatReference {
	return record.ChatReference{NoteID: note, Type: record.ReferSearch, Status: record.ReferOK, Used: true, Tools: []string{"read_note"}}
}

func found(note string) record.ChatReference {
	return record.ChatReference{NoteID: note, Type: record.ReferSearch, Status: record.ReferOK, Tools: []string{"search_notes"}}
}

// list returns all messages that refer to a note, page by page.
func (w *world) list(v *audience.View, note string, all bool, limit int) (ids []string, c *cites.Citations) {
	w.Helper()
	var after *cites.CitationCursor
	for {
		page, err := w.index.ForNote(w.ctx, v, note, all, after, limit)
		w.must(err)
		if len(page.List) > limit {
			w.Errorf("a page of %d has %d", limit, len(page.List))
		}
		for _, m := range page.List {
			ids = append(ids, m.Message.ID)
		}
		if after = page.Next; after == nil {
			return ids, page
		}
	}
}

// wants fails unless a reader is given these messages for a note.
func (w *world) wants(v *audience.View, note string, all bool, want ...string) {
	w.Helper()
	if got, _ := w.list(v, note, all, 10); !slices.Equal(got, want) {
		w.Errorf("messages of %s for %s: %v, want %v", note, v.Reader(), got, want)
	}
}

func start(t *testing.T) *world {
	t.Helper()
	w := open(t.Context(), t)
	t.Cleanup(func() { _ = w.db.Close() })
	return w
}
