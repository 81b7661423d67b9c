package graph_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/graph"
)

// TestGraphOfWhatIsThere opens a graph over entities of several types and compares
// it with one that has seen them come.
func TestGraphOfWhatIsThere(t *testing.T) {
	w := open(t)
	_, _, err := w.ents.PutType(ctx, entities.Type{Name: "U", Fields: []entities.Field{
		{Name: "text", Type: record.NoteRef},
		{Name: "one", Type: record.Text},
		{Name: "other", Type: record.EntityRef},
	}}, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{"ghost"}
	for i := range 20 {
		e := entities.Entity{ID: fmt.Sprint("e", i), Type: "T", Name: fmt.Sprint("E ", i), Fields: entities.Values{
			"one": fmt.Sprint("e", i/2), "many": []string{"e3", "ghost", "e3"}, "note": "n", "text": "e4",
		}}
		if i%2 == 1 {
			e.Type, e.Fields = "U", entities.Values{"text": "e5", "one": "e6", "other": "e7"}
		}
		if i%5 == 0 {
			e.NoteID = "own"
		}
		if _, err := w.ents.Put(ctx, e, nil); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.ID)
	}
	opened := graph.Open(w.db, w.ents, w.notes, nil)
	for _, id := range ids {
		if diff := cmp.Diff(w.graph.References(id), opened.References(id)); diff != "" {
			t.Errorf("%s refers to others:\n%s", id, diff)
		}
		for _, kind := range []graph.Kind{graph.Entity, graph.Note} {
			for _, id := range []string{id, "n", "own"} {
				key := graph.Key{Kind: kind, ID: id}
				if diff := cmp.Diff(w.graph.Referrers(key), opened.Referrers(key)); diff != "" {
					t.Errorf("others refer to %v:\n%s", key, diff)
				}
			}
		}
	}
	if diff := cmp.Diff(stats(t, w.graph), stats(t, opened)); diff != "" {
		t.Error(diff)
	}
}

// TestPERF9_AGraphThatWasNotAskedFor changes entities before anything was asked of the
// graph over them, and compares it with one that has seen all of them come.
func TestPERF9_AGraphThatWasNotAskedFor(t *testing.T) {
	for what, change := range map[string]func(w *world) error{
		"new": func(w *world) error {
			_, err := w.ents.Put(ctx, entities.Entity{ID: "new", Type: "T", Name: "New", Fields: entities.Values{"one": "e1"}}, nil)
			return err
		},
		"other": func(w *world) error {
			_, err := w.ents.Put(ctx, entities.Entity{ID: "e1", Type: "T", Name: "E 1", Fields: entities.Values{"one": "e3"}}, nil)
			return err
		},
		"gone": func(w *world) error {
			_, err := w.ents.Delete(ctx, "e1", nil)
			return err
		},
		"no change": func(*world) error { return nil },
	} {
		t.Run(what, func(t *testing.T) {
			w := open(t)
			for i := range 5 {
				e := entities.Entity{ID: fmt.Sprint("e", i), Type: "T", Name: fmt.Sprint("E ", i), Fields: entities.Values{"one": "e0", "many": []string{"e1", "e2"}}}
				if _, err := w.ents.Put(ctx, e, nil); err != nil {
					t.Fatal(err)
				}
			}
			opened := graph.Open(w.db, w.ents, w.notes, nil)
			if err := change(w); err != nil {
				t.Fatal(err)
			}
			for i := range 5 {
				id := fmt.Sprint("e", i)
				if diff := cmp.Diff(w.graph.References(id), opened.References(id)); diff != "" {
					t.Errorf("%s refers to others:\n%s", id, diff)
				}
				key := graph.Key{Kind: graph.Entity, ID: id}
				if diff := cmp.Diff(w.graph.Referrers(key), opened.Referrers(key)); diff != "" {
					t.Errorf("others refer to %v:\n%s", key, diff)
				}
			}
			if diff := cmp.Diff(stats(t, w.graph), stats(t, opened)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
