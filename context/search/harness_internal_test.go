package search

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

var ctx = context.Background()

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
	db, err := kv.Open(dir, kv.Options{Format: 2, SnapshotAfter: -1, Durability: kv.Relaxed})
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	r := over(t, db, opts)
	if opts.Embedder != nil {
		until(t, "the embedder was asked", func() bool {
			r.meaning.mu.RLock()
			defer r.meaning.mu.RUnlock()
			return r.meaning.retry.why != "" || r.meaning.serving != nil && r.meaning.serving.ready
		})
	}
	return r
}

func over(t testing.TB, db *kv.Store, opts Options) *rooms {
	t.Helper()
	return openRoomsOf(t, db, opts)
}

func openRoomsOf(t interface {
	Helper()
	Fatal(...any)
}, db *kv.Store, opts Options,
) *rooms {
	t.Helper()
	ents, err := entities.Open(db, entities.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ns, err := notes.Open(db, ents, notes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &rooms{Open(db, ns, opts), db, ents, ns}
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
		out = append(out, h.Note.ID)
	}
	return strings.Join(out, " ")
}

// findInTime is find where a busy machine does not change the answer: it asks until
// the vector of the query, which is then kept, is there in time.
func (r *rooms) findInTime(t testing.TB, req Request) string {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		res, err := r.Search(ctx, req)
		if err == nil && !strings.Contains(res.Degraded, "in time") || err != nil && !strings.Contains(err.Error(), "in time") {
			break
		}
	}
	return r.find(t, req)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// check looks at everything that must be true of an index whatever it holds: it
// is the same as one made anew, blocks are in order and worth enough, and
// nothing is counted that is not there.
func (x *Index) check(t interface {
	Helper()
	Fatalf(string, ...any)
},
) {
	t.Helper()
	x.mu.RLock()
	defer x.mu.RUnlock()
	dump := func(x *inverted, name func(docID) string) map[string]string {
		out := make(map[string]string)
		for id := range x.words {
			w := &x.words[id]
			text := string(x.bytes(wordID(id)))
			if w.docs > 0 {
				out["word "+text] = fmt.Sprint(w.docs)
			}
			l := x.listOf(wordID(id))
			if l == nil {
				continue
			}
			before, n := -1, 0
			postings := make(map[string]uint32)
			for _, b := range l.blocks() {
				var docs, tfs [blockSize + 1]uint32
				k := b.decode(&docs, &tfs)
				if k == 0 || docs[0] != uint32(b.first) || docs[k-1] != uint32(b.last) {
					t.Fatalf("%s: a block of %d from %d to %d says from %d to %d", text, k, docs[0], docs[k-1], b.first, b.last)
				}
				for i := range k {
					if int(docs[i]) <= before {
						t.Fatalf("%s: document %d behind %d", text, docs[i], before)
					}
					before = int(docs[i])
					if now := saturation(tfs[i], x.norms[x.lengths[docs[i]]]); now > b.max {
						t.Fatalf("%s: a posting is worth %g in a block of at most %g", text, now, b.max)
					}
					postings[name(docID(docs[i]))] = tfs[i]
				}
				n += k
			}
			if n != l.docs() || n != len(postings) {
				t.Fatalf("%s: %d postings, %d said to be there", text, n, l.docs())
			}
			out["stem "+text] = fmt.Sprint(postings)
		}
		out["totals"] = fmt.Sprint(x.docs, x.total)
		return out
	}
	fresh := newInverted(x.x.stem)
	var names []string
	for n := range x.notes.All() {
		d := docID(len(names))
		names = append(names, n.ID)
		fresh.docs++
		fresh.replace(d, contents{}, fresh.take(analyse(new(reading), n)))
	}
	fresh.average()
	got := dump(x.x, func(d docID) string { return x.docs[d].ID })
	want := dump(fresh, func(d docID) string { return names[d] })
	for key, value := range want {
		if got[key] != value {
			t.Fatalf("%s: %s, made anew %s", key, got[key], value)
		}
	}
	for key, value := range got {
		if want[key] != value {
			t.Fatalf("%s: %s, a ghost", key, value)
		}
	}
}
