package search

import (
	"context"
	"math"
	"strings"

	"github.com/ctxd/ctxd/context/search/text"
)

// A search finds nothing where too little of a query is known and nothing is near: what is
// nearest among what has nothing to do with a query is chance. The less of the information of
// a query (idf) is in words that any document has, the nearer the nearest document has to be:
// of nothing known as near as leastNear, of everything known not at all. So a document that
// has what the words tell is never held back, however far its meaning is said to be.
//
// The levels are about the highest that lose at most 3 % of the paraphrases, see
// testdata/nothing.golden. Both halves of the sets agree: 14 and 13 of 25 foreign questions are
// refused, and 4 of 353 and 4 of 352 that have answers.
const leastNear = 0.22

// nearBy are the levels of models that have another one.
var nearBy = map[string]float64{"ctxd-multilingual-1": 0.25}

// A query of which hardly a word is understood is probably in another language than the
// documents. Then unknown words do not mean that it is about something else. Of a long query
// more words are known by chance.
const (
	fewWords, fewUnderstood   = 3, 0.25
	manyWords, manyUnderstood = 6, 0.45
)

// isAbout reports whether anything that was found is about the query. Phrases and filters say
// what is wanted, and while words or vectors are missing nothing can be said.
func (x *Index) isAbout(ctx context.Context, req *Request, q *query, words *Result, near meant) (bool, error) {
	nearest, least := 0.0, leastNear
	if len(near.hits) > 0 {
		nearest = near.hits[0].Semantic.Cosine
	}
	if of, ok := nearBy[near.model]; ok {
		least = of
	}
	if nearest >= least || words.known == 1 || words.Degraded != "" || q.isOfAnotherLanguage(words.known) ||
		len(q.phrases)+len(q.without)+len(q.filters) > 0 || len(q.words) == 0 {
		return true, nil
	}
	share, err := x.knownShare(ctx, *req)
	return nearest >= least*(1-share), err
}

// isOfAnotherLanguage reports whether a query is probably in another language than the documents:
// hardly any of its words, those that say nothing included, is known.
func (q *query) isOfAnotherLanguage(known float64) bool {
	asked, ignored := float64(len(q.words)-q.symbols), float64(len(q.ignored))
	understood := (known*asked + ignored) / max(1, asked+ignored)
	return asked >= fewWords && understood <= fewUnderstood || asked >= manyWords && understood <= manyUnderstood
}

// knownShare is the share of what the words of a query tell (their idf) that is told by those
// that any document has.
func (x *Index) knownShare(ctx context.Context, req Request) (float64, error) {
	req.Limit, req.Snippets, req.Explain, req.understand, req.clock = 1, false, false, true, nil
	res, _, err := x.byWords(ctx, req)
	if err != nil {
		return 0, err
	}
	known, all := 0.0, 0.0
	for _, w := range res.Understood.Words {
		if slight[w.Word] {
			continue
		}
		n := float64(w.Docs)
		tells := math.Log(1 + (max(n, float64(res.all))-n+0.5)/(n+0.5))
		all += tells
		if n > 0 {
			known += tells
		}
	}
	if all == 0 { // it has no other words than those
		return 1, nil
	}
	return known / all, nil
}

// slight are words that are looked for, and say nothing of what a text is about.
var slight = func() map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq("i me my we us our you your he him his she her") {
		set[w] = true
	}
	return set
}()

// nothingIsAbout says that nothing is about a query.
func nothingIsAbout(q *query) string {
	const most = 16 // tokens of the query
	asked := strings.Join(strings.Fields(q.text), " ")
	short := text.CutTokens(asked, most)
	if len(short) < len(asked) {
		short = strings.TrimSpace(short) + "…"
	}
	return "nothing is about " + short
}

// sayNothing says why nothing was found, if nothing was.
func (r *Result) sayNothing(q *query) {
	switch {
	case len(r.Hits) > 0 || r.Nothing != "":
	case len(q.filters)+len(q.without)+len(q.phrases) > 0:
		r.Nothing = "nothing has all of what the query asks for"
	case len(q.words) == 0:
		r.Nothing = "the query has no words"
	default:
		r.Nothing = nothingIsAbout(q)
	}
}
