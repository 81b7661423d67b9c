package search

import (
	"cmp"
	"context"
	"slices"

	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/context/search/vectors"
)

// The last stage of a hybrid search compares the words of the question with those of the candidates one by one (late
// interaction, see vectors.FlatIndex.Interact), and orders them by that and by the list of words and vectors.

const (
	// latePooled is how many documents come into question for the mean of their words.
	latePooled = 200
	// lateFused is what the list of words and vectors counts beside late interaction, where the best document by words covers all
	// of the question.
	lateFused = 2
	// readWhole is how many of the first by words and vectors have to be encoded for anything to be said of whether one answers.
	readWhole = 10
)

// LateSignal is what late interaction gave a hit.
type LateSignal struct {
	Nearness float64 // the mean, over the words of the question, of the cosine of the nearest word of its nearest chunk
	Chunk    int     // the nearest, from 0
}

// lateSearch is a search whose hits late interaction is to order.
type lateSearch struct {
	req     *Request
	words   Request // that by words
	q       *query
	asked   string // what is embedded of the query
	foreign bool   // no document is in the language of the query
}

// interact orders what a search has found anew by late interaction, and adds what is near by it alone. It returns hits as they
// are, and no question, where there are no vectors of words; with
// hits that are not encoded yet there is no question either.
//
// The score of a document is how near it is, from 0 for the median of the candidates to 1 for the best, and its score of before
// over the best one, times lateFused·covered (see covered): the more of the question one document has, the more words count; of a paraphrase
// late interaction decides. A document whose words have no vectors yet has the share of the best score that it had before in
// the place of its nearness. The best has the score that the best had before.
//
// The encoder is English: of a query in another language, in which documents are as well, it knows less than words and vectors
// do.
func (x *Index) interact(ctx context.Context, s *lateSearch, hits []Hit) ([]Hit, *vectors.WordQuestion, error) {
	if x.tokens == nil || x.opts.Fusion == ByRank || x.opts.Weights.Semantic == 0 ||
		len(hits) > 0 && !s.foreign && s.q.isNotEnglish() {
		return hits, nil, nil
	}
	defer s.req.clock.begin("interact")()
	question := x.askWords(ctx, s.asked, s.req.Public)
	if question == nil {
		return hits, nil, ctx.Err()
	}
	covered, err := x.covered(ctx, s.words)
	if err != nil {
		return nil, nil, err
	}
	allowed, err := x.allowed(ctx, s.req, s.q)
	if err != nil {
		return nil, nil, err
	}
	pooled, err := question.Nearest(ctx, latePooled, allowed)
	if err != nil {
		return nil, nil, err
	}
	all := withOthers(hits, pooled)
	if len(all) == 0 || !x.scoreLate(question, all, covered) {
		return hits, nil, nil
	}
	for _, h := range all[:min(readWhole, len(hits))] {
		if h.Late == nil {
			question = nil
			break
		}
	}
	slices.SortFunc(all, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.wordScore(), a.wordScore()), compareDocs(a.Doc, b.Doc))
	})
	return all, question, nil
}

// scoreLate gives hits the scores of interact, unless nothing is known of the words of any.
func (x *Index) scoreLate(question *vectors.WordQuestion, hits []Hit, covered float64) bool {
	ids := make([]string, len(hits))
	best := 0.0
	for i := range hits {
		ids[i] = hits[i].Doc.ID()
		best = max(best, hits[i].Score)
	}
	var known []float64
	near := question.Interact(ids)
	for _, h := range near {
		if h.Part >= 0 {
			known = append(known, float64(h.Score))
		}
	}
	if len(known) == 0 {
		return false
	}
	slices.Sort(known)
	median, most := known[len(known)/2], known[len(known)-1]
	if most == median {
		median = most - 1
	}
	top := 0.0
	for i := range hits {
		h, by := &hits[i], FusedSignal{}
		if h.Fused != nil && best > 0 {
			by.Lexical, by.Semantic = lateFused*covered*h.Fused.Lexical/best, lateFused*covered*h.Fused.Semantic/best
		}
		if n := near[i]; n.Part >= 0 {
			h.Late = &LateSignal{Nearness: float64(n.Score) / float64(question.Words()), Chunk: n.Part}
			by.Semantic += (float64(n.Score) - median) / (most - median)
		} else if best > 0 {
			by.Semantic, by.Assumed = by.Semantic+h.Score/best, true
		}
		h.Fused, h.Score = &by, by.Lexical+by.Semantic
		top = max(top, h.Score)
	}
	scale := cmp.Or(best, 1) / cmp.Or(top, 1)
	for i := range hits {
		h := &hits[i]
		h.Score, h.Fused.Lexical, h.Fused.Semantic = h.Score*scale, h.Fused.Lexical*scale, h.Fused.Semantic*scale
	}
	return true
}

// covered is the share of what the words of a query tell (their idf) that those tell that the best document by words has.
func (x *Index) covered(ctx context.Context, req Request) (float64, error) {
	req.Limit, req.Snippets, req.Explain, req.understand, req.clock = 1, false, true, true, nil
	best, _, err := x.byWords(ctx, req)
	if err != nil || len(best.Hits) == 0 || best.Hits[0].Lexical == nil {
		return 0, err
	}
	has := make(map[string]bool)
	for _, t := range best.Hits[0].Lexical.Terms {
		has[t.Word] = true
	}
	all, some := 0.0, 0.0
	for _, w := range best.Understood.Words {
		tells := idf(w, best.all)
		all += tells
		if has[w.Word] {
			some += tells
		}
	}
	if all == 0 {
		return 0, nil
	}
	return some / all, nil
}

// askWords gets the vectors of the words of a question, nil for none.
func (x *Index) askWords(ctx context.Context, asked string, public bool) *vectors.WordQuestion {
	ctx, cancel := context.WithTimeout(ctx, questionDeadline)
	defer cancel()
	return x.tokens.AskWords(ctx, asked, public)
}

// withOthers appends the documents that are not among the hits.
func withOthers(hits []Hit, docs []text.Doc) []Hit {
	hits = slices.Clone(hits)
	in := make(map[string]bool, len(hits))
	for i := range hits {
		in[hits[i].Doc.ID()] = true
	}
	for _, d := range docs {
		if !in[d.ID()] {
			hits = append(hits, Hit{Doc: d, Found: Semantic})
		}
	}
	return hits
}
