package vectors

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxd/ctxd/context/embed/embedtest"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/yield"
	"github.com/ctxd/ctxd/notes"
)

// yields is a Yielder that calls a function.
type yields func()

func (y yields) Yield(context.Context) { y() }

// TestREL7_ASlowFilterFindsTheSame: a filter that is asked without the lock of the vectors
// finds what one does that is asked at once, in however many rounds.
func TestREL7_ASlowFilterFindsTheSame(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{Embedder: new(embedtest.Bags)})
	for i := range 40 {
		r.put(t, notes.Draft{ID: fmt.Sprint("n", i), Title: fmt.Sprint("Note ", i), Body: "meadow lantern"})
	}
	r.settled(t)
	q := r.Ask(ctx, "meadow", false)
	if !q.Asked() {
		t.Fatal(q.Missing)
	}
	even := func(d text.Doc) bool { return len(d.Title())%2 == 0 }
	search := func(ctx context.Context, slow bool, undecided int) string {
		hits, err := r.Index.nearest(ctx, &nearSearch{
			g: q.g, vector: q.vector, k: 10, filter: Filter{Keep: even, Slow: slow}, undecided: undecided,
		})
		must(t, err)
		var ids []string
		for _, h := range hits {
			ids = append(ids, h.Doc.ID())
		}
		return fmt.Sprint(ids)
	}
	want := search(ctx, false, 0)
	for _, undecided := range []int{1, 3, firstUndecided} {
		got := search(ctx, true, undecided)
		if got != want {
			t.Errorf("%d at a time: %s, want %s", undecided, got, want)
		}
	}
	deleted := false
	y := yields(func() {
		if !deleted {
			deleted = true
			_, err := r.notes.Delete(ctx, "n0", nil)
			must(t, err)
		}
	})
	got := search(context.WithValue(ctx, yield.Key{}, y), true, firstUndecided)
	if !deleted || got == want {
		t.Errorf("n0 was deleted while the search gave way: %s", got)
	}
}

// TestREL8_AStopEndsTheReadingOfVectors: the file stays as it is.
func TestREL8_AStopEndsTheReadingOfVectors(t *testing.T) {
	model := new(embedtest.Bags).Of()
	name := filepath.Join(t.TempDir(), "some.vectors")
	x, err := OpenFlatIndex(name, model)
	must(t, err)
	v := make([]float32, model.Dims)
	v[0] = 1
	_, err = x.Put(Item{ID: "a", Parts: []TextKey{{1}}, New: [][]float32{v}}, nil)
	must(t, err)
	must(t, x.Close())
	before, err := os.ReadFile(name)
	must(t, err)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := openFlatIndex(ended, name, model); !errors.Is(err, context.Canceled) {
		t.Errorf("opened: %v", err)
	}
	after, err := os.ReadFile(name)
	must(t, err)
	if !bytes.Equal(before, after) {
		t.Error("the file is another one")
	}
	x, err = OpenFlatIndex(name, model)
	must(t, err)
	if !x.Has("a") {
		t.Error("the vector is lost")
	}
	must(t, x.Close())
}
