package vectors

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/context/search/searchtest"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

var ctx = context.Background()

// must and until are those of all rooms of search.
var must, until = searchtest.Must, searchtest.Until

// rooms is an index of notes with what it stands on.
type rooms struct {
	*Index
	db    *kv.Store
	notes *notes.Store
}

// openAll opens a store in a folder, or in memory, with an index. The embedder has been
// asked for its model when it returns: a note that is written while the vectors are
// compared with the notes can be embedded twice, and tests count.
func openAll(t testing.TB, dir string, opts Options) *rooms {
	t.Helper()
	r := over(t, searchtest.Open(t, dir), opts)
	until(t, "the embedder was asked", func() bool {
		r.mu.RLock()
		defer r.mu.RUnlock()
		return r.retry.why != "" || r.serving != nil && r.serving.ready
	})
	return r
}

func over(t searchtest.T, db *kv.Store, opts Options) *rooms {
	t.Helper()
	return overNotes(t, db, notedoc.Options{}, opts)
}

func overNotes(t searchtest.T, db *kv.Store, from notedoc.Options, opts Options) *rooms {
	t.Helper()
	on := searchtest.Over(t, db, notes.Options{})
	opts.Logger = slog.New(slog.DiscardHandler)
	r := &rooms{Open(db, notedoc.New(on.Notes, from), opts), db, on.Notes}
	r.Begin()
	return r
}

func (r *rooms) put(t testing.TB, drafts ...notes.Draft) {
	t.Helper()
	for _, d := range drafts {
		_, err := r.notes.Put(ctx, d, nil)
		must(t, err)
	}
}

// nearest asks until the vector of the query, which is then kept, is there in time.
func (r *rooms) nearest(t testing.TB, query string) []Hit {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		soon, cancel := context.WithTimeout(ctx, 150*time.Millisecond)
		q := r.Ask(soon, query, false)
		cancel()
		if q.Asked() {
			hits, err := q.Nearest(ctx, 10, 0, Filter{Keep: func(text.Doc) bool { return true }})
			if err != nil {
				panic(err)
			}
			return hits
		}
		if !strings.Contains(q.Missing, "in time") {
			break
		}
	}
	return nil
}

// near returns the ids of the documents that are nearest.
func (r *rooms) near(t testing.TB, query string) string {
	t.Helper()
	var ids []string
	for _, h := range r.nearest(t, query) {
		ids = append(ids, h.Doc.ID())
	}
	return strings.Join(ids, " ")
}

// settled waits until every note has its vectors.
func (r *rooms) settled(t searchtest.T) {
	t.Helper()
	poke(r.hurry)
	until(t, "the queue is empty", func() bool {
		r.mu.RLock()
		defer r.mu.RUnlock()
		g := r.serving
		want, err := r.embedder.Model(ctx)
		return err == nil && g != nil && g.model == want && g.ready && len(g.waiting)+len(g.gone) == 0 && r.building == nil && !r.anew
	})
}
