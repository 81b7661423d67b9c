package search

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/context/search/searchtest"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

var ctx = context.Background()

// must and until are those of all rooms of search.
var must, until = searchtest.Must, searchtest.Until

// rooms is an index with what it stands on.
type rooms struct {
	*Index
	db    *kv.Store
	ents  *entities.Store
	notes *notes.Store
}

// openAll opens a store in a folder, or in memory, with an index. An embedder has been
// asked for its model when it returns: a note that is written while the vectors are
// compared with the notes can be embedded twice, and tests count.
func openAll(t testing.TB, dir string, opts Options) *rooms {
	t.Helper()
	r := over(t, searchtest.Open(t, dir), opts)
	if opts.Embedder != nil {
		until(t, "the embedder was asked", func() bool {
			st := r.Stats().Meanings
			return st.Error != "" || st.Idle
		})
	}
	return r
}

func over(t testing.TB, db *kv.Store, opts Options) *rooms {
	t.Helper()
	return openRoomsOf(t, db, opts)
}

func openRoomsOf(t searchtest.T, db *kv.Store, opts Options) *rooms {
	t.Helper()
	on := searchtest.Over(t, db, notes.Options{})
	return &rooms{Open(db, notedoc.New(on.Notes, notedoc.Options{}), opts), db, on.Entities, on.Notes}
}

func (r *rooms) put(t testing.TB, drafts ...notes.Draft) {
	t.Helper()
	for _, d := range drafts {
		_, err := r.notes.Put(ctx, d, nil)
		must(t, err)
	}
}

// ids returns the ids of the hits, best first.
func (r *rooms) ids(t testing.TB, query string) string {
	t.Helper()
	return r.find(t, Request{Query: query})
}

func (r *rooms) find(t testing.TB, req Request) string {
	t.Helper()
	if req.Limit == 0 {
		req.Limit = 10
	}
	res, err := r.Search(ctx, req)
	must(t, err)
	var out []string
	for _, h := range res.Hits {
		out = append(out, h.Doc.ID())
	}
	return strings.Join(out, " ")
}

// findInTime is find where a busy machine does not change the answer: it asks until
// the vector of the query, which is then kept, is there in time.
func (r *rooms) findInTime(t testing.TB, req Request) string {
	t.Helper()
	if r.tokens != nil { // its words are kept then, too
		r.tokens.AskWords(ctx, req.Query, req.Public)
	}
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		res, err := r.Search(ctx, req)
		if err == nil && !strings.Contains(res.Degraded, "in time") || err != nil && !strings.Contains(err.Error(), "in time") {
			break
		}
	}
	return r.find(t, req)
}

// chosen is the test of the notes that a filter lets through.
func (r *rooms) chosen(f notes.SearchFilter) func(text.Doc) bool {
	return notedoc.Keep(r.notes.Chooser(f))
}

// signals are those of a hit.
func signals(h Hit) map[string]float64 {
	all := make(map[string]float64)
	h.EachSignal(func(name string, value float64) { all[name] = value })
	return all
}

// settled waits until every note has its vectors.
func (r *rooms) settled(t searchtest.T) {
	t.Helper()
	until(t, "the queue is empty", func() bool {
		want, err := r.opts.Embedder.Model(ctx)
		st := r.Stats().Meanings
		return err == nil && st.Idle && st.Model != nil && *st.Model == want
	})
}

func (r *rooms) near(t testing.TB, query string) string {
	t.Helper()
	return r.find(t, Request{Query: query, Mode: Semantic, Plain: true})
}

// told is what is told of hits.
func told(hits []Hit) (all []any) {
	for _, h := range hits {
		all = append(all, h.Doc.ID(), h.Score, h.Snippet, h.Ranges, h.Found, signals(h))
	}
	return all
}

// reopen closes the rooms and opens them again, with the index in the background
// or at once.
func reopen(t *testing.T, dir string, r *rooms, opts Options) *rooms {
	t.Helper()
	if r != nil {
		must(t, r.db.Close())
	}
	opts.Dir = filepath.Join(dir, "index")
	return openAll(t, filepath.Join(dir, "store"), opts)
}
