package words

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/context/search/searchtest"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// watched is a Source whose documents tell when they are read while the lock of the index,
// for which commits wait, is held.
type watched struct {
	text.Source
	index       *Index // nil until the documents are to tell
	told        func() // called before each read; may be nil
	read, under int    // documents that were read, and those under the lock
}

type watchedDoc struct {
	text.Doc
	of *watched
}

func (d watchedDoc) Fields(visit func(int, string) bool) {
	if d.of.index != nil {
		d.of.read++
		if d.of.told != nil {
			d.of.told()
		}
		if !d.of.index.mu.TryLock() {
			d.of.under++
		} else {
			d.of.index.mu.Unlock()
		}
	}
	d.Doc.Fields(visit)
}

func (w *watched) doc(d text.Doc) text.Doc {
	if d == nil {
		return nil
	}
	return watchedDoc{d, w}
}

func (w *watched) All() iter.Seq[text.Doc] {
	return func(yield func(text.Doc) bool) {
		for d := range w.Source.All() {
			if !yield(w.doc(d)) {
				return
			}
		}
	}
}

func (w *watched) Get(id string) text.Doc { return w.doc(w.Source.Get(id)) }

func (w *watched) Changes(cs *kv.ChangeSet) []text.Change {
	list := w.Source.Changes(cs)
	for i := range list {
		list[i].Old, list[i].Now = w.doc(list[i].Old), w.doc(list[i].Now)
	}
	return list
}

func (w *watched) Public(d text.Doc) text.Doc { return w.doc(w.Source.Public(d.(watchedDoc).Doc)) }

// watchedIndex is an index of a few notes whose Source tells from now on.
func watchedIndex(t *testing.T) (*Index, *watched) {
	t.Helper()
	db := searchtest.Open(t, kv.InMemory)
	on := searchtest.Over(t, db, notes.Options{})
	w := &watched{Source: notedoc.New(on.Notes, notedoc.Options{})}
	x := Open(db, w, Options{})
	for i := range 3 {
		on.Put(t, notes.Draft{ID: fmt.Sprint("n", i), Title: "Bees", Body: strings.Repeat("bees and hives ", 100)})
	}
	w.index = x
	return x, w
}

// TestREL7_NoTextIsReadUnderTheLockOfTheIndex makes searches of all kinds: commits wait for
// none of the texts that they look into.
func TestREL7_NoTextIsReadUnderTheLockOfTheIndex(t *testing.T) {
	x, w := watchedIndex(t)
	for name, q := range map[string]Query{
		"what counted": {Words: []string{"bees", "hives"}, Explain: true, Read: true},
		"a phrase":     {Words: []string{"bees"}, Phrases: [][]string{{"bees", "and"}}},
	} {
		q.Limit, q.Keep = 10, func(text.Doc) bool { return true }
		w.read, w.under = 0, 0
		res, err := x.Search(ctx, q)
		must(t, err)
		if len(res.Hits) != 3 || w.read < 3 {
			t.Errorf("%s: %d hits, %d texts were read", name, len(res.Hits), w.read)
		}
		if w.under > 0 {
			t.Errorf("%s: %d of %d texts were read under the lock", name, w.under, w.read)
		}
	}
}

// TestREL8_AnExplainedSearchCanBeWithdrawn between two texts: it reads no other.
func TestREL8_AnExplainedSearchCanBeWithdrawn(t *testing.T) {
	x, w := watchedIndex(t)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w.told = cancel
	_, err := x.Search(ctx, Query{
		Words: []string{"bees", "hives"}, Explain: true, Limit: 10, Keep: func(text.Doc) bool { return true },
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a search that is withdrawn gives %v", err)
	}
	if w.read != 1 {
		t.Errorf("%d documents were read, want the one in which it was withdrawn", w.read)
	}
}
