package words

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
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
	index       *Index          // nil until the documents are to tell
	told        func()          // called before each read; may be nil
	asked       func(id string) // called when the public form of a document is asked for; may be nil
	read, under int             // documents that were read, and those under the lock
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

func (w *watched) Public(d text.Doc) text.Doc {
	if w.asked != nil {
		w.asked(d.ID())
	}
	public := w.Source.Public(d.(watchedDoc).Doc)
	if public == d.(watchedDoc).Doc {
		return d
	}
	return w.doc(public)
}

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

// TestREL18_WhatIsHiddenIsFoundWithoutTheLock has what others see of all documents found out while commits change some of
// them: none waits for it, and what it finds is what is there then.
func TestREL18_WhatIsHiddenIsFoundWithoutTheLock(t *testing.T) {
	db := searchtest.Open(t, kv.InMemory)
	on := searchtest.Over(t, db, notes.Options{})
	const name = "secret "
	w := &watched{Source: notedoc.New(on.Notes, notedoc.Options{
		Public: func(n *notes.Note) *notes.Note { // a note names others by their ids
			for of := range strings.FieldsSeq(n.Body) {
				if named := on.Notes.Get(of); named != nil && named.Private {
					out := *n
					out.Body = strings.ReplaceAll(n.Body, of, "")
					return &out
				}
			}
			return n
		},
		Revealed: func(*kv.ChangeSet) []string { return []string{"naming"} },
	})}
	x := Open(db, w, Options{})
	on.Put(t, notes.Draft{ID: "gone", Title: "Gone", Body: name, Private: true})
	on.Put(t, notes.Draft{ID: "public", Title: "Public", Body: name})
	on.Put(t, notes.Draft{ID: "turning", Title: "Turning", Body: name})
	on.Put(t, notes.Draft{ID: "naming", Title: "Naming", Body: "turning"})
	on.Put(t, notes.Draft{ID: "shown", Title: "Shown", Body: name, Private: true})
	must(t, x.Reindex(ctx, nil))
	seen := make(map[string]bool)
	w.asked = func(id string) {
		seen[id] = true
		if len(seen) < 5 || !x.mu.TryLock() {
			return
		}
		x.mu.Unlock()
		w.asked = nil
		_, err := on.Notes.Delete(ctx, "gone", nil)
		must(t, err)
		on.Put(t, notes.Draft{ID: "turning", Title: "Turning", Body: name, Private: true})
		on.Put(t, notes.Draft{ID: "shown", Title: "Shown", Body: name})
		on.Put(t, notes.Draft{ID: "new", Title: "New", Body: name, Private: true})
	}
	var ids []string
	for _, d := range x.Docs(true) {
		ids = append(ids, d.ID())
	}
	slices.Sort(ids)
	if w.asked != nil {
		t.Error("the public forms of documents were asked for under the lock of the index")
	}
	if got := strings.Join(ids, " "); got != "naming public shown" {
		t.Errorf("others see %s", got)
	}
	for term, want := range map[string]int{"secret": 2, "turning": 0, "naming": 1} {
		res, err := x.Search(ctx, Query{Words: []string{term}, Limit: 10, Keep: func(text.Doc) bool { return true }, Public: true})
		must(t, err)
		if len(res.Hits) != want {
			t.Errorf("others find %d by %s, want %d", len(res.Hits), term, want)
		}
	}
	for d := range x.src.All() {
		public, known := x.Public(d)
		want := x.src.Public(d)
		if !known || (public == nil) != (want == nil) || want != nil && public.Plain() != want.Plain() {
			t.Errorf("of %s others see %v, known: %v, want %v", d.ID(), public, known, want)
		}
	}
}

// TestREL8_WhatIsHiddenIsNotFoundForAStop ends the finding out at once: nothing is asked for, and a search that comes
// after all sees what others may see.
func TestREL8_WhatIsHiddenIsNotFoundForAStop(t *testing.T) {
	x, w := watchedIndex(t)
	must(t, x.Reindex(ctx, nil))
	asked := 0
	w.asked = func(string) { asked++ }
	x.findHidden(func() bool { return true })
	if asked > 0 || x.hidden != nil {
		t.Errorf("%d documents were asked for; hidden is known: %v", asked, x.hidden != nil)
	}
	if n := len(x.Docs(true)); n != 3 || asked != 3 {
		t.Errorf("others see %d, of %d", n, asked)
	}
}
