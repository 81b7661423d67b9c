package words

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/yield"
)

// Query is what documents are looked for by.
type Query struct {
	Words  []string // folded, each once: any of them; none: all documents, with the score 0, newest first
	Prefix string   // the one of Words that may be the beginning of a word; "" for none
	// Synonyms are by one of Words what means the same as it. One that may go on or that is a
	// mistake has none.
	Synonyms map[string][]Synonym
	Phrases  [][]string // folded: all of them, each word behind the other
	Without  [][]string // none of these words and phrases
	// Keep says which documents may be hits. It must be quick and ask no index.
	Keep  func(text.Doc) bool
	Limit int // hits at most
	// Exact has words that no document has stand for no others.
	Exact bool
	// Public has private documents, and what is hidden of others, not exist.
	Public bool
	// Loose takes documents that have all words of a phrase for such that have it.
	Loose   bool
	Explain bool // say what counted
	Read    bool // say how the words were taken
}

// Synonym is a word that means the same as one of a query.
type Synonym struct {
	Word   string  // folded
	Weight float64 // that it counts beside the word itself, below 1
}

// Result is what a Query found.
type Result struct {
	Hits []Hit // best first; equals by title in natural order, then by id
	// Known is how many of the words are in any document, or stand for one that is.
	Known    int
	All      int    // documents that the search sees
	Degraded string // why documents may be missing; "" when none are
	Matcher  *text.Matcher
	Words    []QueryWord // with Query.Read
}

// Hit is a document that was found.
type Hit struct {
	Doc    text.Doc // for a public query as others see it
	Score  float64
	Terms  []Term    // with Explain: what the words gave; they add up to Score
	Fields []float64 // with Explain: how Score divides among the fields of the Source
}

// Term is what a word of a query gave for a document.
type Term struct {
	How   How
	Word  string
	Score float64
}

// How says what a word of a query was taken for.
type How string

// The ways to take a word.
const (
	AsWord     How = "word"
	AsPrefix   How = "prefix" // a word that may go on
	AsMistaken How = "typo"   // a word that is in no document, and stands for those that differ by one edit
)

// run is what one search works with. Runs are used again.
type run struct {
	evaluation
	world
	pool  []*term
	union postingUnion
}

// term returns the i-th term of the run, for somebody to fill.
func (r *run) term(i int) *term {
	for len(r.pool) <= i {
		r.pool = append(r.pool, new(term))
	}
	return r.pool[i]
}

// Search finds the best documents for a query. Words are ORed; phrases and Keep are met by
// every hit. When nothing is found, words that are in no document count as the words that
// differ by one edit.
func (x *Index) Search(ctx context.Context, q Query) (*Result, error) {
	s := &search{x: x, q: &q, verified: make(map[verdictKey]bool)}
	s.run = x.scratch.Get().(*run)
	defer func() {
		s.letGo()
		x.scratch.Put(s.run)
	}()
	res := &Result{Hits: []Hit{}}
	err := s.find(ctx, res, false)
	if err == nil && len(res.Hits) == 0 && len(q.Words) > 0 && !q.Exact {
		err = s.find(ctx, res, true)
	}
	if err != nil || !q.Explain {
		return res, err
	}
	for i := range res.Hits {
		x.divide(ctx, res.Matcher, q.Synonyms, &res.Hits[i])
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return res, nil
}

// search is one search under way.
type search struct {
	*run
	x *Index
	q *Query

	phrases  []phraseTest
	verified map[verdictKey]bool
	pending  []verdictKey
	most     int // of pending, before the run is stopped
	split    text.Splitter
}

// phraseTest finds out which documents hold a phrase: those that hold all of its
// words are looked at.
type phraseTest struct {
	words   []string
	not     bool
	exact   bool // the words as they are, not their stems
	cursors [2][]*postingCursor
	never   [2]bool // by layer: a word of it is in no document
}

type verdictKey struct {
	doc    text.Doc
	phrase int
}

// letGo drops what belongs to the search from what is used again.
func (s *search) letGo() {
	s.Accept, s.Better, s.Hidden, s.world = nil, nil, nil, world{}
	for _, t := range s.pool {
		t.Release()
		if t.upper != nil {
			t.upper.Release()
		}
	}
}

// find runs the query until no text is left that has to be looked at for a
// phrase. That is done without the lock: it may take long.
func (s *search) find(ctx context.Context, res *Result, mistakes bool) error {
	for s.most = 64; ; s.most *= 2 {
		err := s.attempt(ctx, res, mistakes)
		if err != nil || len(s.pending) == 0 {
			return err
		}
		for _, key := range s.pending {
			if err := yield.Point(ctx); err != nil {
				return err
			}
			s.verified[key] = Holds(&s.split, key.doc, s.phrases[key.phrase].words)
		}
	}
}

// attempt runs the query once.
func (s *search) attempt(ctx context.Context, res *Result, mistakes bool) error {
	x := s.x
	x.rlockFor(s.q.Public)
	defer x.mu.RUnlock()
	s.pending = s.pending[:0]
	s.see(x, s.q.Public)
	p := s.plan(ctx, &s.world, s.q, mistakes)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.preparePhrases()
	s.Limit, s.Accept, s.Better = s.q.Limit, s.accepts, s.isBetter
	s.evaluation.All = len(s.q.Words) == 0
	s.Begin()
	for i := range s.layers {
		s.Cursors = s.Cursors[:0]
		for _, t := range p.terms {
			s.Cursors = append(s.Cursors, t.in(i))
		}
		s.Base, s.Hidden = s.layers[i].base, s.layers[i].hidden
		if err := s.Scan(ctx, len(s.layers[i].docs)); err != nil {
			return err
		}
	}
	best := s.Best()
	res.Hits, res.Known, res.All, res.Matcher = res.Hits[:0], len(p.terms), s.all, p.matcher
	for _, b := range best {
		res.Hits = append(res.Hits, Hit{Doc: s.doc(b.Doc), Score: float64(b.Score) / scoreScale})
	}
	if s.q.Explain {
		s.explain(p, best, res.Hits)
	}
	if s.q.Read {
		res.Words = s.read(p)
	}
	res.Degraded = x.degraded(s.q.Public)
	return nil
}

// isBetter is the order of hits: by score, and without words by time, newest first.
func (s *search) isBetter(a, b rankedDoc) bool {
	if a.Score != b.Score {
		return a.Score > b.Score
	}
	if s.evaluation.All {
		m, n := s.doc(a.Doc), s.doc(b.Doc)
		if m != nil && n != nil && !m.UpdatedAt().Equal(n.UpdatedAt()) {
			return m.UpdatedAt().After(n.UpdatedAt())
		}
	}
	if p, q := s.head(a.Doc), s.head(b.Doc); p != q {
		return p < q
	}
	m, n := s.doc(a.Doc), s.doc(b.Doc)
	if m == nil || n == nil { // a number that is free, which accepts refuses
		return m != nil
	}
	if c := entities.CompareNatural(m.Title(), n.Title()); c != 0 {
		return c < 0
	}
	return m.ID() < n.ID()
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
		if text.IsDigit(c) {
			return (head<<8 | '0') << (56 - 8*i)
		}
		head = head<<8 | uint64(c)
	}
	return head
}

// degraded says what is missing. The caller has the lock.
func (x *Index) degraded(public bool) string {
	waiting, all := len(x.waiting), len(x.number)
	if waiting > 0 && public {
		waiting = 0
		for id := range x.waiting {
			d := x.src.Get(id)
			if d != nil && !d.Private() {
				waiting++
			}
		}
		if x.hidden != nil {
			all = x.hidden.public
		}
	}
	if waiting == 0 {
		return ""
	}
	return fmt.Sprintf("the index is being made: %d %% of the %s are in it", 100*all/(all+waiting), x.src.Kind().Many)
}

// preparePhrases looks up the words of phrases and of what must not be there.
func (s *search) preparePhrases() {
	s.phrases = s.phrases[:0]
	for _, words := range s.q.Phrases {
		s.phrases = append(s.phrases, phraseTest{words: words, exact: true})
	}
	for _, words := range s.q.Without {
		s.phrases = append(s.phrases, phraseTest{words: words, not: true, exact: len(words) > 1})
	}
	for i := range s.phrases {
		t := &s.phrases[i]
		for _, w := range t.words {
			s.prepareWord(t, w)
		}
	}
}

// prepareWord looks up one word of a phrase.
func (s *search) prepareWord(t *phraseTest, w string) {
	at := s.lookUp([]byte(w))
	var pairs term
	if text.IsCharacter(w) { // it stands in pairs
		s.group(&pairs, &s.world, s.completions(w), at, 1, bound(w))
	}
	for i := range s.layers {
		switch {
		case text.IsCharacter(w):
			t.cursors[i] = append(t.cursors[i], pairs.in(i))
		case at.lists[i] == nil:
			t.never[i] = true
		default:
			c := new(postingCursor)
			c.Reset(&s.layers[i].scoreParams, at.lists[i].Blocks(), 1)
			t.cursors[i] = append(t.cursors[i], c)
		}
	}
}

// accepts reports whether a document may be a hit. Documents come in order.
func (s *search) accepts(doc docID) bool {
	d := s.doc(doc)
	if d == nil || !s.q.Keep(d) {
		return false
	}
	for i := range s.phrases {
		if !s.passes(doc, d, i) {
			return false
		}
	}
	return true
}

// passes applies one phrase.
func (s *search) passes(doc docID, d text.Doc, i int) bool {
	t, layer := &s.phrases[i], doc>>31
	if t.never[layer] {
		return t.not
	}
	for _, c := range t.cursors[layer] {
		if !c.Has(uint32(doc &^ upperLayer)) {
			return t.not
		}
	}
	switch {
	case !t.exact:
		return !t.not
	case s.q.Loose:
		return true
	}
	key := verdictKey{d, i}
	holds, known := s.verified[key]
	if !known {
		s.pending = append(s.pending, key)
		s.Stop = len(s.pending) >= s.most
		return false
	}
	return holds != t.not
}

// Holds reports whether a document has a phrase in one of its texts.
func Holds(split *text.Splitter, d text.Doc, phrase []string) (found bool) {
	d.Fields(func(_ int, s string) bool {
		found = split.HasPhrase(s, phrase)
		return !found
	})
	return found
}

// Holders returns which of some words each document holds, as bits, by its id. It is
// refused with why while the index is being made. O(postings of the words).
func (x *Index) Holders(words []string, public bool) (held map[string]uint32, why string) {
	held = make(map[string]uint32)
	x.rlockFor(public)
	defer x.mu.RUnlock()
	why = x.degraded(public)
	if why != "" {
		return nil, why
	}
	var w world
	w.see(x, public)
	for i, word := range words {
		w.eachHolder(word, func(_ int, d docID) {
			if w.sees(d) {
				held[w.doc(d).ID()] |= 1 << i
			}
		})
	}
	return held, ""
}

// eachHolder has visit look at the documents that hold a word, seen or not, with the layer of each; at none for "".
func (w *world) eachHolder(word string, visit func(layer int, d docID)) {
	if word == "" {
		return
	}
	var docs, tfs [postingBlockSize + 1]uint32
	at := w.lookUp([]byte(word))
	for l := range w.layers {
		for _, b := range blocksOf(at.lists[l]) {
			for _, d := range docs[:b.Decode(&docs, &tfs)] {
				visit(l, docID(d)|w.layers[l].base)
			}
		}
	}
}

// Counts returns how many documents hold each of some folded words, in any of its forms, and how many documents there are.
// While the index is being made it counts those that are in it. O(words).
func (x *Index) Counts(words []string, public bool) (docs []int, all int) {
	docs = make([]int, len(words))
	x.rlockFor(public)
	defer x.mu.RUnlock()
	var w world
	w.see(x, public)
	for i, word := range words {
		if word != "" {
			docs[i] = w.lookUp([]byte(word)).docs
		}
	}
	return docs, w.all
}

// Held reports of each of some folded words whether one of some documents holds it, in any of its forms. O(postings of the words).
func (x *Index) Held(words, ids []string, public bool) (held []bool) {
	held = make([]bool, len(words))
	x.rlockFor(public)
	defer x.mu.RUnlock()
	var w world
	w.see(x, public)
	numbers := make([]docID, 0, len(ids)) // in the first layer
	for _, id := range ids {
		if n, ok := x.number[id]; ok {
			numbers = append(numbers, n)
		}
	}
	for i, word := range words {
		w.eachHolder(word, func(layer int, d docID) {
			one := layer == 0 && slices.Contains(numbers, d) // which takes less than to ask whether it is seen
			held[i] = held[i] || (one || layer > 0) && w.sees(d) && (one || slices.Contains(ids, w.doc(d).ID()))
		})
	}
	return held
}
