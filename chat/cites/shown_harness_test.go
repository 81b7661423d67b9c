package cites_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/cites"
	"github.com/ctxd/ctxd/chat/transfer"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// sourcesFailer is what a test or a property fails by.
type sourcesFailer interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// sourcesWorld is a store with notes, memories and conversations, and the Views of both readers.
type sourcesWorld struct {
	sourcesFailer
	ctx           context.Context
	db            *kv.Store
	notes         *notes.Store
	memory        *memory.Store
	chats         *chat.Store
	exporter      *transfer.Exporter
	shower        *cites.SourceLister
	local, remote *audience.View
	now           time.Time
}

func openSources(t *testing.T, fail sourcesFailer) *sourcesWorld {
	db, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	w := &sourcesWorld{sourcesFailer: fail, ctx: t.Context(), db: db, now: time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)}
	ents, err := entities.Open(db, entities.Options{})
	w.must(err)
	w.notes, err = notes.Open(db, ents, notes.Options{})
	w.must(err)
	rooms := audience.Open(db, audience.Stores{Entities: ents, Notes: w.notes})
	w.local, w.remote = rooms.View(audience.Local), rooms.View(audience.Remote)
	clock := func() time.Time { return w.now }
	w.memory, err = memory.Open(db, memory.Options{Now: clock, HandleTaken: chat.HasHandle, Conversation: chat.State})
	w.must(err)
	w.chats, err = chat.Open(db, chat.Options{
		Now: clock, Memories: w.memory, Remote: w.remote,
	})
	w.must(err)
	w.chats.SummariseBy(func(ctx context.Context, v *audience.View, id string) (line, source string, err error) {
		n, err := v.ShownNote(ctx, v.Note(id))
		if n == nil || err != nil {
			return "", "", err
		}
		return n.Body, v.Note(id).Body, nil
	})
	w.exporter, w.shower = transfer.NewExporter(w.chats, w.memory), cites.NewSourceLister(w.chats, w.memory, nil)
	return w
}

func startSources(t *testing.T) *sourcesWorld {
	t.Helper()
	return openSources(t, t)
}

func (w *sourcesWorld) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatalf("%v", err)
	}
}

func (w *sourcesWorld) put(d notes.Draft) {
	w.Helper()
	_, err := w.notes.Put(w.ctx, d, nil)
	w.must(err)
}

// say has messages of the user stored, in a new conversation when id is "".
func (w *sourcesWorld) say(id string, texts ...string) (conversation string, messages []string) {
	w.Helper()
	w.now = w.now.Add(time.Second)
	said := chat.AppendRequest{ConversationID: id}
	for _, text := range texts {
		said.Messages = append(said.Messages, chat.Draft{Role: record.RoleUser, Content: text})
	}
	added, err := w.chats.Append(w.ctx, w.local, said)
	w.must(err)
	for _, m := range added.Messages {
		messages = append(messages, m.ID)
	}
	return added.ConversationID, messages
}

// keep gives a stored message more members.
func (w *sourcesWorld) keep(conversation, message string, members map[string]any) {
	w.Helper()
	w.must(w.db.Update(w.ctx, func(tx *kv.Tx) error {
		for key, m := range chat.Messages.All(tx, conversation+"/") {
			if m.ID != message {
				continue
			}
			if m.Members == nil {
				m.Members = make(map[string]json.RawMessage)
			}
			for name, value := range members {
				data, err := json.Marshal(value)
				if err != nil {
					return err
				}
				m.Members[name] = data
			}
			return chat.Messages.Put(tx, key, m)
		}
		return fmt.Errorf("there is no message %s: %w", message, tx.Err())
	}))
}

// refer has a stored message refer to records.
func (w *sourcesWorld) refer(conversation, message string, list ...record.ChatReference) {
	w.Helper()
	w.keep(conversation, message, map[string]any{chat.ReferencesMember: list})
}

// foundReference is a reference to what a tool has found, and read where used.
func foundReference(note string, used bool) record.ChatReference {
	r := record.ChatReference{
		NoteID: note, Wikilink: "[[" + note + "]]", Type: record.ReferSearch, Status: record.ReferOK, Tools: []string{"search_notes"}, Used: used,
	}
	if used {
		r.Tools = append(r.Tools, "read_note")
	}
	return r
}

// show returns all pages of what is asked for.
func (w *sourcesWorld) show(v *audience.View, q cites.SourceRequest) (items []turn.ChatShownReference, last *cites.SourcePage) {
	w.Helper()
	if q.Limit == 0 {
		q.Limit = 1000
	}
	for {
		page, err := w.shower.References(w.ctx, v, q)
		w.must(err)
		if len(page.List) > q.Limit {
			w.Errorf("a page of %d has %d items", q.Limit, len(page.List))
		}
		items = append(items, page.List...)
		if page.Next == nil {
			return items, page
		}
		q.After = page.Next
	}
}
