package gather_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes"
)

// fataler is a test or a check of rapid.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// completerWorld is a store in memory with the rooms that have handles, and the Views of both readers.
type completerWorld struct {
	fataler
	t             testing.TB
	db            *kv.Store
	ents          *entities.Store
	notes         *notes.Store
	mem           *memory.Store
	chats         *chat.Store
	rooms         *audience.Views
	handles       *gather.Completer
	local, remote *audience.View
	ids           int
	now           time.Time
}

func open(t testing.TB, f fataler) *completerWorld {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	w := &completerWorld{fataler: f, t: t, db: db, now: time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)}
	w.must(err)
	t.Cleanup(func() { _ = db.Close() })
	w.ents, err = entities.Open(db, entities.Options{Now: w.clock})
	w.must(err)
	w.notes, err = notes.Open(db, w.ents, notes.Options{})
	w.must(err)
	engine := wql.New(w.ents, wql.Options{Location: time.UTC})
	db.OnCommit(engine.Apply)
	w.rooms = audience.Open(db, audience.Stores{
		Entities: w.ents, Notes: w.notes, WQL: engine, Graph: graph.Open(db, w.ents, w.notes, engine),
	})
	w.local, w.remote = w.rooms.View(audience.Local), w.rooms.View(audience.Remote)
	w.mem, err = memory.Open(db, memory.Options{
		Now: w.clock, NewID: w.newID, Source: noteState, Conversation: chat.State, HandleTaken: chat.HasHandle,
	})
	w.must(err)
	w.chats, err = chat.Open(db, chat.Options{Now: w.clock, NewID: w.newID, Memories: w.mem})
	w.must(err)
	w.handles = w.opened()
	_, _, err = w.ents.PutType(t.Context(), entities.Type{Name: "person"}, nil, false)
	w.must(err)
	return w
}

// opened returns Handles of the world, as a start would.
func (w *completerWorld) opened() *gather.Completer {
	return chat.OpenCompleter(w.db, w.rooms, w.ents, w.mem, w.chats)
}

func noteState(tx *kv.Tx, id string) (private, found bool, err error) {
	source, err := notes.SourceTx(tx, id)
	if err != nil {
		return false, false, err
	}
	found, err = notes.Records.Has(tx, id)
	return source.Private, found, err
}

func (w *completerWorld) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// clock goes on by a second each time.
func (w *completerWorld) clock() time.Time {
	w.now = w.now.Add(time.Second)
	return w.now
}

func (w *completerWorld) newID() string {
	w.ids++
	return fmt.Sprintf("id%d", w.ids)
}

func (w *completerWorld) add(d memory.Draft) *record.Memory {
	w.Helper()
	list, err := w.mem.Add(w.t.Context(), w.local, []memory.Draft{d})
	w.must(err)
	return list[0].Memory
}

func (w *completerWorld) entity(e entities.Entity) *entities.Entity {
	w.Helper()
	e.Type = "person"
	out, err := w.ents.Put(w.t.Context(), e, nil)
	w.must(err)
	return out
}

func (w *completerWorld) note(d notes.Draft) *notes.Note {
	w.Helper()
	out, err := w.notes.Put(w.t.Context(), d, nil)
	w.must(err)
	return out
}

func (w *completerWorld) context(d memory.ContextDraft) *record.Context {
	w.Helper()
	out, err := w.mem.PutContext(w.t.Context(), w.local, d, nil)
	w.must(err)
	return out
}

// say adds messages of a user to a conversation, "" for a new one; those that begin with ! are private.
func (w *completerWorld) say(id, title string, messages ...string) string {
	w.Helper()
	said := chat.AppendRequest{ConversationID: id, Title: title}
	for _, text := range messages {
		content, private := strings.CutPrefix(text, "!")
		said.Messages = append(said.Messages, chat.Draft{Role: record.RoleUser, Content: content, Private: private})
	}
	added, err := w.chats.Append(w.t.Context(), w.local, said)
	w.must(err)
	return added.ConversationID
}

// typed returns what a reader is offered, each as "handle: label".
func (w *completerWorld) typed(v *audience.View, text string, kinds ...string) []string {
	w.Helper()
	items, err := w.handles.Complete(w.t.Context(), v, text, kinds, refs.MaxCompletions)
	w.must(err)
	return shown(items)
}

func shown(items []record.RefCompletion) []string {
	out := []string{}
	for _, it := range items {
		out = append(out, it.Handle+": "+it.Label)
	}
	return out
}

func ptr[T any](v T) *T { return &v }
