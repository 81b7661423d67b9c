package vectors

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/embed/embedtest"
	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

func TestSRCH12_UnchangedTextIsNotEmbeddedAgain(t *testing.T) {
	b := &embedtest.Bags{Name: "b"}
	dir := t.TempDir()
	r := openAll(t, dir, Options{Dir: filepath.Join(dir, "index"), Embedder: b})
	body := "# One\n\nFirst text.\n\n# Two\n\nSecond text.\n\n# Three\n\nThird text.\n"
	r.put(t, notes.Draft{ID: "a", Title: "Note", Body: body, Path: "x/note.md"})
	r.settled(t)
	if n := len(b.Taken()); n != 3 {
		t.Errorf("%d texts embedded", n)
	}
	for _, c := range []struct {
		name  string
		draft notes.Draft
		want  []string
	}{
		{"moved, tagged, archived", notes.Draft{Title: "Note", Body: body, Path: "y/note.md", Tags: []string{"t"}}, nil},
		{"a part changed", notes.Draft{Title: "Note", Body: strings.Replace(body, "Second", "Other", 1)}, []string{"Note > Two\nOther text."}},
		{"parts in another order", notes.Draft{Title: "Note", Body: "# Three\n\nThird text.\n\n# One\n\nFirst text.\n"}, nil},
		{"a part twice", notes.Draft{Title: "Note", Body: "# One\n\nFirst text.\n\n# One\n\nFirst text.\n"}, []string{"Note > One\nFirst text."}},
		{"another title", notes.Draft{Title: "Other", Body: "# One\n\nFirst text.\n"}, []string{"Other > One\nFirst text."}},
	} {
		c.draft.ID = "a"
		r.put(t, c.draft)
		r.settled(t)
		if got := b.Taken(); !slices.Equal(got, c.want) {
			t.Errorf("%s: embedded %q, want %q", c.name, got, c.want)
		}
	}
	if st := r.Stats(); st.Reused == 0 {
		t.Errorf("stats %+v", st)
	}
}

func TestSRCH24_DeletesAreImmediate(t *testing.T) {
	b := &embedtest.Bags{Name: "b"}
	r := openAll(t, kv.InMemory, Options{Embedder: b})
	r.put(t, notes.Draft{ID: "a", Title: "Honey", Body: "bees"}, notes.Draft{ID: "b", Title: "Wax", Body: "bees too"}, notes.Draft{ID: "c", Title: "Rails", Body: "steam"})
	r.settled(t)
	gate := make(chan struct{})
	b.Set(func() { b.Gate = gate })
	defer close(gate)
	r.asked.put(b.Of(), "bees", b.Vector("bees"))
	r.put(t, notes.Draft{ID: "d", Title: "Bread", Body: "salt"}) // which the worker is kept with
	until(t, "the worker is busy", func() bool { return b.Held.Load() > 0 })
	_, err := r.notes.Delete(ctx, "a", nil)
	must(t, err)
	if got := r.near(t, "bees"); !strings.HasPrefix(got, "b") || strings.Contains(got, "a") {
		t.Errorf("found %q", got)
	}
	r.put(t, notes.Draft{ID: "b", Title: "Wax", Body: "something else"})
	if got := r.near(t, "bees"); strings.Contains(got, "b") {
		t.Errorf("the old text of a note is found: %q", got)
	}
}

// A note that is edited keeps serving what did not change, also while the embedder is
// away.
func TestSRCH24_UnchangedPartsServeWhileTheEmbedderIsAway(t *testing.T) {
	b := &embedtest.Bags{Name: "b"}
	r := openAll(t, kv.InMemory, Options{Embedder: b})
	body := "# One\n\nbees hive honey\n\n# Two\n\ntrains rails steam\n"
	r.put(t, notes.Draft{ID: "a", Title: "T", Body: body})
	r.settled(t)
	for _, q := range []string{"bees hive honey", "trains rails steam"} {
		r.asked.put(b.Of(), q, b.Vector(q))
	}
	b.Set(func() { b.Fail = fault.New(fault.Unavailable, "away") })
	r.put(t, notes.Draft{ID: "a", Title: "T", Body: strings.Replace(body, "trains rails steam", "planes wings", 1)})
	until(t, "the parts that stay are served", func() bool { return r.near(t, "bees hive honey") == "a" })
	if got := r.near(t, "trains rails steam"); got != "" {
		hits := r.nearest(t, "trains rails steam")
		if hits[0].Cosine > 0.5 {
			t.Errorf("the part that went is found: %v", hits[0].Cosine)
		}
	}
	until(t, "the embedder was asked", func() bool { return r.Stats().Error != "" })
	if st := r.Stats(); st.Error != "away" || st.Retry <= 0 || st.Waiting != 1 {
		t.Errorf("stats %+v", st)
	}
	b.Set(func() { b.Fail = nil })
	r.settled(t)
	if st := r.Stats(); st.Error != "" {
		t.Errorf("stats %+v", st)
	}
}

func TestSRCH24_ARefusedNoteIsNotAskedAgain(t *testing.T) {
	b := &embedtest.Bags{Name: "b", Refuse: "poison"}
	r := openAll(t, kv.InMemory, Options{Embedder: b})
	r.put(t, notes.Draft{ID: "a", Title: "A", Body: "fine"}, notes.Draft{ID: "p", Title: "P", Body: "poison"}, notes.Draft{ID: "c", Title: "C", Body: "fine too"})
	r.settled(t)
	if st := r.Stats(); st.Refused != 1 || st.Docs != 2 || st.Error != "" {
		t.Errorf("stats %+v", st)
	}
	b.Taken()
	r.put(t, notes.Draft{ID: "a", Title: "A", Body: "fine again"})
	r.settled(t)
	if got := b.Taken(); len(got) != 1 {
		t.Errorf("asked for %q", got)
	}
	r.put(t, notes.Draft{ID: "p", Title: "P", Body: "cured"})
	r.settled(t)
	if st := r.Stats(); st.Refused != 0 || st.Docs != 3 {
		t.Errorf("stats %+v", st)
	}
}

// TestSRCH24_AServerThatSendsNoVectorForOneText: that note waits until it changes and is counted; all others have their
// vectors, in whatever order the server sends them.
func TestSRCH24_AServerThatSendsNoVectorForOneText(t *testing.T) {
	good := `{"index":AT,"embedding":[LONG,1]}`
	for name, bad := range map[string]string{
		"null": `{"index":AT,"embedding":null}`, "fewer": "", "more": good + `,{"index":99,"embedding":[1,0]}`, "twice the same": good + `,{"index":0,"embedding":[1,0]}`,
		"another size": `{"index":AT,"embedding":[LONG,1,1]}`, "an index that is a text": `{"index":"AT","embedding":[LONG,1]}`,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			var asked struct{ Input []string }
			if err := json.NewDecoder(q.Body).Decode(&asked); err != nil {
				t.Error(err)
			}
			var items []string
			for i, text := range slices.Backward(asked.Input) {
				form := good
				if strings.Contains(text, "poison") {
					form = bad
				}
				if form != "" {
					items = append(items, strings.NewReplacer("AT", strconv.Itoa(i), "LONG", strconv.Itoa(len(text))).Replace(form))
				}
			}
			_, _ = fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(items, ",")) // the caller may have gone
		}))
		e, err := embed.NewEndpoint(embed.EndpointOptions{URL: server.URL, Model: "m"})
		must(t, err)
		r := openAll(t, kv.InMemory, Options{Embedder: e})
		_, err = r.notes.PutMany(ctx, []notes.Draft{ // in one commit, so that they are asked for together
			{ID: "a", Title: "A", Body: "short"}, {ID: "p", Title: "P", Body: "poison"}, {ID: "c", Title: "C", Body: "a text that is a good deal longer"},
		})
		must(t, err)
		r.settled(t)
		if st := r.Stats(); st.Refused != 1 || st.Docs != 2 || st.Error != "" {
			t.Errorf("%s: stats %+v", name, st)
		}
		must(t, r.db.Close())
		must(t, e.Close())
		server.Close()
	}
}

func TestSRCH24_PrivateNotesAreKeptFromARemoteEmbedder(t *testing.T) {
	b := &embedtest.Bags{Name: "b", Remote: true}
	dir := t.TempDir()
	r := openAll(t, dir, Options{Dir: filepath.Join(dir, "index"), Embedder: b})
	r.put(t,
		notes.Draft{ID: "a", Title: "A", Body: "open"},
		notes.Draft{ID: "s", Title: "Canary", Body: "canary", Private: true},
		notes.Draft{ID: "t", Title: "Turned", Body: "canary later"},
	)
	r.put(t, notes.Draft{ID: "s", Title: "Canary", Body: "canary still", Private: true})
	r.settled(t)
	for _, text := range b.Taken() {
		if strings.Contains(text, "canary") && !strings.Contains(text, "later") {
			t.Errorf("the embedder was shown %q", text)
		}
	}
	if st := r.Stats(); st.HeldBack != 1 || st.Waiting != 0 || st.Docs != 2 {
		t.Errorf("stats %+v", st)
	}
	r.put(t, notes.Draft{ID: "t", Title: "Turned", Body: "canary later", Private: true})
	r.settled(t)
	if st := r.Stats(); st.HeldBack != 2 || st.Vectors != 1 {
		t.Errorf("stats %+v", st)
	}
	r.put(t, notes.Draft{ID: "s", Title: "Canary", Body: "free"})
	r.settled(t)
	if st := r.Stats(); st.HeldBack != 1 || st.Vectors != 2 {
		t.Errorf("stats %+v", st)
	}
}

// A text that a remote embedder is about to get, or to get again, is called back
// when its note becomes private or is deleted.
func TestSRCH24_ATextThatBecomesPrivateIsCalledBack(t *testing.T) {
	gate := make(chan struct{})
	b := &embedtest.Bags{Name: "b", Remote: true, Gate: gate}
	r := openAll(t, kv.InMemory, Options{Embedder: b})
	// In one commit, so that all three are on their way together.
	_, err := r.notes.PutMany(ctx, []notes.Draft{{ID: "a", Title: "A", Body: "open"}, {ID: "s", Title: "S", Body: "canary"}, {ID: "d", Title: "D", Body: "canary"}})
	must(t, err)
	until(t, "the embedder is asked", func() bool { return b.Held.Load() == 1 })
	r.put(t, notes.Draft{ID: "s", Title: "S", Body: "canary", Private: true})
	until(t, "the private note is held back", func() bool { return r.Stats().HeldBack == 1 })
	until(t, "the embedder is asked again", func() bool { return b.Held.Load() == 2 })
	_, err = r.notes.Delete(ctx, "d", nil)
	must(t, err)
	until(t, "the embedder is asked for the last one", func() bool { return b.Held.Load() == 3 })
	close(gate)
	r.settled(t)
	if got := b.Taken(); !slices.Equal(got, []string{"A\nopen"}) {
		t.Errorf("the embedder was shown %q", got)
	}
}

// What a compaction left that did not come to its end is no index: another file has
// all vectors.
func TestSRCH12_AnUnfinishedFileIsNotServed(t *testing.T) {
	b := &embedtest.Bags{Name: "b"}
	dir := t.TempDir()
	index := filepath.Join(dir, "index")
	open := func() *rooms {
		db, err := kv.Open(dir, kv.Options{Format: 2, SnapshotAfter: -1, Durability: kv.Relaxed})
		must(t, err)
		return over(t, db, Options{Dir: index, Embedder: b})
	}
	r := open()
	for i := range 20 {
		r.put(t, notes.Draft{ID: fmt.Sprint("n", i), Title: "T", Body: fmt.Sprint("text ", i)})
	}
	r.settled(t)
	name := r.fileOf(b.Of())
	must(t, r.db.Close())
	data, err := os.ReadFile(name)
	must(t, err)
	must(t, os.WriteFile(name+TempSuffix, data[:len(data)/2], 0o600))
	b.Taken()
	r = open()
	defer func() { must(t, r.db.Close()) }()
	r.settled(t)
	if got := b.Taken(); len(got) > 0 {
		t.Errorf("%d texts were embedded again", len(got))
	}
	if got := r.files(); !slices.Equal(got, []string{name}) {
		t.Errorf("files %q", got)
	}
}

func TestSRCH12_AnotherModelTakesTheOldOnesPlace(t *testing.T) {
	dir := t.TempDir()
	index := filepath.Join(dir, "index")
	builtin, err := embed.BuiltinTable()
	must(t, err)
	db, err := kv.Open(dir, kv.Options{Format: 2, SnapshotAfter: -1, Durability: kv.Relaxed})
	must(t, err)
	r := over(t, db, Options{Dir: index, Embedder: builtin})
	const many = 200
	for i := range many {
		r.put(t, notes.Draft{ID: fmt.Sprint("n", i), Title: fmt.Sprint("Note ", i), Body: fmt.Sprintf("The keeper looks after hive number %d and its honey.", i)})
	}
	r.settled(t)
	old := r.Stats().Model.SHA256
	must(t, db.Close())

	// The second model gets stuck on the way.
	b := &stuck{Bags: embedtest.Bags{Name: "b"}, after: 3}
	b.Gate = nil
	db, err = kv.Open(dir, kv.Options{Format: 2, SnapshotAfter: -1, Durability: kv.Relaxed})
	must(t, err)
	r = over(t, db, Options{Dir: index, Embedder: b})
	until(t, "half of it is there", func() bool {
		st := r.Stats()
		return st.Building != nil && b.calls.Load() > 3 && st.Building.Done > 0
	})
	st := r.Stats()
	if st.Model.SHA256 != old || st.Building.Model.Name != "b" || st.Building.Done >= many || st.Building.Total != many {
		t.Errorf("stats %+v, building %+v", st, st.Building)
	}
	if got := r.near(t, "hive number 7"); got == "" {
		t.Error("the old vectors do not serve")
	}
	r.put(t, notes.Draft{ID: "n7", Title: "Note 7", Body: "Trains run on steam."})
	until(t, "an edit is served by the old model", func() bool {
		hits := r.nearest(t, "steam trains run")
		return len(hits) > 0 && hits[0].Doc.ID() == "n7"
	})
	must(t, db.Close())

	done := len(b.Taken())
	c := &embedtest.Bags{Name: "b"}
	db, err = kv.Open(dir, kv.Options{Format: 2, SnapshotAfter: -1, Durability: kv.Relaxed})
	must(t, err)
	r = over(t, db, Options{Dir: index, Embedder: c})
	t.Cleanup(func() { must(t, db.Close()) })
	until(t, "the new model serves", func() bool {
		st := r.Stats()
		return st.Building == nil && st.Model != nil && st.Model.Name == "b"
	})
	r.settled(t)
	if n := len(c.Taken()); n == 0 || n > many-done+1 {
		t.Errorf("%d texts embedded, %d were before", n, done)
	}
	until(t, "the new file has taken the place of the old", func() bool {
		return slices.Equal(r.files(), []string{r.fileOf(c.Of())})
	})
	if got := r.near(t, "trains run on steam"); !strings.HasPrefix(got, "n7") {
		t.Errorf("found %q", got)
	}
}

// stuck is away after some calls for passages.
type stuck struct {
	embedtest.Bags
	after int64
	calls atomic.Int64
}

func (s *stuck) Embed(ctx context.Context, p embed.Purpose, texts []string) (embed.Model, [][]float32, error) {
	if p == embed.Passage && s.calls.Add(1) > s.after {
		return embed.Model{}, nil, fault.New(fault.Unavailable, "it stopped")
	}
	return s.Bags.Embed(ctx, p, texts)
}

// TestSRCH24_RandomEditsAgainstModel edits, kills, damages and changes the model,
// and compares what is found with what a plain scan finds.
func TestSRCH24_RandomEditsAgainstModel(t *testing.T) { checkRandomEdits(t, false) }

// TestSRCH43_RandomEditsAgainstModel is the same for vectors of words.
func TestSRCH43_RandomEditsAgainstModel(t *testing.T) { checkRandomEdits(t, true) }

func checkRandomEdits(t *testing.T, words bool) {
	t.Helper()
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 5))
		n++
		home := filepath.Join(dir, fmt.Sprint(n))
		w := &edits{t: rt, home: home, words: words, b: &embedtest.Bags{Name: "m0"}, bodies: map[string]string{}}
		w.open()
		defer w.close()
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			w.step(r)
		}
		w.check()
	})
}

type edits struct {
	t      *rapid.T
	home   string
	words  bool // the embedder gives vectors of words
	b      *embedtest.Bags
	r      *rooms
	bodies map[string]string
}

var someWords = strings.Fields("bee hive honey wax steam rail train wing plane river stone bread salt lamp oak")

func (w *edits) open() {
	db, err := kv.Open(w.home, kv.Options{Format: 2, SnapshotAfter: -1, Durability: kv.Relaxed})
	if err != nil {
		w.t.Fatal(err)
	}
	var by embed.Embedder = w.b
	if w.words {
		by = embedtest.Words{Bags: w.b}
	}
	w.r = over(w.t, db, Options{Dir: filepath.Join(w.home, "index"), Embedder: by})
}

func (w *edits) close() { _ = w.r.db.Close() }

func (w *edits) step(r *rand.Rand) {
	id := fmt.Sprint("n", r.IntN(6))
	switch r.IntN(10) {
	default:
		body := ""
		for i := range 1 + r.IntN(3) {
			body += fmt.Sprintf("# S%d\n\n%s %s\n\n", i, someWords[r.IntN(len(someWords))], someWords[r.IntN(len(someWords))])
		}
		if _, err := w.r.notes.Put(ctx, notes.Draft{ID: id, Title: id, Body: body}, nil); err != nil {
			w.t.Fatal(err)
		}
		w.bodies[id] = body
	case 0:
		if _, there := w.bodies[id]; there {
			if _, err := w.r.notes.Delete(ctx, id, nil); err != nil {
				w.t.Fatal(err)
			}
			delete(w.bodies, id)
		}
	case 1: // it starts again, perhaps with other files than it had
		w.close()
		names, _ := filepath.Glob(filepath.Join(w.home, "index", w.r.prefix+"*"))
		for _, name := range names {
			w.damage(r, name)
		}
		w.open()
	case 2:
		w.b = &embedtest.Bags{Name: fmt.Sprint("m", r.IntN(3))}
		w.close()
		w.open()
	case 3:
		w.r.settled(w.t)
	case 4:
		w.b.Set(func() { w.b.Fail = fault.New(fault.Unavailable, "away") })
		w.b.Set(func() { w.b.Fail = nil })
	}
}

func (w *edits) damage(r *rand.Rand, name string) {
	data, err := os.ReadFile(name)
	if err != nil || len(data) == 0 {
		return
	}
	switch r.IntN(3) {
	case 0:
		data = data[:r.IntN(len(data))]
	case 1:
		data[r.IntN(len(data))] ^= 1 << r.IntN(8)
	}
	if err := os.WriteFile(name, data, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// check compares the vectors with what they are made of.
func (w *edits) check() {
	w.r.settled(w.t)
	g := w.r.serving
	all := g.index.All()
	if len(all) != len(w.bodies) || g.model != w.b.Of() {
		w.t.Fatalf("%d notes of %s, want %d of %s", len(all), g.model.Name, len(w.bodies), w.b.Name)
	}
	for id, body := range w.bodies {
		if all[id] != NewTextKey("2", id, body) {
			w.t.Fatalf("%s is not what it was put", id)
		}
		for i, c := range notedoc.Chunks(id, body) {
			hits := g.index.Search(w.b.Vector(c.Embedded()), 10, func(other string) bool { return other == id })
			if len(hits) != 1 || hits[0].Score < 0.9999 {
				w.t.Fatalf("part %d of %s: %+v", i, id, hits)
			}
			if _, rows := g.index.Rows(id); w.words && !bytes.Equal(rows[i].Tokens, embedtest.Words{Bags: w.b}.Codes(c.Embedded())) {
				w.t.Fatalf("part %d of %s has other words", i, id)
			}
		}
	}
	if damaged, err := w.r.Check(ctx); err != nil || len(damaged) > 0 {
		w.t.Fatalf("damaged %v, %v", damaged, err)
	}
}

// The folder of an index that is of another store serves nothing that is wrong.
func TestSRCH12_TheIndexOfAnotherStore(t *testing.T) {
	b := &embedtest.Bags{Name: "b"}
	index := filepath.Join(t.TempDir(), "index")
	for i, bodies := range []map[string]string{
		{"a": "bees and honey", "b": "steam trains", "c": "bread and salt"},
		{"a": "bees and honey", "b": "planes with wings", "d": "stone bridges"},
	} {
		db, err := kv.Open(t.TempDir(), kv.Options{Format: 2, SnapshotAfter: -1, Durability: kv.Relaxed})
		must(t, err)
		r := over(t, db, Options{Embedder: b})
		for id, body := range bodies {
			r.put(t, notes.Draft{ID: id, Title: id, Body: body})
		}
		must(t, db.Close())
		db, err = kv.Open(db.Dir(), kv.Options{Format: 2, SnapshotAfter: -1, Durability: kv.Relaxed})
		must(t, err)
		b.Taken()
		r = over(t, db, Options{Dir: index, Embedder: b})
		r.settled(t)
		if n := len(b.Taken()); i == 1 && n != 2 {
			t.Errorf("%d texts were embedded, want the 2 that are others", n)
		}
		for id, key := range r.serving.index.All() {
			if key != NewTextKey("2", id, bodies[id]) {
				t.Errorf("%s is of another text", id)
			}
		}
		must(t, db.Close())
	}
}

// Nothing of what was deleted stays on disk when that is asked for: no vector of a
// note that is gone, nor of the text that one had.
func TestSRCH12_DeletedCopiesIncludeVectors(t *testing.T) {
	b := &embedtest.Bags{Name: "b"}
	dir := t.TempDir()
	r := openAll(t, dir, Options{Dir: filepath.Join(dir, "index"), Embedder: b})
	r.put(t, notes.Draft{ID: "a", Title: "A", Body: "gone soon"}, notes.Draft{ID: "b", Title: "B", Body: "changed soon"}, notes.Draft{ID: "c", Title: "C", Body: "stays"})
	r.settled(t)
	traces := func() (found []string) {
		data, err := os.ReadFile(r.fileOf(b.Of()))
		must(t, err)
		for _, text := range []string{"A\ngone soon", "B\nchanged soon", "C\nstays"} {
			if key := NewTextKey(text); strings.Contains(string(data), string(key[:])) {
				found = append(found, text)
			}
		}
		return found
	}
	if n := len(traces()); n != 3 {
		t.Fatalf("%d traces: the test does not see what it looks for", n)
	}
	b.Set(func() { b.Fail = fault.New(fault.Unavailable, "away") }) // so that nothing is done in the background
	_, err := r.notes.Delete(ctx, "a", nil)
	must(t, err)
	r.put(t, notes.Draft{ID: "b", Title: "B", Body: "other"})
	must(t, r.db.DeleteCopies(ctx))
	if got := traces(); !slices.Equal(got, []string{"C\nstays"}) {
		t.Errorf("left are %q", got)
	}
	b.Set(func() { b.Fail = nil })
}

// A note that changes while it is embedded never gets the vectors of its old text.
func TestSRCH24_ATextThatChangesWhileItIsEmbedded(t *testing.T) {
	first, second := make(chan struct{}), make(chan struct{})
	b := &embedtest.Bags{Name: "b", Gate: first}
	r := openAll(t, kv.InMemory, Options{Embedder: b})
	r.put(t, notes.Draft{ID: "a", Title: "A", Body: "bees and honey"}, notes.Draft{ID: "b", Title: "B", Body: "salt"})
	until(t, "the embedder is asked", func() bool { return b.Held.Load() == 1 })
	for _, id := range []string{"a", "b"} {
		r.put(t, notes.Draft{ID: id, Title: id, Body: "steam trains"})
	}
	b.Set(func() { b.Gate = second })
	close(first)
	until(t, "the embedder is asked again", func() bool { return b.Held.Load() == 2 })
	if n := r.serving.index.Len(); n != 0 {
		t.Errorf("%d vectors of old texts", n)
	}
	close(second)
	r.settled(t)
	if n := r.serving.index.Len(); n != 2 {
		t.Errorf("%d vectors", n)
	}
}

// Vectors that a search finds damaged are made anew, also when nothing else happens.
func TestSRCH12_DamageThatASearchFindsIsMended(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("nobody can cut a file that is open")
	}
	b := &embedtest.Bags{Name: "b"}
	dir := t.TempDir()
	r := openAll(t, dir, Options{Dir: filepath.Join(dir, "index"), Embedder: b})
	r.put(t, notes.Draft{ID: "a", Title: "Honey", Body: "bees"})
	r.settled(t)
	b.Taken()
	must(t, os.Truncate(r.fileOf(b.Of()), 0))
	r.near(t, "bees")
	until(t, "it is embedded again", func() bool { return len(b.Taken()) == 1 })
}

// A file that can't be opened for a passing reason is there for the next start.
func TestSRCH12_AFileThatCantBeOpenedIsKept(t *testing.T) {
	b := &embedtest.Bags{Name: "b"}
	dir := t.TempDir()
	r := openAll(t, dir, Options{Dir: filepath.Join(dir, "index"), Embedder: b})
	m := r.Index
	name := m.fileOf(b.Of())
	must(t, os.MkdirAll(filepath.Dir(name), 0o700))
	opened, err := OpenFlatIndex(name+"-anew", b.Of())
	must(t, err)
	t.Cleanup(func() { _ = opened.Close() })
	inMemory := &generation{model: b.Of(), index: NewFlatIndex(b.Of().Dims)}
	for _, c := range []struct {
		g    *generation
		name string
		want bool
	}{
		{inMemory, name, true},
		{inMemory, m.fileOf(embed.Model{Name: "other", Dims: 2}), false},
		{&generation{model: b.Of(), index: opened}, name + "-anew", true},
		{&generation{model: b.Of(), index: opened}, name, false},
	} {
		if got := m.keeps(c.g, c.name); got != c.want {
			t.Errorf("%s is kept: %v, with vectors in %q", filepath.Base(c.name), got, c.g.index.Name())
		}
	}
}

// wavering has another model with each call for passages.
type wavering struct {
	*embedtest.Bags
	calls atomic.Int64
}

func (w *wavering) Embed(ctx context.Context, p embed.Purpose, texts []string) (embed.Model, [][]float32, error) {
	if p == embed.Passage {
		n := w.calls.Add(1)
		w.Set(func() { w.Changed = fmt.Sprint(n % 2) })
	}
	return w.Bags.Embed(ctx, p, texts)
}

// An embedder that changes its model again and again is not asked without end.
func TestSRCH12_AModelThatComesAndGoes(t *testing.T) {
	w := &wavering{Bags: &embedtest.Bags{Name: "b"}}
	r := openAll(t, kv.InMemory, Options{Embedder: w})
	for i := range 100 {
		r.put(t, notes.Draft{ID: fmt.Sprint("n", i), Title: "T", Body: fmt.Sprint("text ", i)})
	}
	until(t, "it is left alone for a moment", func() bool {
		st := r.Stats()
		return strings.Contains(st.Error, "again and again") && st.Retry > 0
	})
}

func TestAbout(t *testing.T) {
	for seconds, want := range map[float64]string{
		0: "a second", 0.3: "a second", 4: "about 5 s", 42: "about 45 s", 91: "about 2 min", 1000: "about 17 min",
		7000: "about 2 h",
	} {
		if got := about(seconds); got != want {
			t.Errorf("%v s are %q, want %q", seconds, got, want)
		}
	}
}

// Where the files lie is nobody's business who searches.
func TestSRCH13_ReasonsNameNoPath(t *testing.T) {
	err := fmt.Errorf("writing: %w", &fs.PathError{Op: "write", Path: "/home/somebody/vectors", Err: errors.New("no space left")})
	if got := withoutPath(errors.Join(err, nil)).Error(); got != "no space left" {
		t.Errorf("told is %q", got)
	}
}

// TestSRCH24_AnImportComesFirst has notes wait until they rest: longer after a commit
// of many, and never for good.
func TestSRCH24_AnImportComesFirst(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for _, c := range []struct {
		name                     string
		changed, imported, first time.Time
		left                     time.Duration
	}{
		{"just edited", now, time.Time{}, now, settle},
		{"edited a while ago", ago(settle), time.Time{}, ago(settle), 0},
		{"edited again and again", now, time.Time{}, ago(longSettle), 0},
		{"edited long after an import", now, ago(time.Hour), ago(time.Millisecond), settle},
		{"just imported", now, now, now, importSettle},
		{"an import that goes on", now, now, ago(longSettle * 2), importSettle},
		{"an import that has ended", ago(importSettle), ago(importSettle), ago(longSettle), 0},
		{"an import that goes on for long", now, now, ago(longImport), 0},
	} {
		if left := quietLeft(now, c.changed, c.imported, c.first); max(0, left) != c.left {
			t.Errorf("%s: %s left, want %s", c.name, left, c.left)
		}
	}
}
