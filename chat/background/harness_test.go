package background_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat/background"
	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/chat/prompts"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/fixtures/provider"
	"github.com/ctxd/ctxd/notes"
)

// summaryWorld is a store with notes, and a model.
type summaryWorld struct {
	*testing.T
	dir           string // "" in memory
	db            *kv.Store
	notes         *notes.Store
	local, remote *audience.View
	summaries     *background.SummaryStore
	maker         *background.Summarizer
	providers     *llm.Set
	model         *provider.Server
	slept         int

	mu     sync.Mutex // guards what follows
	now    time.Time
	answer func(r *provider.Request, to *provider.Reply)
}

// settings say what a world has.
type settings struct {
	dir    string
	none   bool // no model is asked
	local  bool // the model is
	budget llm.Budget
}

func openSummaries(t *testing.T, o settings) *summaryWorld {
	t.Helper()
	w := &summaryWorld{T: t, dir: o.dir, now: time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)}
	if w.dir == "" {
		w.dir = kv.InMemory
	}
	w.says("A bridge over a brook.")
	w.model = provider.Start(func(r *provider.Request, to *provider.Reply) {
		w.mu.Lock()
		answer := w.answer
		w.mu.Unlock()
		answer(r, to)
	})
	t.Cleanup(w.model.Close)
	var err error
	w.providers, err = llm.NewSet(llm.SetOptions{
		Default: "it", Budget: o.budget,
		Time: llm.Timing{
			Now:   func() time.Time { w.mu.Lock(); defer w.mu.Unlock(); return w.now },
			Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		},
		Providers: []llm.Options{{Name: "it", Kind: llm.OpenAI, Base: w.model.URL, Model: "m", Key: "none", Local: o.local}},
	})
	w.must(err)
	t.Cleanup(w.providers.Close)
	if !o.none {
		w.maker = background.NewSummarizer(background.SummarizerOptions{
			Providers: w.providers, Prompts: prompts.BuiltIn(), Log: slog.New(slog.DiscardHandler),
			Sleep: func(ctx context.Context, d time.Duration) error {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.slept++
				w.now = w.now.Add(d)
				return ctx.Err()
			},
		})
		t.Cleanup(w.maker.Close)
	}
	w.begin()
	t.Cleanup(func() { _ = w.db.Close() })
	return w
}

// begin opens the store.
func (w *summaryWorld) begin() {
	w.Helper()
	var err error
	w.db, err = kv.Open(w.dir, kv.Options{})
	w.must(err)
	ents, err := entities.Open(w.db, entities.Options{})
	w.must(err)
	w.notes, err = notes.Open(w.db, ents, notes.Options{})
	w.must(err)
	rooms := audience.Open(w.db, audience.Stores{Entities: ents, Notes: w.notes})
	w.local, w.remote = rooms.View(audience.Local), rooms.View(audience.Remote)
	w.summaries = background.NewSummaryStore(w.db, background.SummaryStoreOptions{
		Remote: w.remote, Maker: w.maker,
		Enter: func(ctx context.Context, work func(context.Context) error) error { return work(ctx) },
	})
}

// restart closes the store and opens it anew.
func (w *summaryWorld) restart() {
	w.Helper()
	w.must(w.db.Close())
	w.begin()
}

func (w *summaryWorld) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *summaryWorld) does(answer func(r *provider.Request, to *provider.Reply)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = answer
}

func (w *summaryWorld) says(text string) {
	w.does(func(_ *provider.Request, to *provider.Reply) { to.Text(text) })
}

func (w *summaryWorld) put(d notes.Draft) {
	w.Helper()
	_, err := w.notes.Put(w.Context(), d, nil)
	w.must(err)
}

// of returns what a note is about, when all that it has had asked is done.
func (w *summaryWorld) of(v *audience.View, id string) string {
	w.Helper()
	text, reason := w.summaries.Of(w.Context(), v, id, 0)
	if (text == "") == (reason == "") {
		w.Errorf("note %s for %s: %q because of %q", id, v.Reader(), text, reason)
	}
	w.maker.Wait()
	return text
}

// wants fails unless a note is said to be about something.
func (w *summaryWorld) wants(v *audience.View, id, want string) {
	w.Helper()
	if got := w.of(v, id); got != want {
		w.Errorf("note %s for %s: %q, want %q", id, v.Reader(), got, want)
	}
}

// asked fails unless the model was asked so often.
func (w *summaryWorld) asked(times int) {
	w.Helper()
	if n := len(w.model.Requests()); n != times {
		w.Fatalf("the model was asked %d times, want %d", n, times)
	}
}
