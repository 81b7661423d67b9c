package search

import (
	"context"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/ctxd/ctxd/context/search/text"
)

// A search finds nothing where too little of a query is known and nothing is near: what is
// nearest among what has nothing to do with a query is chance. The less of the information of
// a query (idf) is in words that any document has, the nearer documents have to be: of nothing
// known as near as leastNear, of everything known not at all. So a document that has what the
// words tell is never held back, however far its meaning is said to be.
//
// Of what is near by chance words and meaning choose different documents. How near documents
// are is therefore a mean (see nearness). On the sets of testdata/nothing.golden it separates
// the questions better than the nearest document alone, for both models.
//
// The level is about the highest that loses at most 3 % of all questions with answers. Both
// halves of the sets agree: of the foreign questions 23 of 32 and 15 of 18 are refused, and
// about 6 % and 8 % of the paraphrases. Models without a level of their own have that of the
// built-in table. Models that put all texts near to each other then never refuse anything.
const leastNear = 0.237

// nearBy are the levels of models that have another one.
var nearBy = map[string]float64{"ctxd-multilingual-1": 0.25}

// bestByWords is how many of the best documents by words count for how near documents are.
const bestByWords = 3

// A query of which hardly a word is understood is probably in another language than the
// documents. Then unknown words do not mean that it is about something else. Of a long query
// more words are known by chance.
const (
	fewWords, fewUnderstood   = 3, 0.25
	manyWords, manyUnderstood = 6, 0.45
)

// isAbout reports whether anything that was found is about the query. Phrases and filters say
// what is wanted, and while words or vectors are missing nothing can be said. known is the share
// of what the words of the query tell that is in words of any document.
func (q *query) isAbout(words *Result, near meant, known float64) bool {
	least := leastNear
	if of, ok := nearBy[near.model]; ok {
		least = of
	}
	if words.known == 1 || words.Degraded != "" || q.isOfAnotherLanguage(words.known) ||
		len(q.phrases)+len(q.without)+len(q.filters) > 0 || len(q.words) == 0 {
		return true
	}
	return nearness(words.Hits, near.hits) >= least*(1-known)
}

// nearness says how near documents are to a query: the mean of two cosines, that of the nearest
// document, twice, and the best of those of the first documents by words. A document that is
// absent from the list by meaning counts in the same way as in a fusion. If no document has a
// word, as often among few documents, the nearest alone counts.
func nearness(words, near []Hit) float64 {
	if len(near) == 0 {
		return 0
	}
	if len(words) == 0 {
		return near[0].cosine()
	}
	absent, named := 0.0, 0.0
	if len(near) >= fuseDepth {
		absent = near[len(near)-1].cosine()
	}
	for _, w := range words[:min(bestByWords, len(words))] {
		of := absent
		for i := range near {
			if near[i].Doc.ID() == w.Doc.ID() {
				of = near[i].cosine()
				break
			}
		}
		named = max(named, of)
	}
	return (2*near[0].cosine() + named) / 3
}

// isOfAnotherLanguage reports whether a query is probably in another language than the documents:
// hardly any of its words, those that say nothing included, is known, and they are not those of
// English.
func (q *query) isOfAnotherLanguage(known float64) bool {
	if q.isEnglish() {
		return false
	}
	asked, ignored := float64(len(q.words)-q.symbols), float64(len(q.ignored))
	understood := (known*asked + ignored) / max(1, asked+ignored)
	return asked >= fewWords && understood <= fewUnderstood || asked >= manyWords && understood <= manyUnderstood
}

// isEnglish reports whether a query has frequent English words and none of those of other
// languages.
func (q *query) isEnglish() bool {
	foreign := func(w string) bool { return notEnglish[w] }
	accented := func(r rune) bool { return r > unicode.MaxASCII }
	return len(q.ignored) > 0 && !slices.ContainsFunc(q.words, foreign) && !strings.ContainsFunc(q.text, accented)
}

// isNotEnglish reports whether a query has letters of another script than Latin, or frequent words of another language.
func (q *query) isNotEnglish() bool {
	foreign := func(r rune) bool { return unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) }
	return strings.ContainsFunc(q.text, foreign) || slices.ContainsFunc(q.words, func(w string) bool { return notEnglish[w] })
}

// IsFunctionWord reports whether a folded word is a frequent one of another language than English, which says nothing by itself.
func IsFunctionWord(w string) bool { return notEnglish[w] }

// notEnglish are frequent words of German, Dutch, French, Spanish, Italian and Portuguese that
// are no frequent words of English.
var notEnglish = setOf(`al alla allo am au auf aus avec bei cette che como comment con cual cuales cuando dans das de dei
	del della dem den der des di die donde dove du e een ein eine einem einen einer el elle en es est et
	fur gli haben hat het hoe hoeveel il ist je kann la las le les los lo mit nach nella nicht niet nous
	o onde oder ou para pas perche por pour qual quale quali quand quando que quel quelle quelles quels
	qui quien quoi se sich sind sont sur u uber um uma un una und une uns van voor wann warum wat welche
	welcher welches wer wie wird wo wurde y zu`)

// knownShare is the share of what the words of a query tell (their idf) that is told by those
// that any document has. words is what the search by words found.
func (x *Index) knownShare(ctx context.Context, req Request, words *Result) (float64, error) {
	if words.known == 1 {
		return 1, nil
	}
	if words.Understood == nil {
		req.Limit, req.Snippets, req.Explain, req.understand, req.clock = 1, false, false, true, nil
		res, _, err := x.byWords(ctx, req)
		if err != nil {
			return 0, err
		}
		words = res
	}
	known, all := information(words.Understood.Words, words.all)
	if all == 0 { // it has no other words than those
		return 1, nil
	}
	return known / all, nil
}

// information is what the words of a query tell (their idf), and how much of it those tell that any
// document has.
func information(words []QueryWord, docs int) (known, all float64) {
	for _, w := range words {
		if slight[w.Word] {
			continue
		}
		tells := idf(w, docs)
		all += tells
		if w.Docs > 0 {
			known += tells
		}
	}
	return known, all
}

// idf is what a word of a query tells among so many documents.
func idf(w QueryWord, docs int) float64 {
	n := float64(w.Docs)
	return math.Log(1 + (max(n, float64(docs))-n+0.5)/(n+0.5))
}

// slight are words that are looked for, and say nothing of what a text is about.
var slight = setOf("i me my we us our you your he him his she her")

func setOf(words string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

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

// WordTells is what a word of a query tells that so many of all documents hold (its idf).
func WordTells(docs, all int) float64 { return idf(QueryWord{Docs: docs}, all) }
