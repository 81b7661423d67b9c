package tools_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat/tools"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/memory/document"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes"
)

// toolsWorld is a store in memory with the rooms that tools ask.
type toolsWorld struct {
	t      testing.TB
	db     *kv.Store
	notes  *notes.Store
	ents   *entities.Store
	memory *memory.Store
	seen   *audience.Views
	recall *recall.Ranker
	set    *tools.Set
}

func openTools(t testing.TB) *toolsWorld {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	mustTool(t, err)
	t.Cleanup(func() { db.Close() })
	at := time.Date(2026, 1, 31, 9, 30, 0, 0, time.UTC)
	now := func() time.Time { return at }
	w := &toolsWorld{t: t, db: db}
	w.ents, err = entities.Open(db, entities.Options{Now: now})
	mustTool(t, err)
	engine := wql.New(w.ents, wql.Options{Location: time.UTC})
	w.notes, err = notes.Open(db, w.ents, notes.Options{Now: now})
	mustTool(t, err)
	db.OnCommit(engine.Apply)
	gr := graph.Open(db, w.ents, w.notes, engine)
	w.seen = audience.Open(db, audience.Stores{Entities: w.ents, Notes: w.notes, WQL: engine, Graph: gr})
	w.seen.SetSearch(search.Open(db, notedoc.New(w.notes, notedoc.Options{Public: w.seen.Public, Revealed: w.seen.Revealed}), search.Options{}))
	w.memory, err = memory.Open(db, memory.Options{Now: now, Entity: entities.EntityRecords.Has, Source: noteState})
	mustTool(t, err)
	remembered := document.New(db, w.memory, w.seen)
	w.recall = recall.New(recall.Indexes{
		Memories: recall.Index{Search: search.Open(db, remembered, search.Options{}), Source: remembered}, Store: w.memory,
	}, recall.Options{Now: now})
	w.set = tools.NewSet(tools.SetOptions{Views: w.seen, Recall: w.recall})
	return w
}

// noteState is what memories ask about a note that they come from.
func noteState(tx *kv.Tx, id string) (private, found bool, err error) {
	source, err := notes.SourceTx(tx, id)
	if err != nil {
		return false, false, err
	}
	found, err = notes.Records.Has(tx, id)
	return source.Private, found, err
}

func mustTool(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *toolsWorld) env(r audience.Reader) tools.CallEnv { return tools.CallEnv{View: w.seen.View(r)} }

// call calls a tool for a reader.
func (w *toolsWorld) call(r audience.Reader, name, arguments string) *tools.Result {
	w.t.Helper()
	res, err := w.set.Call(w.t.Context(), w.env(r), name, json.RawMessage(arguments))
	mustTool(w.t, err)
	return res
}

// local calls a tool that gives no error.
func (w *toolsWorld) local(name, arguments string) *tools.Result {
	w.t.Helper()
	res := w.call(audience.Local, name, arguments)
	if res.Error {
		w.t.Errorf("%s %s: %s", name, arguments, res.Text)
	}
	return res
}

func (w *toolsWorld) note(d notes.Draft) *notes.Note {
	w.t.Helper()
	n, err := w.notes.Put(context.Background(), d, nil)
	mustTool(w.t, err)
	return n
}

func (w *toolsWorld) entity(e entities.Entity) {
	w.t.Helper()
	_, err := w.ents.Put(context.Background(), e, nil)
	mustTool(w.t, err)
}

func (w *toolsWorld) typ(t entities.Type) {
	w.t.Helper()
	_, _, err := w.ents.PutType(context.Background(), t, nil, false)
	mustTool(w.t, err)
}

// has fails for each of some texts that is not in a text.
func has(t testing.TB, text string, want ...string) {
	t.Helper()
	for _, s := range want {
		if !strings.Contains(text, s) {
			t.Errorf("no %q in\n%s", s, text)
		}
	}
}
