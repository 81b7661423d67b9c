package search

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/notes"
)

// Request is a search.
type Request struct {
	Query  string
	Mode   Mode // how to look; "": by words
	Plain  bool // the query is a text of words: no syntax, and its last word is complete
	Limit  int  // hits at most; less than 1: none
	Filter notes.SearchFilter
	Keep   func(*notes.Note) bool // beside Filter; nil: all. It must be quick and ask no index

	Snippets bool // find the places that match
	Explain  bool // say what counted

	exact      bool // look for no mistakes
	understand bool // say how the query was read
	clock      *stopwatch
}

// Result is what a search found.
type Result struct {
	Hits []Hit // best first; equals by title in natural order, then by id
	Mode Mode  // how it was looked: Lexical also where meaning had no part in a hybrid search
	// Degraded says why notes may be missing; "" when none are. Stage is the part of
	// the search that misses them: lexical or semantic.
	Degraded string
	Stage    string
	// Understood says how the query was read, with Explain.
	Understood *Understanding
	Stages     []Stage // with Explain: what took how long, in order

	known float64 // the share of the words of the query that are in any note
}

// Hit is one note that was found.
type Hit struct {
	Note    *notes.Note
	Score   float64
	Snippet string             // of the plain text, one line
	Ranges  [][2]int           // matches in Snippet: UTF-16, half-open
	Signals map[string]float64 // what counted, by name; see explain and fuse
	Found   Mode               // by what it was found: Hybrid for both

	chunk int     // that is nearest; noChunk for none
	part  float64 // its cosine
	whole float64 // the cosine of the note as a whole
	words float64 // what its words gave in a hybrid search; 0 when they did not find it
}

// run is what one search works with. Runs are used again.
type run struct {
	evaluation
	pool   []*term
	scores []uint32
	found  []uint64
}

// term returns the i-th term of the run, for somebody to fill.
func (r *run) term(i int) *term {
	for len(r.pool) <= i {
		r.pool = append(r.pool, new(term))
	}
	return r.pool[i]
}

// Search finds the best notes for a query. Words are ORed; phrases and filters
// are met by every hit. When nothing is found, words that are not in the index
// count as the words that differ by one edit. A hybrid search without vectors, or
// whose query has none within 150 ms, finds by words and says so; a semantic one is
// Unavailable then.
func (x *Index) Search(ctx context.Context, req Request) (*Result, error) {
	if req.Explain {
		req.clock = new(stopwatch)
	}
	ask := x.searchWords
	if req.Mode == Hybrid || req.Mode == Semantic {
		ask = x.searchBoth
	}
	res, err := ask(ctx, req)
	if err == nil && req.Explain {
		res.Stages = req.clock.stages
	}
	return res, err
}

// newSearch begins a search, which letGo ends.
func (x *Index) newSearch(req *Request, q *query) *search {
	s := &search{x: x, req: req, q: q, verified: make(map[verdictKey]bool), keep: x.notes.Chooser(req.Filter)}
	s.run = x.scratch.Get().(*run)
	return s
}

func (x *Index) letGo(s *search) {
	s.letGo()
	x.scratch.Put(s.run)
}

// searchWords is Search by words.
func (x *Index) searchWords(ctx context.Context, req Request) (*Result, error) {
	res, _, err := x.byWords(ctx, req)
	return res, err
}

// byWords is searchWords, and gives what shows a hit as well.
func (x *Index) byWords(ctx context.Context, req Request) (*Result, *Matcher, error) {
	q := parse(req.Query, req.Plain)
	s := x.newSearch(&req, q)
	defer x.letGo(s)
	res := &Result{Hits: []Hit{}, Mode: Lexical}
	if req.Limit < 1 || len(q.words) == 0 && len(q.filters)+len(q.without) == 0 {
		return res, nil, ctx.Err()
	}
	over := req.clock.begin("words")
	p, err := s.find(ctx, res, false)
	if err == nil && len(res.Hits) == 0 && len(q.words) > 0 && !req.exact {
		p, err = s.find(ctx, res, true)
	}
	over()
	if err != nil {
		return nil, nil, err
	}
	res.known = float64(len(p.terms)) / float64(max(1, len(q.words)))
	if req.Explain || req.understand {
		res.Understood = s.understand(p)
	}
	if req.Snippets {
		defer req.clock.begin("snippets")()
		for i := range res.Hits {
			if ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			h := &res.Hits[i]
			h.Snippet, h.Ranges = p.matcher.snippet(plainText(h.Note))
		}
	}
	return res, &p.matcher, nil
}

// search is one search under way.
type search struct {
	*run
	x    *Index
	req  *Request
	q    *query
	keep func(*notes.Note) bool

	phrases  []phraseTest
	verified map[verdictKey]bool
	pending  []verdictKey
	most     int  // of pending, before the run is stopped
	loose    bool // notes that may hold a phrase are taken for such that do
	split    splitter
}

// phraseTest finds out which documents hold a phrase: those that hold all of its
// words are looked at.
type phraseTest struct {
	words   []string
	not     bool
	exact   bool // the words as they are, not their stems
	cursors []*cursor
	never   bool // a word of it is in no note
}

type verdictKey struct {
	note   *notes.Note
	phrase int
}

// letGo drops what belongs to the search from what is used again.
func (s *search) letGo() {
	s.accept, s.better = nil, nil
	for _, t := range s.pool {
		t.list, t.fixed, t.x = nil, nil, nil
	}
}

// find runs the query until no text is left that has to be looked at for a
// phrase. That is done without the lock: it may take long.
func (s *search) find(ctx context.Context, res *Result, mistakes bool) (plan, error) {
	for s.most = 64; ; s.most *= 2 {
		p, err := s.attempt(ctx, res, mistakes)
		if err != nil || len(s.pending) == 0 {
			return p, err
		}
		for _, key := range s.pending {
			if ctx.Err() != nil {
				return p, ctx.Err()
			}
			s.verified[key] = s.holds(key.note, s.phrases[key.phrase].words)
		}
	}
}

// attempt runs the query once.
func (s *search) attempt(ctx context.Context, res *Result, mistakes bool) (plan, error) {
	x := s.x
	x.mu.RLock()
	defer x.mu.RUnlock()
	s.pending = s.pending[:0]
	p := s.plan(ctx, x.x, s.q, mistakes)
	if ctx.Err() != nil {
		return p, ctx.Err()
	}
	s.preparePhrases()
	s.cursors = s.cursors[:0]
	for _, t := range p.terms {
		s.cursors = append(s.cursors, &t.cursor)
	}
	s.limit, s.accept, s.better = s.req.Limit, s.accepts, x.better
	s.all = len(s.q.words) == 0
	best, err := s.evaluation.run(ctx, len(x.docs))
	if err != nil {
		return p, err
	}
	res.Hits = res.Hits[:0]
	for _, b := range best {
		res.Hits = append(res.Hits, Hit{Note: x.docs[b.doc], Score: float64(b.score) / scale, Found: Lexical})
	}
	if s.req.Explain {
		s.explain(p, best, res.Hits)
	}
	if res.Degraded = x.degraded(); res.Degraded != "" {
		res.Stage = lexicalStage
	}
	return p, nil
}

// better is the order of hits.
func (x *Index) better(a, b ranked) bool {
	if a.score != b.score {
		return a.score > b.score
	}
	if p, q := x.heads[a.doc], x.heads[b.doc]; p != q {
		return p < q
	}
	m, n := x.docs[a.doc], x.docs[b.doc]
	if c := entities.CompareNatural(m.Title, n.Title); c != 0 {
		return c < 0
	}
	return m.ID < n.ID
}

// headOf returns the first bytes of the fold of a title as a number: titles of which
// one has a lower number come in this order (see entities.CompareNatural). What
// follows a digit is left out, since numbers compare by their values. It decides
// nearly all of many equals.
func headOf(title string) uint64 {
	for i := 0; i < len(title) && i <= 8; i++ {
		if title[i] >= utf8.RuneSelf { // a mark may change the letter before it
			title = entities.Fold(title)
			break
		}
	}
	head := uint64(0)
	for i := range 8 {
		c := byte(0)
		if i < len(title) {
			c = title[i]
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if isDigit(c) {
			return (head<<8 | '0') << (56 - 8*i)
		}
		head = head<<8 | uint64(c)
	}
	return head
}

// degraded says what is missing. The caller has the lock.
func (x *Index) degraded() string {
	waiting := len(x.waiting)
	if waiting == 0 {
		return ""
	}
	all := len(x.number) + waiting
	return fmt.Sprintf("the index is being made: %d %% of the notes are in it", 100*len(x.number)/all)
}

// preparePhrases looks up the words of phrases and of what must not be there.
func (s *search) preparePhrases() {
	s.phrases = s.phrases[:0]
	for _, words := range s.q.phrases {
		s.phrases = append(s.phrases, phraseTest{words: words, exact: true})
	}
	for _, words := range s.q.without {
		s.phrases = append(s.phrases, phraseTest{words: words, not: true, exact: len(words) > 1})
	}
	for i := range s.phrases {
		t := &s.phrases[i]
		for _, w := range t.words {
			l, _ := s.x.x.postings([]byte(w))
			if isCharacter(w) { // it stands in pairs
				f := s.group(s.x.x, s.x.x.completions(w), l, 1, bound(w))
				c := new(cursor)
				c.resetFixed(s.x.x, f)
				t.cursors = append(t.cursors, c)
				continue
			}
			if l == nil {
				t.never = true
				break
			}
			c := new(cursor)
			c.reset(s.x.x, l.blocks(), 1)
			t.cursors = append(t.cursors, c)
		}
	}
}

// accepts reports whether a document may be a hit. Documents come in order.
func (s *search) accepts(doc docID) bool {
	n := s.x.docs[doc]
	if n == nil || !s.keep(n) || s.req.Keep != nil && !s.req.Keep(n) {
		return false
	}
	for _, f := range s.q.filters {
		if f.test(n, s.x.notes.EntityType) == f.not {
			return false
		}
	}
	for i := range s.phrases {
		if !s.passes(doc, n, i) {
			return false
		}
	}
	return true
}

// passes applies one phrase.
func (s *search) passes(doc docID, n *notes.Note, i int) bool {
	t := &s.phrases[i]
	if t.never {
		return t.not
	}
	for _, c := range t.cursors {
		if !c.has(uint32(doc)) {
			return t.not
		}
	}
	switch {
	case !t.exact:
		return !t.not
	case s.loose:
		return true
	}
	key := verdictKey{n, i}
	holds, known := s.verified[key]
	if !known {
		s.pending = append(s.pending, key)
		s.stop = len(s.pending) >= s.most
		return false
	}
	return holds != t.not
}

// holds reports whether a note has a phrase in one of its texts.
func (s *search) holds(n *notes.Note, phrase []string) (found bool) {
	eachField(n, func(_ field, text string) bool {
		found = s.phraseIn(text, phrase)
		return !found
	})
	return found
}

// phraseIn reports whether the words of a phrase stand in a text one behind the
// other.
func (s *search) phraseIn(text string, phrase []string) bool {
	var at []int // how many words of the phrase have been met, for each beginning
	found := false
	s.split.split(text, func(t token) {
		if found || t.last && len(phrase) > 1 {
			return
		}
		next := at[:0]
		for _, n := range at {
			if phrase[n] == string(t.text) {
				next = append(next, n+1)
			}
		}
		if phrase[0] == string(t.text) || len(phrase) == 1 && isCharacter(phrase[0]) && strings.HasPrefix(string(t.text), phrase[0]) {
			next = append(next, 1)
		}
		at = next
		found = len(at) > 0 && at[0] == len(phrase)
	})
	return found
}

// plainText is the text of a note that snippets are cut from.
func plainText(n *notes.Note) string { return n.PlainText() }
