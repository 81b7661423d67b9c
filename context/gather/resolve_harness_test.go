package gather_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// resolverWorld is a store with the rooms that references lead to, a clock, and the Views of both readers.
type resolverWorld struct {
	testing.TB
	db            *kv.Store
	ents          *entities.Store
	notes         *notes.Store
	mem           *memory.Store
	refs          *gather.Resolver
	local, remote *audience.View
	now           time.Time
}

func openResolver(t testing.TB) *resolverWorld {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	w := &resolverWorld{TB: t, db: db, now: time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)}
	w.ents, err = entities.Open(db, entities.Options{})
	must(t, err)
	w.notes, err = notes.Open(db, w.ents, notes.Options{})
	must(t, err)
	rooms := audience.Open(db, audience.Stores{Entities: w.ents, Notes: w.notes})
	w.local, w.remote = rooms.View(audience.Local), rooms.View(audience.Remote)
	w.mem, err = memory.Open(db, memory.Options{
		Now:    func() time.Time { w.now = w.now.Add(time.Second); return w.now },
		Limits: memory.Limits{Bank: 1 << 20}, Entity: entities.EntityRecords.Has,
		Conversation: func(*kv.Tx, string, []string) (private, found bool, err error) { return false, true, nil },
	})
	must(t, err)
	w.refs = gather.NewResolver(gather.ResolverOptions{Memories: w.mem, Conversation: w.conversation, Message: w.message})
	return w
}

// talk has the id fix and two messages, of which the second one is long and has the hash a3f2b1.
var talk = []string{"hello", strings.Repeat("long ", 2000)}

func (w *resolverWorld) conversation(_ context.Context, _ *audience.View, handle string) (string, error) {
	if handle == "fix_bus_1a2b" || handle == "a_message_3" {
		return "fix", nil
	}
	return "", nil
}

func (w *resolverWorld) message(_ context.Context, _ *audience.View, _, which string) (*record.ChatMessage, int, error) {
	index, known := map[string]int{"1": 1, "2": 2, "a3f2b1": 2}[which]
	if !known {
		return nil, len(talk), nil
	}
	return &record.ChatMessage{ID: fmt.Sprintf("said%d", index), Index: index, Content: talk[index-1]}, len(talk), nil
}

func (w *resolverWorld) add(list ...memory.Draft) {
	w.Helper()
	for _, d := range list { // each at a time of its own
		_, err := w.mem.Add(w.Context(), w.local, []memory.Draft{d})
		must(w, err)
	}
}

func (w *resolverWorld) context(id, name, parent string) {
	w.Helper()
	w.put(memory.ContextDraft{ID: id, Name: name, ParentID: parent})
}

func (w *resolverWorld) put(d memory.ContextDraft) {
	w.Helper()
	_, err := w.mem.PutContext(w.Context(), w.local, d, nil)
	must(w, err)
}

func (w *resolverWorld) entity(id, name string, private bool) {
	w.Helper()
	_, err := w.ents.Put(w.Context(), entities.Entity{ID: id, Type: "Person", Name: name, Private: private}, nil)
	must(w, err)
}

// people declares the type of entities.
func (w *resolverWorld) people() {
	w.Helper()
	_, _, err := w.ents.PutType(w.Context(), entities.Type{Name: "Person"}, nil, false)
	must(w, err)
}

// store changes the record of a memory as no method does.
func (w *resolverWorld) store(id string, change func(*memory.Record)) {
	w.Helper()
	must(w, w.db.Update(w.Context(), func(tx *kv.Tx) error {
		m, err := memory.Records.Get(tx, id)
		if err != nil {
			return err
		}
		changed := *m
		change(&changed)
		return memory.Records.Put(tx, id, &changed)
	}))
}

// told is what a reference leads to in one line: type, via, id, then the memories, "+" for more.
func (w *resolverWorld) told(v *audience.View, ref string) string {
	w.Helper()
	got, err := w.refs.Resolve(w.Context(), v, ref, 100)
	if err != nil {
		return failure(err)
	}
	line := fmt.Sprintf("%s %s %s:", got.Type, got.Via, got.SourceID)
	for _, m := range got.Memories {
		line += " " + m.ID
	}
	if got.Truncated {
		line += " +"
	}
	if got.Total != len(got.Memories) {
		w.Errorf("%s: %d in all, %d given", ref, got.Total, len(got.Memories))
	}
	return line
}

func failure(err error) string {
	var e *fault.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	line := e.Kind.String()
	for _, c := range e.Candidates {
		line += fmt.Sprintf(" %s/%s", c.Kind, c.ID)
	}
	return line
}

func (w *resolverWorld) leads(v *audience.View, cases [][2]string) {
	w.Helper()
	for _, c := range cases {
		if got := w.told(v, c[0]); got != c[1] {
			w.Errorf("%q leads to %q, want %q", c[0], got, c[1])
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
