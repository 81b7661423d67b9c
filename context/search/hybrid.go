package search

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/search/vector"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/notes"
)

// Mode says how notes are looked for.
type Mode string

// The modes. The zero Mode is Lexical.
const (
	Lexical  Mode = "lexical"  // by their words
	Semantic Mode = "semantic" // by their meaning
	Hybrid   Mode = "hybrid"   // by both
)

// Weights say what the two lists of a hybrid search count. That by words counts the
// less, the fewer words of the query are in any note: of a question in another
// language, or in words of its own, those that are there by chance say little. On the
// labelled sets nDCG@10 gains 0.05 to 0.1 for questions in other languages with the
// multilingual table, 0.006 for paraphrases, and is the same on Cranfield. With the
// built-in table, which is English, questions in other languages lose up to 0.035.
type Weights struct {
	Lexical, Semantic float64
}

// DefaultWeights are those that did best on the labelled sets in testdata.
var DefaultWeights = Weights{Lexical: 1, Semantic: 0.5}

const (
	// fuseRank is the k of reciprocal rank fusion (Cormack, Clarke, Büttcher 2009):
	// a note gets weight/(k + its rank) of each list.
	fuseRank = 60
	// fuseDepth is how long the lists are at least.
	fuseDepth = 100
	// questionDeadline is how long a search waits for the vector of its query, and
	// for vectors that are about to be there.
	questionDeadline = 150 * time.Millisecond
	// questionTokens is how much of a query is embedded.
	questionTokens = 400
)

// stages of Result.Stage.
const (
	lexicalStage  = "lexical"
	semanticStage = "semantic"
)

// searchBoth serves the modes Hybrid and Semantic.
func (x *Index) searchBoth(ctx context.Context, req Request) (*Result, error) {
	q := parse(req.Query, req.Plain)
	if req.Limit < 1 || !q.hasMeaning() && (req.Mode == Hybrid || len(q.words) == 0) {
		return x.searchWords(ctx, req)
	}
	depth := max(fuseDepth, 2*req.Limit)
	near, err := x.nearest(ctx, &req, q, depth)
	if err != nil {
		return nil, err
	}
	why := near.missing
	if req.Mode == Semantic {
		if !near.asked && why != unknownWords {
			return nil, &fault.Error{Kind: fault.Unavailable, Msg: "the vectors can't be searched: " + why, Hint: "search with mode hybrid or lexical", Retryable: true}
		}
		res := &Result{Mode: Semantic, Hits: near.hits[:min(req.Limit, len(near.hits))], Degraded: why}
		if why != "" {
			res.Stage = semanticStage
		}
		if req.Explain {
			words := Request{Query: req.Query, Plain: req.Plain, Limit: 1, Filter: req.Filter, understand: true}
			read, err := x.searchWords(ctx, words)
			if err != nil {
				return nil, err
			}
			res.Understood = read.Understood
		}
		m := newMatcher(x.stem)
		m.take(q)
		return res, x.finishHits(ctx, &req, &m, res.Hits)
	}
	if !near.asked {
		res, err := x.searchWords(ctx, req)
		if err == nil && res.Degraded == "" {
			res.Stage, res.Degraded = semanticStage, why
		}
		return res, err
	}
	words := req
	words.Limit, words.Snippets, words.Explain, words.understand = depth, false, false, req.Explain
	res, m, err := x.byWords(ctx, words)
	if err != nil {
		return nil, err
	}
	if res.Degraded == "" && why != "" {
		res.Stage, res.Degraded = semanticStage, why
	}
	over := req.clock.begin("fuse")
	w := x.opts.Weights
	w.Lexical *= res.known
	res.Mode, res.Hits = Hybrid, fuse(res.Hits, near.hits, near.knows, w, req.Explain)
	over()
	res.Hits = res.Hits[:min(req.Limit, len(res.Hits))]
	return res, x.finishHits(ctx, &req, m, res.Hits)
}

// fuse makes one list of two, by weighted reciprocal ranks. A note of whose meaning
// nothing is known, for it waits for its vectors or may have none, has the place
// in the second list that it has by its words: else whatever was embedded first would
// stand before it while the vectors are being made. What counted is, by name:
//
//	lexical, semantic                what each list ranks by: BM25, and the cosine
//	rank:lexical, rank:semantic      the places in the lists, from 1
//	fused:lexical, fused:semantic    what these places give; they add up to the score.
//	                                 The second without a place: that by words counts
//	chunk                            the part that is nearest, from 1
func fuse(words, near []Hit, knows func(id string) bool, w Weights, explain bool) []Hit {
	all := make([]Hit, 0, len(words)+len(near))
	at, isNear := make(map[*notes.Note]int, len(words)), make(map[*notes.Note]bool, len(near))
	for _, h := range near {
		isNear[h.Note] = true
	}
	for i, h := range words {
		at[h.Note] = len(all)
		gives := w.Lexical / float64(fuseRank+i+1)
		h.words, h.Score, h.chunk = h.Score, gives, noChunk
		if explain {
			h.Signals = map[string]float64{"lexical": h.words, "rank:lexical": float64(i + 1), "fused:lexical": gives}
		}
		if w.Lexical > 0 && !isNear[h.Note] && !knows(h.Note.ID) {
			same := w.Semantic / float64(fuseRank+i+1)
			h.Score += same
			if explain {
				h.Signals["fused:semantic"] = same
			}
		}
		all = append(all, h)
	}
	for i, h := range near {
		n, ok := at[h.Note]
		if !ok {
			n = len(all)
			all = append(all, Hit{Note: h.Note, Signals: h.Signals, Found: Semantic})
		}
		if ok {
			all[n].Found = Hybrid
		}
		gives := w.Semantic / float64(fuseRank+i+1)
		all[n].Score += gives
		all[n].chunk = h.chunk
		if explain {
			h.Signals["fused:semantic"] = gives
			maps.Copy(all[n].Signals, h.Signals)
		}
	}
	all = slices.DeleteFunc(all, func(h Hit) bool { return h.Score == 0 }) // of a list that counts nothing
	slices.SortFunc(all, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.words, a.words),
			entities.CompareNatural(a.Note.Title, b.Note.Title), cmp.Compare(a.Note.ID, b.Note.ID))
	})
	return all
}

// finishHits gives hits what the request wants of them. Those of words are shown where
// their words stand, the others where they are nearest.
func (x *Index) finishHits(ctx context.Context, req *Request, m *Matcher, hits []Hit) error {
	defer req.clock.begin("snippets")()
	ours := make(map[*notes.Note]*Hit)
	for i := range hits {
		h := &hits[i]
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if h.words > 0 {
			ours[h.Note] = h
		}
		switch {
		case !req.Snippets:
		case h.words > 0:
			h.Snippet, h.Ranges = m.snippet(plainText(h.Note))
		default:
			h.Snippet, h.Ranges = m.snippet(chunkText(h.Note, h.chunk))
		}
	}
	if len(ours) == 0 || !req.Explain {
		return nil
	}
	again := *req // what their words gave
	again.Limit, again.Snippets, again.clock = len(ours), false, nil
	again.Keep = func(n *notes.Note) bool { return ours[n] != nil }
	res, err := x.searchWords(ctx, again)
	if err != nil {
		return err
	}
	for _, w := range res.Hits {
		if h := ours[w.Note]; h != nil {
			maps.Copy(w.Signals, h.Signals)
			h.Signals = w.Signals
		}
	}
	return nil
}

const noChunk = -1

// chunkText is what is shown of a chunk. The note may have another text by now.
func chunkText(n *notes.Note, chunk int) string {
	chunks := Chunks(n.Title, n.Body)
	switch {
	case chunk < 0 || chunk >= len(chunks):
		return plainText(n)
	case chunks[chunk].Text == "":
		return chunks[chunk].Prefix
	}
	return chunks[chunk].Text
}

// hasMeaning reports whether meaning can help with a query: not with phrases and
// filters alone, which say exactly what is wanted, nor with a word that was only
// begun, or with names such as ERR-4711, of which a model knows nothing.
func (q *query) hasMeaning() bool {
	if q.plain == 0 {
		return false
	}
	if len(q.words) == 1 && q.prefix != "" {
		first, _ := utf8.DecodeRuneInString(q.prefix)
		return utf8.RuneCountInString(q.prefix) > 3 || !unicode.In(first, unicode.Latin, unicode.Greek, unicode.Cyrillic)
	}
	return true
}

// isName reports whether a part of a query looks like the name of a thing and not
// like a word: with digits, an underscore, or capitals within.
func isName(s string) bool {
	lower := false
	for _, r := range s {
		if unicode.IsDigit(r) || r == '_' || unicode.IsUpper(r) && lower {
			return true
		}
		lower = unicode.IsLower(r)
	}
	return false
}

// meant is what the vectors say of a query.
type meant struct {
	hits    []Hit                // the nearest first
	asked   bool                 // whether the vectors could be asked
	missing string               // what keeps some or all of them away
	knows   func(id string) bool // whether they say anything of a note
}

// nearest asks the vectors for the k notes nearest to a query.
func (x *Index) nearest(ctx context.Context, req *Request, q *query, k int) (found meant, err error) {
	if x.meaning == nil {
		return meant{missing: "no embedder is configured"}, nil
	}
	ctx2, cancel := context.WithTimeout(ctx, questionDeadline)
	defer cancel()
	text := q.text
	if req.Plain {
		text = req.Query
	}
	over := req.clock.begin("embed")
	g, question, why := x.meaning.question(ctx2, cutTokens(text, questionTokens))
	over()
	if ctx.Err() != nil {
		return meant{}, ctx.Err()
	}
	if question == nil {
		return meant{missing: why}, nil
	}
	defer req.clock.begin("vectors")()
	allowed, err := x.allowed(ctx, req, q)
	if err != nil {
		return meant{}, err
	}
	least := float32(0)
	if req.Mode == Hybrid {
		least = leastCosine(len(q.words))
	}
	found = meant{asked: true, missing: why}
	found.knows = func(id string) bool { return g.index.Has(id) && x.meaning.serves(g, id) }
	test := func(id string) *notes.Note {
		if n := x.notes.Get(id); n != nil && allowed(n) && x.meaning.serves(g, id) {
			return n
		}
		return nil
	}
	for _, h := range g.index.Search(question, k, func(id string) bool { return test(id) != nil }) {
		if n := test(h.ID); n != nil && h.Score > least {
			found.hits = append(found.hits, Hit{Note: n, Score: float64(h.Score), Found: Semantic, chunk: h.Part})
		}
	}
	asWholes(found.hits, g.index, question)
	if g.index.Broken() { // the worker may rest, and be woken by nothing else
		poke(x.meaning.wake)
	}
	slices.SortFunc(found.hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), entities.CompareNatural(a.Note.Title, b.Note.Title), cmp.Compare(a.Note.ID, b.Note.ID))
	})
	for i := range found.hits {
		if h := &found.hits[i]; req.Explain {
			h.Signals = map[string]float64{"semantic": h.Score, "part": h.part, "whole": h.whole, "rank:semantic": float64(i + 1), "chunk": float64(h.chunk + 1)}
		}
	}
	return found, nil
}

// asWholes has the note as a whole count as much as its nearest part: what a note is
// about, and that it says so somewhere. On the labelled sets nDCG@10 of meaning
// alone is 0.02 to 0.05 better than by the nearest part.
func asWholes(hits []Hit, index *vector.Index, question []float32) {
	ids := make([]string, len(hits))
	for i := range hits {
		ids[i] = hits[i].Note.ID
	}
	for i, whole := range index.Whole(question, ids) {
		h := &hits[i]
		h.part, h.whole = h.Score, float64(whole)
		h.Score = (h.part + h.whole) / 2
	}
}

// leastCosine is how near the nearest part of a note has to be for it to count in a hybrid search, by the
// number of words that were asked for. The fewer they are, the nearer are notes that have
// nothing to do with them: of a word that no model knows, up to 0.2. Of a sentence 0.1
// did best on the labelled sets.
func leastCosine(words int) float32 {
	switch words {
	case 1:
		return 0.25
	case 2:
		return 0.18
	}
	return 0.1
}

// allowed returns the test of all that a hit has to meet.
func (x *Index) allowed(ctx context.Context, req *Request, q *query) (func(*notes.Note) bool, error) {
	keep := x.notes.Chooser(req.Filter)
	meets := func(n *notes.Note) bool {
		if !keep(n) || req.Keep != nil && !req.Keep(n) {
			return false
		}
		for _, f := range q.filters {
			if f.test(n, x.notes.EntityType) == f.not {
				return false
			}
		}
		return true
	}
	if len(q.phrases)+len(q.without) == 0 {
		return meets, nil
	}
	// The index of words says which notes may meet the phrases; the texts of those
	// that come into question are looked at.
	only := *q
	only.words = nil
	var res Result
	s := x.newSearch(&Request{Limit: max(1, x.size()), Filter: req.Filter, Keep: req.Keep}, &only)
	defer x.letGo(s)
	s.loose = true
	if _, err := s.find(ctx, &res, false); err != nil {
		return nil, err
	}
	const maybe, yes, no = 1, 2, 3
	in := make(map[*notes.Note]int, len(res.Hits))
	for _, h := range res.Hits {
		in[h.Note] = maybe
	}
	var texts search
	return func(n *notes.Note) bool {
		if in[n] == maybe && ctx.Err() == nil {
			in[n] = no
			if texts.meets(n, q) {
				in[n] = yes
			}
		}
		return in[n] == yes
	}, nil
}

// meets reports whether a note has the phrases of a query, and not those that it must
// not have. Words alone that it must not have are not looked at.
func (s *search) meets(n *notes.Note, q *query) bool {
	for _, p := range q.phrases {
		if !s.holds(n, p) {
			return false
		}
	}
	for _, p := range q.without {
		if len(p) > 1 && s.holds(n, p) {
			return false
		}
	}
	return true
}

// question returns the index to ask, and the vector of a text. why says what is
// missing; without a vector that is everything.
func (m *meaning) question(ctx context.Context, text string) (g *generation, v []float32, why string) {
	m.await(ctx)
	m.mu.RLock()
	g = m.serving
	var e embed.Embedder
	waiting := 0
	ready := g != nil && g.ready
	if ready {
		e, waiting = g.embedder, len(g.waiting)
	}
	failed, retry, learnt := m.retry.why, "", m.learnt
	if g != nil {
		retry = g.retry.why
	}
	m.mu.RUnlock()
	switch {
	case !ready && failed != "":
		return nil, nil, failed
	case !ready:
		return nil, nil, "the vectors are being read"
	case e == nil && !learnt && failed != "":
		return nil, nil, failed
	case e == nil && !learnt:
		return nil, nil, "the embedder is starting, and has not said yet which model it has"
	case e == nil:
		return nil, nil, fmt.Sprintf("the vectors are of the model %s, which is not at hand; those of another are being made", g.model.Name)
	}
	_, total, _ := m.notes.Count()
	if waiting < total && g.index.Len() == 0 {
		why = "no note has vectors"
	}
	if waiting > 0 {
		why = fmt.Sprintf("%d of %d notes wait for their vectors", waiting, total)
		if retry != "" {
			why += ": " + retry
		}
	}
	if why != "" && g.index.Len() == 0 {
		return g, nil, why
	}
	if v, ok := m.asked.get(g.model, text); ok {
		return g, v, unknown(v, why)
	}
	a := embedQuestion(ctx, e, text)
	switch {
	case a.err != nil && ctx.Err() != nil:
		return g, nil, "the vector of the query was not there in time"
	case a.err != nil:
		return g, nil, fault.Message(a.err)
	case a.model != g.model || len(a.vectors) != 1:
		m.ask()
		return g, nil, "the embedder has changed its model; vectors of it are being made"
	}
	m.asked.put(g.model, text, a.vectors[0])
	return g, a.vectors[0], unknown(a.vectors[0], why)
}

type answer struct {
	model   embed.Model
	vectors [][]float32
	err     error
}

// embedQuestion embeds a query, and does not wait longer than ctx allows, whatever the
// embedder does.
func embedQuestion(ctx context.Context, e embed.Embedder, text string) (a answer) {
	ask := func() (a answer) {
		a.model, a.vectors, a.err = e.Embed(ctx, embed.Query, []string{text})
		return a
	}
	if e.Status().Kind == "builtin" { // it takes microseconds, which even a late query has
		ctx = context.WithoutCancel(ctx)
		return ask()
	}
	got := make(chan answer, 1)
	go func() { got <- ask() }()
	select {
	case <-ctx.Done():
		return answer{err: ctx.Err()}
	case a = <-got:
		return a
	}
}

// unknownWords is why a query finds nothing by its meaning whose vectors are all there.
const unknownWords = "the model knows no word of the query"

func unknown(v []float32, why string) string {
	if v == nil {
		return unknownWords
	}
	return why
}

// ask has the embedder asked for its model.
func (m *meaning) ask() {
	m.mu.Lock()
	if m.retry.why == "" {
		m.retry.why = "the embedder has changed its model"
	}
	m.mu.Unlock()
	poke(m.wake)
}

// patientFor is how long the notes that wait may take for a search to wait for
// them: after an edit or the import of a small vault it finds them by their
// meaning at once.
const patientFor = 100 * time.Millisecond

// await waits for vectors that are about to be there, or for the embedder to say
// that it has the model of those that are there, and for nothing else.
func (m *meaning) await(ctx context.Context) {
	m.mu.Lock()
	g := m.serving
	_, total, _ := m.notes.Count()
	soon := total <= fewNotes && m.retry.why == ""
	if g != nil && g.ready {
		n := len(g.waiting)
		soon = n > 0 && g.embedder != nil && g.retry.why == "" &&
			time.Duration(n)*max(m.work.perNote, time.Millisecond/4) < patientFor ||
			g.embedder == nil && !m.learnt && m.retry.why == ""
	}
	if !soon || m.ctx.Err() != nil {
		m.mu.Unlock()
		return
	}
	c := make(chan struct{})
	m.waiters = append(m.waiters, c)
	m.mu.Unlock()
	poke(m.hurry)
	timer := time.NewTimer(patientFor)
	defer timer.Stop()
	select {
	case <-c:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// fewNotes is of how many notes the vectors are read in no time.
const fewNotes = 1000

// questions are the vectors of the last queries: a list of hits is often asked for
// twice, and a message is, for two audiences.
type questions struct {
	mu    sync.Mutex // guards what follows
	model embed.Model
	known map[string][]float32
}

const mostQuestions = 64

func (q *questions) get(model embed.Model, text string) ([]float32, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.model != model {
		return nil, false
	}
	v, ok := q.known[text]
	return v, ok
}

func (q *questions) put(model embed.Model, text string, v []float32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.model != model || len(q.known) >= mostQuestions {
		q.model, q.known = model, make(map[string][]float32)
	}
	q.known[text] = v
}
