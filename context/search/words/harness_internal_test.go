package words

import (
	"context"
	"fmt"
	"strings"
	"testing"

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

// rooms is an index of notes with what it stands on.
type rooms struct {
	*Index
	db    *kv.Store
	ents  *entities.Store
	notes *notes.Store
}

// openAll opens a store in a folder, or in memory, with an index.
func openAll(t testing.TB, dir string, opts Options) *rooms {
	t.Helper()
	return over(t, searchtest.Open(t, dir), opts)
}

func over(t testing.TB, db *kv.Store, opts Options) *rooms {
	t.Helper()
	return overNotes(t, db, notes.Options{}, notedoc.Options{}, opts)
}

func overNotes(t testing.TB, db *kv.Store, of notes.Options, from notedoc.Options, opts Options) *rooms {
	t.Helper()
	on := searchtest.Over(t, db, of)
	return &rooms{Open(db, notedoc.New(on.Notes, from), opts), db, on.Entities, on.Notes}
}

func (r *rooms) put(t testing.TB, drafts ...notes.Draft) {
	t.Helper()
	for _, d := range drafts {
		_, err := r.notes.Put(ctx, d, nil)
		must(t, err)
	}
}

// queryOf makes a Query of words; the last may be unfinished unless a blank follows.
func queryOf(words string, limit int) Query {
	q := Query{Limit: limit, Keep: func(d text.Doc) bool { return notedoc.Note(d).Live() }}
	seen := make(map[string]bool)
	var s text.Splitter
	s.Split(words, func(t text.Token) {
		w := string(t.Text)
		if !t.Last && !seen[w] {
			seen[w] = true
			q.Words = append(q.Words, w)
		}
	})
	return q
}

// ids returns the ids of the hits, best first.
func (r *rooms) ids(t testing.TB, words string) string {
	t.Helper()
	q := queryOf(words, 10)
	if len(q.Words) > 0 {
		q.Prefix = q.Words[len(q.Words)-1]
	}
	return r.find(t, q)
}

func (r *rooms) find(t testing.TB, q Query) string {
	t.Helper()
	res, err := r.Search(ctx, q)
	must(t, err)
	var out []string
	for _, h := range res.Hits {
		out = append(out, h.Doc.ID())
	}
	return strings.Join(out, " ")
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
	x.rlock()
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
			for _, b := range l.Blocks() {
				var docs, tfs [postingBlockSize + 1]uint32
				k := b.Decode(&docs, &tfs)
				if k == 0 || docs[0] != uint32(b.First) || docs[k-1] != uint32(b.Last) {
					t.Fatalf("%s: a block of %d from %d to %d says from %d to %d", text, k, docs[0], docs[k-1], b.First, b.Last)
				}
				for i := range k {
					if int(docs[i]) <= before {
						t.Fatalf("%s: document %d behind %d", text, docs[i], before)
					}
					before = int(docs[i])
					if now := x.now.Of(tfs[i], x.lengths[docs[i]]); now > b.Max {
						t.Fatalf("%s: a posting is worth %g in a block of at most %g", text, now, b.Max)
					}
					postings[name(docID(docs[i]))] = tfs[i]
				}
				n += k
			}
			if n != l.Docs() || n != len(postings) {
				t.Fatalf("%s: %d postings, %d said to be there", text, n, l.Docs())
			}
			out["stem "+text] = fmt.Sprint(postings)
		}
		out["totals"] = fmt.Sprint(x.docs, x.total)
		return out
	}
	fresh := newInverted(x.x.stem)
	var names []string
	for n := range x.src.All() {
		d := docID(len(names))
		names = append(names, n.ID())
		fresh.docs++
		fresh.replace(d, contents{}, fresh.take(analyse(new(reading), x.fields, n)))
	}
	fresh.average()
	got := dump(x.x, func(d docID) string { return x.docs[d].ID() })
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
