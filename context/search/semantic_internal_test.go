package search

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/embed/embedtest"
	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/context/search/searchtest"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// slow says only when it is let which model it has.
type slow struct {
	*embedtest.Bags
	let   chan struct{}
	known atomic.Bool
}

func (s *slow) Model(ctx context.Context) (embed.Model, error) {
	select {
	case <-s.let:
	case <-ctx.Done():
		return embed.Model{}, ctx.Err()
	}
	s.known.Store(true)
	return s.Bags.Model(ctx)
}

func (s *slow) Status() embed.Status {
	st := s.Bags.Status()
	if !s.known.Load() {
		st.Model = nil
	}
	return st
}

func TestSRCH24_ByTextAtOnceByMeaningWhenReady(t *testing.T) {
	gate := make(chan struct{})
	b := &embedtest.Bags{Name: "b", Gate: gate}
	r := openAll(t, kv.InMemory, Options{Embedder: b})
	r.put(t, notes.Draft{ID: "a", Title: "Honey", Body: "Bees make it."})
	if got := r.find(t, Request{Query: "bees make", Mode: Hybrid}); got != "a" {
		t.Errorf("by text: %q", got)
	}
	res, err := r.Search(ctx, Request{Query: "bees make", Mode: Hybrid, Limit: 5})
	must(t, err)
	if res.Mode != Lexical || res.Stage != "semantic" || res.Degraded == "" {
		t.Errorf("mode %s, degraded %s: %s", res.Mode, res.Stage, res.Degraded)
	}
	_, err = r.Search(ctx, Request{Query: "bees make", Mode: Semantic, Limit: 5})
	if fault.KindOf(err) != fault.Unavailable {
		t.Errorf("semantic without vectors: %v", err)
	}
	st := r.Stats().Meanings
	if st.Waiting != 1 || st.Oldest <= 0 {
		t.Errorf("stats %+v", st)
	}
	close(gate)
	r.settled(t)
	if got := r.near(t, "bees"); got != "a" {
		t.Errorf("by meaning: %q", got)
	}
	if st := r.Stats().Meanings; st.Waiting != 0 || st.Docs != 1 || st.Vectors != 1 || st.Embedded != 1 || st.Rate <= 0 || st.Model == nil || st.Size.Memory == 0 {
		t.Errorf("stats %+v", st)
	}
}

// While the embedder has not said yet which model it has, nobody is told that it
// has another; a search waits for it a moment.
func TestSRCH13_TheModelOfTheVectorsIsBeingLoaded(t *testing.T) {
	dir := t.TempDir()
	open := func(e embed.Embedder) *rooms {
		db, err := kv.Open(dir, kv.Options{Format: 2, SnapshotAfter: -1, Durability: kv.Relaxed})
		must(t, err)
		return over(t, db, Options{Dir: filepath.Join(dir, "index"), Embedder: e})
	}
	b := &embedtest.Bags{Name: "b"}
	r := open(b)
	r.put(t, notes.Draft{ID: "a", Title: "Honey", Body: "bees"})
	r.settled(t)
	must(t, r.db.Close())
	s := &slow{Bags: b, let: make(chan struct{})}
	r = open(s)
	defer func() { must(t, r.db.Close()) }()
	until(t, "the vectors are read", func() bool {
		return r.Stats().Meanings.Idle
	})
	res, err := r.Search(ctx, Request{Query: "bees keep", Mode: Hybrid, Limit: 5})
	must(t, err)
	if !strings.Contains(res.Degraded, "starting") {
		t.Errorf("degraded %q", res.Degraded)
	}
	b.Set(func() { b.Fail = fault.New(fault.Unavailable, "the endpoint is away") })
	close(s.let)
	until(t, "the reason is told", func() bool {
		res, err := r.Search(ctx, Request{Query: "bees keep", Mode: Hybrid, Limit: 5})
		return err == nil && res.Degraded == "the endpoint is away"
	})
	b.Set(func() { b.Fail = nil })
	until(t, "the vectors serve", func() bool {
		res, err := r.Search(ctx, Request{Query: "bees keep", Mode: Hybrid, Limit: 5})
		return err == nil && res.Degraded == "" && res.Mode == Hybrid
	})
}

// TestREL18_APublicSearchReadsNoTextAnew: what others see of documents is known to the index of words, and is not asked for
// again of each that a filter of a search has to decide on.
func TestREL18_APublicSearchReadsNoTextAnew(t *testing.T) {
	db := searchtest.Open(t, kv.InMemory)
	on := searchtest.Over(t, db, notes.Options{})
	var asked atomic.Int64
	src := notedoc.New(on.Notes, notedoc.Options{Public: func(n *notes.Note) *notes.Note {
		asked.Add(1)
		if n.Title != "Note 7" {
			return n
		}
		out := *n
		out.Body = "meadow"
		return &out
	}})
	r := &rooms{Open(db, src, Options{Embedder: new(embedtest.Bags)}), db, on.Entities, on.Notes}
	for i := range 60 {
		r.put(t, notes.Draft{ID: fmt.Sprint("n", i), Title: fmt.Sprint("Note ", i), Body: "meadow lantern", Private: i%5 == 0})
	}
	r.settled(t)
	req := Request{Query: "meadow", Mode: Semantic, Plain: true, Public: true, Keep: func(d text.Doc) bool { return strings.HasSuffix(d.ID(), "7") }}
	want := r.findInTime(t, req)
	before := asked.Load()
	if got := r.find(t, req); got != want || len(strings.Fields(got)) != 6 {
		t.Errorf("found %s, then %s", want, got)
	}
	if n := asked.Load() - before; n > 0 {
		t.Errorf("the public form of %d notes was asked for", n)
	}
	res, err := r.Search(ctx, Request{Query: "lantern", Mode: Semantic, Plain: true, Public: true, Limit: 60, Keep: src.Usual})
	must(t, err)
	for _, h := range res.Hits {
		if h.Doc.Private() || h.Doc.ID() == "n7" && h.Doc.Plain() != "meadow" {
			t.Errorf("others see %s: %s", h.Doc.ID(), h.Doc.Plain())
		}
	}
	for d := range src.All() {
		if got, want := r.Source().Public(d), src.Public(d); (got == nil) != (want == nil) || got != nil && got.Plain() != want.Plain() {
			t.Errorf("others see %v of %s, want %v", got, d.ID(), want)
		}
	}
}

// hurried notes how long the vector of a question is waited for.
type hurried struct {
	*embedtest.Bags
	waits []time.Duration
}

func (h *hurried) Embed(ctx context.Context, p embed.Purpose, texts []string) (embed.Model, [][]float32, error) {
	if p == embed.Query {
		until, _ := ctx.Deadline()
		h.waits = append(h.waits, time.Until(until))
	}
	return h.Bags.Embed(ctx, p, texts)
}

// TestCTX46_TheVectorMayTakeWhatTheCallHas: a request says how long the vector of its query is waited for, 150 ms at least.
func TestCTX46_TheVectorMayTakeWhatTheCallHas(t *testing.T) {
	e := &hurried{Bags: new(embedtest.Bags)}
	r := openAll(t, kv.InMemory, Options{Embedder: e})
	r.put(t, notes.Draft{ID: "a", Title: "Honey", Body: "bees"})
	r.settled(t)
	for i, c := range []struct{ wait, least, most time.Duration }{
		{0, 0, questionDeadline}, {time.Millisecond, 0, questionDeadline}, {time.Hour, 50 * time.Minute, time.Hour},
	} {
		e.waits = nil
		_, err := r.Search(ctx, Request{Query: fmt.Sprintf("bees keep %d", i), Mode: Hybrid, Limit: 5, Wait: c.wait})
		must(t, err)
		if len(e.waits) != 1 || e.waits[0] > c.most || e.waits[0] < c.least {
			t.Errorf("%s: %v", c.wait, e.waits)
		}
	}
}

// TestSRCH48_WhyANoteStandsWhereItDoes: a note is followed through a search whether it was found or not.
func TestSRCH48_WhyANoteStandsWhereItDoes(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{Embedder: &embedtest.Bags{Name: "b"}})
	r.put(t, notes.Draft{ID: "a", Title: "Honey", Body: "Bees make honey of nectar."})
	r.put(t, notes.Draft{ID: "b", Title: "Nectar", Body: "Flowers have nectar. " + strings.Repeat("They stand in a meadow. ", 20)})
	r.put(t, notes.Draft{ID: "c", Title: "Steel", Body: "An alloy of iron."})
	r.put(t, notes.Draft{ID: "d", Title: "Old honey", Body: "Honey and nectar of bees."})
	_, err := r.notes.Archive(ctx, "d", nil)
	must(t, err)
	r.settled(t)
	why := func(id, query string) *Why {
		t.Helper()
		w, err := r.Why(ctx, Request{Query: query}, id)
		must(t, err)
		return w
	}
	first, second, none := why("a", "bees nectar honey"), why("b", "bees nectar honey"), why("c", "bees nectar honey")
	switch {
	case first.Place != 1 || first.Words.Place != 1 || first.Words.Score != first.Words.Best || len(first.Result.Hits) != 1:
		t.Errorf("the first: %+v", first)
	case second.Place != 2 || second.Words.Place != 2 || second.Words.Score <= 0 || second.Words.Score >= second.Words.Best:
		t.Errorf("the second: %+v", second)
	case len(second.Hit.Lexical.Terms) != 1 || second.Hit.Lexical.Terms[0].Word != "nectar":
		t.Errorf("the second has %+v", second.Hit.Lexical.Terms)
	case none.Words.Place != 0 || none.Words.Score != 0 || none.Words.Best != first.Words.Best:
		t.Errorf("none: %+v", none)
	}
	if w := why("d", "bees nectar honey"); w.Place != 0 || w.Hit.Doc != nil {
		t.Errorf("archived: %+v", w)
	}
	if w := why("a", "zzyqx qqxyz"); w.Result.Nothing == "" || w.Place != 0 {
		t.Errorf("nothing is about it: %+v", w)
	}
}
