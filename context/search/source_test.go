package search_test

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/embed/embedtest"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/searchtest"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/fixtures/campaign"
)

var ctx = context.Background()

// letter is a document that is no note: it has fields, chunks and an operator of its own.
// What it writes as <<id:words>> leads to the letter id, and is hidden when that is private.
type letter struct {
	Key     string    `json:"id"`
	Subject string    `json:"subject"`
	From    string    `json:"from"`
	Text    string    `json:"text"`
	Secret  bool      `json:"private"`
	Edition uint64    `json:"edition"`
	At      time.Time `json:"at"`
}

var letterRecords = kv.NewCollection[letter]("letter")

func (l *letter) ID() string           { return l.Key }
func (l *letter) Title() string        { return l.Subject }
func (l *letter) Version() uint64      { return l.Edition }
func (l *letter) UpdatedAt() time.Time { return l.At }
func (l *letter) Private() bool        { return l.Secret }
func (l *letter) Size() int            { return len(l.Text) }
func (l *letter) Plain() string        { return l.Text }

func (l *letter) Fields(visit func(int, string) bool) {
	_ = visit(0, l.Subject) && visit(1, l.From) && visit(2, l.Text)
}

func (l *letter) Stored(visit func(string)) {
	visit(l.Subject)
	visit(l.From)
	visit(l.Text)
}

func (l *letter) Chunks() (chunks []text.Chunk) {
	for _, part := range text.Parts(l.Text) {
		chunks = append(chunks, text.Chunk{Prefix: l.From, Text: part})
	}
	if len(chunks) == 0 {
		chunks = []text.Chunk{{Prefix: l.From}}
	}
	return chunks
}

func (l *letter) ChunkedFrom() []string { return []string{"1", l.From, l.Text} }

// letters is the Source of all letters of a store.
type letters struct {
	mu  sync.RWMutex // guards all
	all map[string]*letter
}

func newLetters(t testing.TB, db *kv.Store) *letters {
	t.Helper()
	s := &letters{all: make(map[string]*letter)}
	must(t, db.View(ctx, func(tx *kv.Tx) error {
		for id, l := range letterRecords.All(tx, "") {
			s.all[id] = l
		}
		return nil
	}))
	db.OnCommit(func(cs *kv.ChangeSet) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, c := range s.Changes(cs) {
			delete(s.all, c.ID)
			if c.Now != nil {
				s.all[c.ID] = c.Now.(*letter)
			}
		}
	})
	return s
}

func (s *letters) Kind() text.DocKind { return text.DocKind{One: "letter", Many: "letters"} }

func (s *letters) Fields() []text.Field {
	return []text.Field{{Name: "subject", Weight: 3, Counted: true}, {Name: "from", Weight: 5}, {Name: "text", Weight: 1, Counted: true}}
}

func (s *letters) All() iter.Seq[text.Doc] {
	s.mu.RLock()
	all := slices.Collect(maps.Values(s.all))
	s.mu.RUnlock()
	return func(yield func(text.Doc) bool) {
		for _, l := range all {
			if !yield(l) {
				return
			}
		}
	}
}

func (s *letters) Get(id string) text.Doc {
	s.mu.RLock()
	defer s.mu.RUnlock()
	l := s.all[id]
	if l == nil {
		return nil
	}
	return l
}

func (s *letters) Count() (docs int, bytes int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, l := range s.all {
		bytes += int64(len(l.Text))
	}
	return len(s.all), bytes
}

func (s *letters) Changes(cs *kv.ChangeSet) (list []text.Change) {
	for _, ch := range cs.Changes {
		old, now, ok := letterRecords.Of(ch)
		if !ok {
			continue
		}
		c := text.Change{ID: ch.ID}
		if old != nil {
			c.Old = old
		}
		if now != nil {
			c.Now = now
		}
		list = append(list, c)
	}
	return list
}

func (s *letters) Revealed(cs *kv.ChangeSet) (ids []string) {
	for _, c := range s.Changes(cs) {
		for d := range s.All() {
			if strings.Contains(d.(*letter).Text, "<<"+c.ID+":") {
				ids = append(ids, d.ID())
			}
		}
	}
	return ids
}

var reference = regexp.MustCompile(`<<(\w+):([^>]*)>>`)

func (s *letters) Public(d text.Doc) text.Doc {
	l := d.(*letter)
	if l.Secret {
		return nil
	}
	shown := reference.ReplaceAllStringFunc(l.Text, func(found string) string {
		to := s.Get(reference.FindStringSubmatch(found)[1])
		if to != nil && to.Private() {
			return "…"
		}
		return found
	})
	if shown == l.Text {
		return d
	}
	public := *l
	public.Text = shown
	return &public
}

func (s *letters) Usual(text.Doc) bool { return true }

func (s *letters) Filters() []string { return []string{"from"} }

// Properties are the words of a letter, each with its writer for a value.
func (s *letters) Properties(d text.Doc, visit func(name string, values []string) bool) {
	for _, w := range strings.Fields(d.(*letter).Text) {
		if !visit(w, []string{d.(*letter).From}) {
			return
		}
	}
}

func (s *letters) Valued() []string { return []string{"from"} }

func (s *letters) Value(_ string, d text.Doc) string { return d.(*letter).From }

func (s *letters) Filter(operator, value string) func(text.Doc) bool {
	return func(d text.Doc) bool { return operator == "from" && strings.EqualFold(d.(*letter).From, value) }
}

// post is a store of letters and its index.
type post struct {
	*search.Index
	db   *kv.Store
	from *letters
}

func openPost(t testing.TB, dir string, opts search.Options) *post {
	t.Helper()
	db, err := kv.Open(dir, kv.Options{Format: 2, SnapshotAfter: -1, Durability: kv.Relaxed})
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	if dir != kv.InMemory {
		opts.Dir = filepath.Join(dir, "letters")
	}
	from := newLetters(t, db)
	return &post{search.Open(db, from, opts), db, from}
}

func (p *post) put(t testing.TB, list ...letter) {
	t.Helper()
	must(t, p.db.Update(ctx, func(tx *kv.Tx) error {
		for _, l := range list {
			if old := p.from.Get(l.Key); old != nil {
				l.Edition = old.Version() + 1
			}
			err := letterRecords.Put(tx, l.Key, &l)
			if err != nil {
				return err
			}
		}
		return nil
	}))
}

func (p *post) remove(t testing.TB, id string) {
	t.Helper()
	must(t, p.db.Update(ctx, func(tx *kv.Tx) error { return letterRecords.Delete(tx, id) }))
}

func (p *post) find(t testing.TB, req search.Request) string {
	t.Helper()
	req.Limit = 10
	res, err := p.Search(ctx, req)
	must(t, err)
	var ids []string
	for _, h := range res.Hits {
		ids = append(ids, h.Doc.ID())
	}
	return strings.Join(ids, " ")
}

// idle waits until every letter has its vectors.
func (p *post) idle(t testing.TB) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !p.Stats().Meanings.Idle; <-time.After(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the vectors are not made")
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestSRCH14_AKindThatIsNoNote has letters indexed, changed, kept on disk, found, explained
// and compared.
func TestSRCH14_AKindThatIsNoNote(t *testing.T) {
	dir := t.TempDir()
	opts := search.Options{Embedder: &embedtest.Bags{Name: "b"}}
	p := openPost(t, dir, opts)
	p.put(t,
		letter{Key: "a", Subject: "Bees in spring", From: "Anna", Text: "The hives woke early, and the honey is good."},
		letter{Key: "b", Subject: "Rails", From: "Ben", Text: "Anna saw a steam train."},
		letter{Key: "c", Subject: "Honey prices", From: "Anna", Text: "Honey and wax went up at the hives."})
	p.put(t, letter{Key: "b", Subject: "Rails", From: "Ben", Text: "Anna saw two steam trains and honey."})
	p.put(t, letter{Key: "d", Subject: "Gone", From: "Dora", Text: "honey"})
	p.remove(t, "d")
	p.idle(t)
	check := func(when string) {
		t.Helper()
		for query, want := range map[string]string{
			"anna": "c a b", "hive": "c a", "honey from:anna": "c a", "-from:anna": "b", `"steam trains"`: "b", "tarins": "b", "dora": "", "from:nobody honey": "",
		} {
			if got := p.find(t, search.Request{Query: query}); got != want {
				t.Errorf("%s: %q finds %q, want %q", when, query, got, want)
			}
		}
		if got := p.find(t, search.Request{Query: "steam train", Mode: search.Semantic}); !strings.HasPrefix(got, "b") {
			t.Errorf("%s: by meaning %q", when, got)
		}
		if s := p.Stats(); s.Words.Docs != 3 || s.Meanings.Docs != 3 {
			t.Errorf("%s: %+v", when, s)
		}
	}
	check("as it was written")
	must(t, p.db.Close())
	opts.AtOnce = -1
	embedder := &embedtest.Bags{Name: "b"}
	opts.Embedder = embedder
	p = openPost(t, dir, opts)
	p.idle(t)
	check("after a start")
	if s := p.Stats().Words; s.Kept != 3 || s.Differed != 0 || len(embedder.Taken()) != 0 {
		t.Errorf("a start made anew what was kept: %+v", s)
	}
	res, err := p.Search(ctx, search.Request{Query: "anna honey ", Mode: search.Hybrid, Limit: 1, Explain: true, Snippets: true})
	must(t, err)
	h := res.Hits[0]
	signals := make(map[string]float64)
	h.EachSignal(func(name string, value float64) { signals[name] = value })
	for _, name := range []string{"lexical", "word:anna", "word:honey", "field:from", "field:text", "semantic", "part", "whole", "fused:lexical", "fused:semantic"} {
		if signals[name] == 0 {
			t.Errorf("no signal %s: %v", name, signals)
		}
	}
	if h.Doc.(*letter).From != "Anna" || signals["chunk"] != 1 || h.Semantic.Part.Chunk != 0 || h.Lexical.Rank < 1 || h.Snippet == "" {
		t.Errorf("%+v %v", h, signals)
	}
	for name := range signals {
		if !slices.ContainsFunc(search.Signals, func(s search.Signal) bool {
			return name == s.Name || strings.HasSuffix(s.Name, ":") && strings.HasPrefix(name, s.Name)
		}) {
			t.Errorf("the signal %s is not declared", name)
		}
	}
}

// told is all that a reader learns of a result.
func told(res *search.Result) any {
	type hit struct {
		ID, Title, Text, Snippet string
		Score                    float64
		Ranges                   [][2]int
		Found                    search.Mode
		Signals                  map[string]float64
	}
	var hits []hit
	for _, h := range res.Hits {
		one := hit{ID: h.Doc.ID(), Title: h.Doc.Title(), Text: h.Doc.Plain(), Snippet: h.Snippet, Score: h.Score, Ranges: h.Ranges, Found: h.Found, Signals: map[string]float64{}}
		h.EachSignal(func(name string, value float64) { one.Signals[name] = value })
		hits = append(hits, one)
	}
	return []any{hits, res.Mode, res.Degraded, res.Stage, res.Understood}
}

var (
	publicWords = strings.Fields("hive hives honey wax bee bees steam train trains rail stone stones bread salt lamp oak haven")
	secretWords = strings.Fields("hivex honest waxen beer steamer train trains railway stonework breach haven hidden hide oaken lamps")
)

// TestPRIV6_APublicSearchIsThatOfAStoreWithoutWhatIsPrivate edits two stores alike, of which
// one has private letters, and letters that refer to them: what a public search says of it is
// what it says of the other, byte for byte.
func TestPRIV6_APublicSearchIsThatOfAStoreWithoutWhatIsPrivate(t *testing.T) {
	campaign.Only(t)
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 6))
		dir := t.TempDir()
		opts := func() search.Options {
			if rng.IntN(3) > 0 {
				return search.Options{} // which needs no waiting
			}
			return search.Options{Embedder: &embedtest.Bags{Name: "b"}}
		}()
		full, bare := openPost(t, dir, opts), openPost(t, kv.InMemory, opts)
		if rng.IntN(2) == 0 { // else what is hidden is found at the end
			_, err := full.Search(ctx, search.Request{Query: "x", Limit: 1, Public: true})
			must(t, err)
		}
		for range 1 + rng.IntN(12) {
			edit(t, rng, full)
			if rng.IntN(8) == 0 {
				must(t, full.ReindexWords(ctx, nil))
			}
		}
		if rng.IntN(3) == 0 {
			must(t, full.db.Close())
			full = openPost(t, dir, search.Options{Embedder: opts.Embedder, AtOnce: -1})
			for full.Stats().Words.Waiting > 0 {
				<-time.After(time.Millisecond)
			}
		}
		for d := range full.from.All() {
			public := full.from.Public(d)
			if public != nil {
				l := *public.(*letter)
				bare.put(t, l)
			}
		}
		if opts.Embedder != nil {
			full.idle(t)
			bare.idle(t)
		}
		for range 12 {
			compare(t, rng, full, bare)
		}
		must(t, full.db.Close())
		must(t, bare.db.Close())
	})
}

// edit changes some letters of a store.
func edit(t testing.TB, rng *rand.Rand, p *post) {
	t.Helper()
	words := func(list []string, most int) string {
		var b strings.Builder
		for range rng.IntN(most) {
			b.WriteString(list[rng.IntN(len(list))] + " ")
		}
		return b.String()
	}
	var list []letter
	for range 1 + rng.IntN(4)*rng.IntN(5) {
		id := fmt.Sprint("l", rng.IntN(14))
		if rng.IntN(7) == 0 && p.from.Get(id) != nil {
			p.remove(t, id)
			continue
		}
		l := letter{Key: id, Subject: words(publicWords, 3), From: "Anna", Text: words(publicWords, 12)}
		switch rng.IntN(3) {
		case 0:
			l.Secret, l.Text = true, l.Text+words(secretWords, 12)
		case 1:
			l.Text += fmt.Sprintf("<<l%d:%s>> ", rng.IntN(14), words(secretWords, 5)) + words(publicWords, 4)
		}
		if !slices.ContainsFunc(list, func(o letter) bool { return o.Key == id }) {
			list = append(list, l)
		}
	}
	p.put(t, list...)
}

// compare asks both stores the same.
func compare(t testing.TB, rng *rand.Rand, full, bare *post) {
	t.Helper()
	all := slices.Concat(publicWords, secretWords, []string{"ho", "h", "st", "trian", "hodden", "-honey", `"honey wax"`, "-haven", "from:anna", "from:anne", "honey:anna", "hivex:ben", "honest:anna", "-waxen:ben", "hidde:anna"})
	var query []string
	for range 1 + rng.IntN(4) {
		query = append(query, all[rng.IntN(len(all))])
	}
	req := search.Request{
		Query: strings.Join(query, " ") + []string{"", " "}[rng.IntN(2)], Mode: []search.Mode{search.Lexical, search.Semantic, search.Hybrid}[rng.IntN(3)],
		Limit: 1 + rng.IntN(10), Public: true, Snippets: true, Explain: rng.IntN(2) == 0,
	}
	got, gotErr := inTime(full, req)
	req.Public = rng.IntN(2) == 0 // it is all the same where nothing is private
	want, wantErr := inTime(bare, req)
	if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
		t.Fatalf("%+v: %v, want %v", req, gotErr, wantErr)
	}
	if gotErr != nil {
		return
	}
	if diff := cmp.Diff(told(want), told(got)); diff != "" {
		t.Fatalf("%+v: %s", req, diff)
	}
}

// inTime asks until the vector of the query is there in time.
func inTime(p *post, req search.Request) (res *search.Result, err error) {
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		res, err = p.Search(ctx, req)
		late := err != nil && strings.Contains(err.Error(), "in time") || err == nil && strings.Contains(res.Degraded, "in time")
		if !late {
			break
		}
	}
	return res, err
}

// TestPRIV8_VectorsAreMadeWithoutWhatIsHidden has the target of a reference become private,
// and public again.
func TestPRIV8_VectorsAreMadeWithoutWhatIsHidden(t *testing.T) {
	b, words := &embedtest.Bags{Name: "b"}, &embedtest.Bags{Name: "w"}
	p := openPost(t, kv.InMemory, search.Options{Embedder: b, Words: embedtest.Words{Bags: words}})
	secret := letter{Key: "s", Subject: "Plan", From: "Anna", Text: "steam"}
	p.put(t, secret, letter{Key: "a", Subject: "Bees", From: "Ben", Text: "honey <<s:turbines>> wax"})
	p.idle(t)
	searchtest.Until(t, "words are read", func() bool { return len(words.Taken()) > 0 })
	b.Taken()
	for _, hides := range []bool{true, false} {
		secret.Secret = hides
		p.put(t, secret)
		p.idle(t)
		want, found := "Ben\nhoney <<s:turbines>> wax", "a"
		if hides {
			want, found = "Ben\nhoney … wax", ""
		}
		if got := b.Taken(); !slices.Contains(got, want) {
			t.Errorf("embedded is %q, want %q", got, want)
		}
		var read []string
		searchtest.Until(t, "words are read", func() bool {
			read = append(read, words.Taken()...)
			return slices.Contains(read, want)
		})
		if hides && slices.ContainsFunc(read, func(text string) bool { return strings.Contains(text, "turbines") }) {
			t.Errorf("words that are hidden are read: %q", read)
		}
		if got := p.find(t, search.Request{Query: "turbine", Public: true}); got != found {
			t.Errorf("others find %q by what is hidden (%v)", got, hides)
		}
		if got := p.find(t, search.Request{Query: "turbine"}); got != "a" {
			t.Errorf("the owner finds %q", got)
		}
	}
}

// TestSRCH14_NearFromStoredVectors finds letters by one of them, and embeds nothing for it.
func TestSRCH14_NearFromStoredVectors(t *testing.T) {
	b := &embedtest.Bags{Name: "b"}
	p := openPost(t, kv.InMemory, search.Options{Embedder: b})
	p.put(t,
		letter{Key: "a", Subject: "A", From: "Anna", Text: "bees honey wax"},
		letter{Key: "b", Subject: "B", From: "Anna", Text: "bees honey hive"},
		letter{Key: "c", Subject: "C", From: "Anna", Text: "bees steam"},
		letter{Key: "d", Subject: "D", From: "Dora", Text: "stone bread salt"},
		letter{Key: "s", Subject: "S", From: "Anna", Text: "bees honey wax hive", Secret: true})
	near := func(n search.Near) string {
		t.Helper()
		res, err := p.Near(ctx, n)
		must(t, err)
		var ids []string
		for _, h := range res.Hits {
			ids = append(ids, h.Doc.ID())
			if h.Snippet == "" || h.Semantic != nil && h.Score != h.Semantic.Cosine {
				t.Errorf("%+v", h)
			}
		}
		return fmt.Sprint(res.Mode, " ", strings.Join(ids, " "), " ", res.Degraded)
	}
	p.idle(t)
	b.Set(func() { b.Fail = fault.New(fault.Unavailable, "away") }) // nothing is asked of it
	for _, c := range []struct {
		near search.Near
		want string
	}{
		{search.Near{ID: "a", Limit: 10, Least: search.LeastSimilar, Snippets: true}, "semantic s b c "},
		{search.Near{ID: "a", Limit: 1, Snippets: true}, "semantic s "},
		{search.Near{ID: "a", Limit: 10, Least: search.LeastSimilar, Public: true, Snippets: true}, "semantic b c "},
		{search.Near{ID: "a", Limit: 10, Keep: func(d text.Doc) bool { return d.ID() == "d" }, Snippets: true}, "semantic d "},
	} {
		if got := near(c.near); got != c.want && c.near.Keep == nil {
			t.Errorf("%+v: %q, want %q", c.near, got, c.want)
		}
	}
	for _, n := range []search.Near{{ID: "nobody", Limit: 1}, {ID: "s", Limit: 1, Public: true}} {
		_, err := p.Near(ctx, n)
		if fault.KindOf(err) != fault.NotFound || err.Error() != fmt.Sprintf("no letter with id %q", n.ID) {
			t.Errorf("%+v: %v", n, err)
		}
	}
	p.put(t, letter{Key: "e", Subject: "E", From: "Anna", Text: "steam honey"})
	if got := near(search.Near{ID: "e", Limit: 2, Snippets: true}); !strings.HasPrefix(got, "lexical ") || !strings.HasSuffix(got, "the letter has no vectors yet") {
		t.Errorf("without vectors: %q", got)
	}
	bare := openPost(t, kv.InMemory, search.Options{})
	bare.put(t, letter{Key: "a", Text: "bees honey"}, letter{Key: "b", Text: "honey"})
	res, err := bare.Near(ctx, search.Near{ID: "a", Limit: 5})
	must(t, err)
	if len(res.Hits) != 1 || res.Hits[0].Doc.ID() != "b" || res.Mode != search.Lexical || res.Stage != "semantic" || res.Degraded == "" {
		t.Errorf("%+v", res)
	}
}
