package search

import (
	"cmp"
	"context"
	"slices"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/context/search/vectors"
	"github.com/ctxd/ctxd/context/search/words"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/yield"
)

// Mode says how notes are looked for.
type Mode string

// The modes. The zero Mode is Lexical.
const (
	Lexical  Mode = "lexical"  // by their words
	Semantic Mode = "semantic" // by their meaning
	Hybrid   Mode = "hybrid"   // by both
)

const (
	// fuseDepth is how long the lists are at least.
	fuseDepth = 100
	// questionDeadline is how long a search waits for the vector of its query, and
	// for vectors that are about to be there, unless a request waits longer.
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
	q, err := x.parse(ctx, &req)
	if err != nil {
		return nil, err
	}
	if req.Limit < 1 || !q.hasMeaning() && (req.Mode == Hybrid || len(q.words) == 0) {
		return x.searchWords(ctx, req)
	}
	depth := max(fuseDepth, 2*req.Limit)
	words := req
	words.Limit, words.Snippets, words.Explain, words.understand = depth, false, false, req.Explain
	if req.Mode == Hybrid && q.prefix == "" { // to say of a prefix what it stands for takes longer
		words.understand = true
	}
	if req.Mode == Semantic {
		words.Limit = 1 // for the words that are corrected
	}
	res, m, err := x.byWords(ctx, words)
	if err != nil {
		return nil, err
	}
	foreign := q.isOfAnotherLanguage(res.known)
	near, err := x.nearest(ctx, &req, q, res.Corrected, depth, foreign)
	if err != nil {
		return nil, err
	}
	if req.Mode == Semantic {
		return x.finishSemantic(ctx, &req, q, res, near)
	}
	if !near.asked {
		res, err := x.searchWords(ctx, req)
		if err == nil && res.Degraded == "" {
			res.Stage, res.Degraded = semanticStage, near.missing
		}
		return res, err
	}
	if res.Degraded == "" && near.missing != "" {
		res.Stage, res.Degraded = semanticStage, near.missing
	}
	known, err := x.knownShare(ctx, words, res)
	switch {
	case err != nil:
		return nil, err
	case !foreign:
	case LevelsOf(near.model).Translates:
		known = 0
	default:
		known = res.known
	}
	about := q.aboutness(res, foreign)
	if len(near.hits) > 0 {
		res.Reach.Cosine = near.hits[0].cosine()
	}
	if !req.Explain && !req.Reach && len(q.problems) == 0 {
		res.Understood = nil
	}
	about.known, about.near, about.level = known, nearness(res.Hits, near.hits), LevelsOf(near.model).Least
	over := req.clock.begin("fuse")
	f := fusion{
		by: x.opts.Fusion, weights: x.opts.Weights, known: known, depth: depth, knows: near.knows, cosine: res.Reach.Cosine,
	}
	res.Apart = req.Apart && near.tellApart()
	res.Mode, res.Hits = Hybrid, f.fuse(res.Hits, near.hits)
	over()
	if req.Explain {
		res.Fused = f.told()
	}
	var question *vectors.WordQuestion
	res.Hits, question, err = x.interact(ctx, &lateSearch{&req, words, q, x.asked(&req, q, res.Corrected), foreign}, res.Hits)
	if err != nil {
		return nil, err
	}
	if about.unsure || req.Reach || req.Explain {
		answer := about.read(&res.Reach, question, res.Hits)
		if req.Explain {
			res.Answer = answer
		}
	}
	if !about.isAbout(&res.Reach) {
		res.Refused = about.refused(&res.Reach, res.Hits)
		res.Hits, res.Nothing = []Hit{}, nothingIsAbout(q)
		return res, nil
	}
	res.Hits = res.Hits[:min(req.Limit, len(res.Hits))]
	res.sayNothing(q)
	return res, x.finishHits(ctx, &req, q, m, res.Hits)
}

// finishSemantic is the result of a search by meaning. words is what the search by words
// said of the query.
func (x *Index) finishSemantic(ctx context.Context, req *Request, q *query, words *Result, near meant) (*Result, error) {
	why := near.missing
	if !near.asked && why != vectors.UnknownWords {
		return nil, &fault.Error{
			Kind: fault.Unavailable, Msg: "the vectors can't be searched: " + why,
			Hint: "search with mode hybrid or lexical until the vectors are made: ctxd inspect index --watch", Retryable: true,
		}
	}
	res := &Result{
		Mode: Semantic, Hits: near.hits[:min(req.Limit, len(near.hits))], Degraded: why,
		Understood: words.Understood, Corrected: words.Corrected,
	}
	if why != "" {
		res.Stage = semanticStage
	}
	res.sayNothing(q)
	m := text.NewMatcher(x.words.Stem)
	q.matchIn(m)
	return res, x.finishHits(ctx, req, q, m, res.Hits)
}

// finishHits gives hits what the request wants of them. Those of words are shown where
// their words stand, the others where they are nearest.
func (x *Index) finishHits(ctx context.Context, req *Request, q *query, m *Matcher, hits []Hit) error {
	defer req.clock.begin("snippets")()
	ours := make(map[string]*Hit)
	for i := range hits {
		h := &hits[i]
		if err := yield.Point(ctx); err != nil {
			return err
		}
		byWords := h.wordScore() > 0
		if byWords {
			ours[h.Doc.ID()] = h
		}
		switch {
		case !req.Snippets, q.showReason(h):
		case byWords:
			h.Snippet, h.Ranges = m.Snippet(h.Doc.Plain())
		default:
			h.Snippet, h.Ranges = m.Snippet(x.chunkText(h))
		}
	}
	if len(ours) == 0 || !req.Explain {
		return nil
	}
	again := *req // what their words gave
	again.Limit, again.Snippets, again.clock = len(ours), false, nil
	again.Keep = func(d text.Doc) bool { return ours[d.ID()] != nil }
	res, err := x.searchWords(ctx, again)
	if err != nil {
		return err
	}
	for _, w := range res.Hits {
		if h := ours[w.Doc.ID()]; h != nil {
			h.Lexical.Terms, h.Lexical.Fields = w.Lexical.Terms, w.Lexical.Fields
		}
	}
	return nil
}

// chunkText is what is shown of a hit that only its meaning found: its nearest chunk. The
// document may have another text by now.
func (x *Index) chunkText(h *Hit) string {
	chunk := -1
	switch {
	case h.Late != nil:
		chunk = h.Late.Chunk
	case h.Semantic != nil:
		chunk = h.Semantic.Part.Chunk
	}
	chunks := vectors.EmbeddedDoc(x.src, h.Doc).Chunks()
	switch {
	case chunk < 0 || chunk >= len(chunks):
		return h.Doc.Plain()
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
		return utf8.RuneCountInString(q.prefix) > 3 ||
			!unicode.In(first, unicode.Latin, unicode.Greek, unicode.Cyrillic)
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
	model   string               // the name of the model that made them
	missing string               // what keeps some or all of them away
	knows   func(id string) bool // whether they say anything of a document
	apart   func() []float32     // how near each hit is by what tells them apart
}

// tellApart orders the hits by what tells them apart, if there are enough of them for the mean of them to
// be what they have in common. The cosines stay.
func (m *meant) tellApart() bool {
	if len(m.hits) < fuseDepth {
		return false
	}
	for i, near := range m.apart() {
		m.hits[i].Score = float64(near)
	}
	slices.SortFunc(m.hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.cosine(), a.cosine()), compareDocs(a.Doc, b.Doc))
	})
	return true
}

// nearest asks the vectors for the k documents nearest to a query. foreign says that it is in
// another language than the documents.
func (x *Index) nearest(ctx context.Context, req *Request, q *query, corrected map[string]string, k int, foreign bool,
) (found meant, err error) {
	if x.vectors == nil {
		return meant{missing: "no embedder is configured"}, nil
	}
	ctx2, cancel := context.WithTimeout(ctx, max(questionDeadline, req.Wait))
	defer cancel()
	over := req.clock.begin("embed")
	question := x.vectors.Ask(ctx2, x.asked(req, q, corrected), req.Public)
	over()
	if ctx.Err() != nil {
		return meant{}, ctx.Err()
	}
	if !question.Asked() {
		return meant{missing: question.Missing}, nil
	}
	defer req.clock.begin("vectors")()
	allowed, err := x.allowed(ctx, req, q)
	if err != nil {
		return meant{}, err
	}
	least := float32(0)
	if req.Mode == Hybrid && !(foreign && LevelsOf(question.Model()).Translates) {
		least = leastCosine(len(q.words))
	}
	found = meant{asked: true, model: question.Model(), missing: question.Missing, knows: question.Knows}
	hits, err := question.Nearest(ctx, k, least, allowed)
	found.hits = semanticHits(hits)
	found.apart = func() []float32 { return question.Apart(hits) }
	return found, err
}

// asked is what is embedded of a query.
func (x *Index) asked(req *Request, q *query, corrected map[string]string) string {
	asked := q.text
	if req.Plain {
		asked = req.Query
	}
	return text.CutTokens(withCorrections(asked, corrected), questionTokens)
}

// semanticHits makes Hits of those of the vectors.
func semanticHits(near []vectors.Hit) (hits []Hit) {
	for i, h := range near {
		hits = append(hits, Hit{
			Doc: h.Doc, Score: h.Cosine, Found: Semantic,
			Semantic: &SemanticSignal{
				Rank: i + 1, Cosine: h.Cosine, Whole: h.Whole,
				Part: Part{Chunk: h.Chunk, Cosine: h.Part},
			},
		})
	}
	return hits
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
func (x *Index) allowed(ctx context.Context, req *Request, q *query) (f vectors.Filter, err error) {
	meets := q.meets(req)
	if len(q.phrases)+len(q.without) == 0 {
		return vectors.Filter{Keep: meets}, nil
	}
	// The index of words says which documents may meet the phrases; the texts of those
	// that come into question are looked at.
	res, err := x.words.Search(ctx, words.Query{
		Phrases: q.phrases, Without: q.without, Keep: meets, Limit: max(1, x.words.Most()), Public: req.Public,
		Loose: true,
	})
	if err != nil {
		return f, err
	}
	in := make(map[string]bool, len(res.Hits))
	for _, h := range res.Hits {
		in[h.Doc.ID()] = true
	}
	var split text.Splitter
	holds := func(d text.Doc) bool { return in[d.ID()] && q.holdsPhrases(&split, d) }
	return vectors.Filter{Keep: holds, Slow: true}, nil
}

// holdsPhrases reports whether a document has the phrases of a query, and not those that it
// must not have. Words alone that it must not have are not looked at.
func (q *query) holdsPhrases(split *text.Splitter, d text.Doc) bool {
	for _, p := range q.phrases {
		if !words.Holds(split, d, p) {
			return false
		}
	}
	for _, p := range q.without {
		if len(p) > 1 && words.Holds(split, d, p) {
			return false
		}
	}
	return true
}
