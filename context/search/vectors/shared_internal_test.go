package vectors

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/embed/embedtest"
	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/context/search/searchtest"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// shared is an embedder that counts the passages of each text and how many calls it has at
// a time.
type shared struct {
	embedtest.Bags
	calls, most atomic.Int32

	mu   sync.Mutex // guards seen
	seen map[string]int
}

func (e *shared) Embed(ctx context.Context, p embed.Purpose, texts []string) (embed.Model, [][]float32, error) {
	if p != embed.Passage {
		return e.Bags.Embed(ctx, p, texts)
	}
	at := e.calls.Add(1)
	defer e.calls.Add(-1)
	for most := e.most.Load(); at > most && !e.most.CompareAndSwap(most, at); most = e.most.Load() {
	}
	m, vectors, err := e.Bags.Embed(ctx, p, texts)
	if err == nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		for _, text := range texts {
			e.seen[text]++
		}
	}
	return m, vectors, err
}

// library is a store of notes with an index that shares an embedder.
type library struct {
	searchtest.Rooms
	*Index
}

func openLibrary(t *testing.T, db *kv.Store, opts Options) library {
	t.Helper()
	rooms := searchtest.Over(t, db, notes.Options{})
	l := library{rooms, Open(db, notedoc.New(rooms.Notes, notedoc.Options{}), opts)}
	l.Begin()
	searchtest.Until(t, "the vectors are compared", func() bool { return l.Stats().Idle || l.Stats().Waiting > 0 })
	return l
}

// fill writes notes of one part each, and returns their texts as they are embedded.
func (l library) fill(t *testing.T, name string, count int) (texts []string) {
	t.Helper()
	var drafts []notes.Draft
	for i := range count {
		title, body := fmt.Sprint(name, " ", i), fmt.Sprint("Text ", i, " of ", name)
		drafts = append(drafts, notes.Draft{ID: fmt.Sprint(name, "-", i), Title: title, Body: body})
		texts = append(texts, title+"\n"+body)
	}
	_, err := l.Notes.PutMany(context.Background(), drafts)
	searchtest.Must(t, err)
	return texts
}

// TestSRCH14_IndexesShareAnEmbedder fills two indexes at once, ends one of them while the
// embedder has its texts, and opens it again: never does the embedder have two calls at a
// time, the other index goes on, and no text is embedded twice that was embedded to the end.
func TestSRCH14_IndexesShareAnEmbedder(t *testing.T) {
	e := &shared{Bags: embedtest.Bags{Name: "shared"}, seen: make(map[string]int)}
	turns := NewScheduler()
	dir := t.TempDir()
	openFirst := func() (*kv.Store, library) {
		db, err := kv.Open(filepath.Join(dir, "store"), kv.Options{})
		searchtest.Must(t, err)
		return db, openLibrary(t, db, Options{Dir: filepath.Join(dir, "index"), Embedder: e, Scheduler: turns})
	}
	db, first := openFirst()
	second := openLibrary(t, searchtest.Open(t, kv.InMemory), Options{Embedder: e, Scheduler: turns})
	all := slices.Concat(first.fill(t, "early", 100), second.fill(t, "beside", 100))
	idle := func(l library) func() bool { return func() bool { return l.Stats().Idle } }
	searchtest.Until(t, "both are done", func() bool { return idle(first)() && idle(second)() })

	gate := make(chan struct{})
	e.Set(func() { e.Gate = gate })
	all = append(all, first.fill(t, "late", 100)...)
	searchtest.Until(t, "the embedder has texts of the first", func() bool { return e.calls.Load() == 1 })
	all = append(all, second.fill(t, "more", 100)...)
	searchtest.Until(t, "the second waits for it", func() bool {
		turns.mu.Lock()
		defer turns.mu.Unlock()
		return len(turns.waiting) == 1 || e.calls.Load() > 1
	})
	searchtest.Must(t, db.Close())
	searchtest.Until(t, "the embedder has texts of the second", func() bool { return e.calls.Load() == 1 })
	e.Set(func() { e.Gate = nil })
	close(gate)
	searchtest.Until(t, "the second is done", idle(second))

	db, first = openFirst()
	searchtest.Until(t, "the first is done again", idle(first))
	if n := first.Stats().Vectors; n != 200 {
		t.Errorf("the first has %d vectors", n)
	}
	searchtest.Must(t, db.Close())
	if most := e.most.Load(); most != 1 {
		t.Errorf("the embedder had %d calls at a time", most)
	}
	for _, text := range all {
		if e.seen[text] != 1 {
			t.Errorf("%q was embedded %d times", text, e.seen[text])
		}
	}
}

// gated is a Source whose documents can't be listed until a gate opens.
type gated struct {
	text.Source
	asked chan<- struct{}
	gate  <-chan struct{}
}

func (s gated) All() iter.Seq[text.Doc] {
	s.asked <- struct{}{}
	<-s.gate
	return s.Source.All()
}

// TestSRCH24_NothingIsDoneBeforeItIsCompared looks at the queue while the index is there, but
// nobody has compared it with the documents: all of them wait.
func TestSRCH24_NothingIsDoneBeforeItIsCompared(t *testing.T) {
	db := searchtest.Open(t, kv.InMemory)
	rooms := searchtest.Over(t, db, notes.Options{})
	rooms.Put(t, notes.Draft{ID: "a", Body: "bees"}, notes.Draft{ID: "b", Body: "wax"}, notes.Draft{ID: "c", Body: "honey"})
	asked, gate := make(chan struct{}), make(chan struct{})
	x := Open(db, gated{notedoc.New(rooms.Notes, notedoc.Options{}), asked, gate}, Options{Embedder: &embedtest.Bags{Name: "b"}})
	x.Begin()
	<-asked
	if st := x.Stats(); st.Model == nil || st.Waiting != 3 || st.Docs != 0 || st.Idle || x.Waiting() != 3 {
		t.Errorf("%+v, %d wait", st, x.Waiting())
	}
	close(gate)
	searchtest.Until(t, "all are embedded", func() bool {
		st := x.Stats()
		return st.Idle && st.Waiting == 0 && st.Docs == 3 && st.Vectors == 3
	})
}
