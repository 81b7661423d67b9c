package rpc_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/entities/yield"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/rpc"
)

// writer is a Yielder that counts how often a read yields, and writes the first time.
type writer struct {
	t      *testing.T
	rooms  *rpc.Deps
	yields int
}

func (w *writer) Yield(context.Context) {
	w.yields++
	if w.yields > 1 {
		return
	}
	written := make(chan error, 1)
	go func() {
		_, err := w.rooms.Notes.Put(context.Background(), notes.Draft{Title: "Written meanwhile"}, nil)
		if err == nil {
			_, err = w.rooms.Entities.Put(context.Background(), entities.Entity{Type: "Other", Name: "Written meanwhile"}, nil)
		}
		written <- err
	}()
	select {
	case err := <-written:
		if err != nil {
			w.t.Error(err)
		}
	case <-time.After(patience):
		w.t.Fatal("a read that yields keeps writers out")
	}
}

// yieldRooms returns rooms with entities that all refer to all, notes that all have the
// same words, and a private note.
func yieldRooms(t *testing.T) *rpc.Deps {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	rooms, err := roomsWith(db, search.Options{Embedder: embed.LazyBuiltinTable()})
	if err != nil {
		t.Fatal(err)
	}
	const many = 60
	ids := make([]string, many)
	for i := range ids {
		ids[i] = fmt.Sprintf("hub-%d", i)
	}
	list := []entities.Entity{{ID: "sum", Type: "Sum", Name: "Sum"}}
	drafts := []notes.Draft{{ID: "secret", Title: "Secret plan", Private: true}}
	for i, id := range ids {
		list = append(list, entities.Entity{ID: id, Type: "Hub", Name: id, Fields: map[string]any{"all": ids}})
		drafts = append(drafts, notes.Draft{ID: fmt.Sprintf("note-%d", i), Title: fmt.Sprintf("Note %d", i), Body: "lantern and meadow"})
	}
	for _, typ := range []entities.Type{
		{Name: "Other"},
		{Name: "Hub", Fields: []entities.Field{{Name: "all", Type: record.EntityRefList}}},
		{Name: "Sum", Fields: []entities.Field{{Name: "of", Type: record.Computed, Query: longQuery}}},
	} {
		if _, _, err := rooms.Entities.PutType(t.Context(), typ, nil, false); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := rooms.Entities.PutMany(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	if _, err := rooms.Notes.PutMany(t.Context(), drafts); err != nil {
		t.Fatal(err)
	}
	until(t, "every note has its vectors", func() bool {
		res, err := rooms.Search.Search(t.Context(), search.Request{Query: "lantern", Mode: search.Semantic, Limit: 1})
		return err == nil && res.Degraded == ""
	})
	return rooms
}

// wantHits is an error unless a search has found so many.
func wantHits(res *search.Result, hits int, err error) error {
	if err == nil && len(res.Hits) != hits {
		err = fmt.Errorf("%d hits, want %d", len(res.Hits), hits)
	}
	return err
}

const longQuery = "SELECT h FROM Hub WHERE h.all.all.name = 'nobody'"

// Reads that may take long yield to others between their steps, where they hold no lock
// and no View of the store. In a store of some dozens of records each of them does so
// many times; a store of thousands has them take seconds. What a remote reader sees of a
// text is read once and kept, so that a search of his asks for the hits alone.
func TestREL7_LongReadsYield(t *testing.T) {
	for _, c := range []struct {
		name  string
		least int // times to yield
		read  func(ctx context.Context, v *audience.View, rooms *rpc.Deps) error
	}{
		{"wql.query", 10, func(ctx context.Context, v *audience.View, _ *rpc.Deps) error {
			_, err := v.Query(ctx, longQuery, wql.QueryOptions{})
			return err
		}},
		{"graph.neighbors", 60, func(ctx context.Context, v *audience.View, _ *rpc.Deps) error {
			_, err := v.Neighbors(ctx, "hub-1", 4, nil, 0)
			return err
		}},
		{"graph.neighbors of a computed field", 10, func(ctx context.Context, v *audience.View, _ *rpc.Deps) error {
			_, err := v.Neighbors(ctx, "sum", 1, nil, 0)
			return err
		}},
		{"graph.neighbors with fields", 60, func(ctx context.Context, v *audience.View, _ *rpc.Deps) error {
			_, err := v.Neighbors(ctx, "hub-1", 4, nil, 16)
			return err
		}},
		{"graph.path", 60, func(ctx context.Context, v *audience.View, _ *rpc.Deps) error {
			_, err := v.Paths(ctx, "hub-1", "note-1", 16, 16, 0)
			return err
		}},
		{"graph.stats", 60, func(ctx context.Context, v *audience.View, _ *rpc.Deps) error {
			_, err := v.GraphStats(ctx)
			return err
		}},
		{"entities.get", 60, func(ctx context.Context, v *audience.View, _ *rpc.Deps) error {
			_, err := v.ResolveEntity(ctx, "hub-1", 4)
			return err
		}},
		{"notes.search for a phrase", 60, func(ctx context.Context, v *audience.View, _ *rpc.Deps) error {
			everything := func(text.Doc) bool { return true }
			_, err := v.Search(ctx, search.Request{Query: `"lantern meadow"`, Mode: search.Lexical, Limit: 10, Keep: everything})
			return err
		}},
		{"notes.search for a meaning and a phrase", 60, func(ctx context.Context, v *audience.View, _ *rpc.Deps) error {
			res, err := v.Search(ctx, search.Request{Query: `meadow "lantern and"`, Mode: search.Semantic, Limit: 10})
			return wantHits(res, 10, err)
		}},
		{"notes.search of a remote reader", 10, func(ctx context.Context, _ *audience.View, rooms *rpc.Deps) error {
			v := rooms.Audience.View(audience.Remote)
			res, err := v.Search(ctx, search.Request{Query: "lantern meadow", Mode: search.Hybrid, Limit: 10})
			return wantHits(res, 10, err)
		}},
		{"notes.list of a remote reader", 60, func(ctx context.Context, _ *audience.View, rooms *rpc.Deps) error {
			list, err := rooms.Audience.View(audience.Remote).Notes(ctx, notes.Filter{})
			if len(list) != 60 {
				return fmt.Errorf("%d notes, error %w", len(list), err)
			}
			return err
		}},
		{"privacy.prose", 60, func(ctx context.Context, v *audience.View, _ *rpc.Deps) error {
			_, _, err := v.Prose(ctx, "", nil, 10)
			return err
		}},
		{"context.assemble", 10, func(ctx context.Context, _ *audience.View, rooms *rpc.Deps) error {
			_, err := assemble(ctx, rooms, gather.Params{Text: "What is it?", MentionedEntityIDs: []string{"hub-1", "sum"}, Audience: string(audience.Local)})
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rooms := yieldRooms(t)
			w := &writer{t: t, rooms: rooms}
			ctx := context.WithValue(t.Context(), yield.Key{}, w)
			err := c.read(ctx, rooms.Audience.View(audience.Local), rooms)
			if err != nil {
				t.Error(err)
			}
			if w.yields < c.least {
				t.Errorf("it yields %d times, want %d", w.yields, c.least)
			}
		})
	}
}
