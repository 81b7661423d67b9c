package search

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/context/search/vectors"
)

// A search finds nothing where too little of a query is known and nothing is near: what is
// nearest among what has nothing to do with a query is chance. A query all of whose words some
// document has is never refused.
//
// Without late interaction, the less of the information of a query (idf) is in words that any
// document has, the nearer documents have to be by the table: of nothing known as near as
// Levels.Least, of everything known not at all. Of what is near by chance words and meaning choose
// different documents, so how near documents are is a mean (see nearness). On the sets of
// testdata/nothing.golden it separates the questions better than the nearest document alone, for
// both models.
//
// Late interaction says word by word how near documents are. A logistic model of four figures
// decides then (see answered).

// bestByWords is how many of the best documents by words count for how near documents are.
const bestByWords = 3

// A query of which hardly a word is understood is probably in another language than the
// documents. Then unknown words do not mean that it is about something else. Of a long query
// more words are known by chance.
const (
	fewWords, fewUnderstood   = 3, 0.25
	manyWords, manyUnderstood = 6, 0.45
)

// aboutness is what is known of whether anything is about a query.
type aboutness struct {
	// unsure says that the query may be about nothing: some of its words are unknown, no phrase or filter says what is wanted,
	// it is no list of words of which one is known, and no words or vectors are missing.
	unsure bool
	// foreign says that it is probably in another language than the documents, and marked that it has letters or frequent words
	// of one. Words that mean nothing are foreign and not marked: late interaction knows that nothing is near to them.
	foreign, marked bool

	words []QueryWord // of the query; nil: not known
	all   int         // documents that the search sees
	known float64     // the share of what the words tell that is in words of any document
	near  float64     // see nearness
	level float64     // see Levels.Least
}

// listWords is of how many words at most a query is a list of words, each of which counts, and no sentence.
const listWords = 3

// aboutness takes in what the search by words found.
func (q *query) aboutness(words *Result, foreign bool) aboutness {
	list := len(q.ignored) == 0 && len(q.words) <= listWords && words.known > 0
	a := aboutness{
		unsure: words.known < 1 && words.Degraded == "" && len(q.phrases)+len(q.without)+len(q.filters) == 0 && !list && len(q.words) > 0,
		all:    words.all, foreign: foreign, marked: q.isNotEnglish(),
	}
	if words.Understood != nil {
		a.words = words.Understood.Words
	}
	return a
}

// Refusal is a document that nothing but chance makes the best.
type Refusal struct {
	Doc text.Doc
	// Score is how likely it is that it answers, from 0 to 1, where words were compared one by one, else how near it is; and Floor
	// what that is at least of what is shown.
	Score, Floor float64
}

// refused is the first of the hits, for the report.
func (a *aboutness) refused(r *Reach, hits []Hit) *Refusal {
	switch {
	case len(hits) == 0:
		return nil
	case r.Read:
		return &Refusal{hits[0].Doc, likely(r.Answered), likely(leastAnswered)}
	}
	return &Refusal{hits[0].Doc, a.near, a.level * (1 - a.known)}
}

// Answer is what the floor goes by where words were compared one by one: the figures of the logistic model, see answered.
type Answer struct {
	Matched, Unknown, Near float64
	Words                  int
	Likely, Floor          float64 // how likely it is that a hit answers, and what that is at least of what is shown
}

// likely is the probability of a logit.
func likely(logit float64) float64 { return 1 / (1 + math.Exp(-logit)) }

// read has the words of the nearest hits compared with those of the query one by one. question is nil where late interaction had
// no part; then there is no Answer.
func (a *aboutness) read(r *Reach, question *vectors.WordQuestion, hits []Hit) *Answer {
	if question == nil || a.foreign && a.marked {
		return nil
	}
	m, ok := a.nearest(question, hits)
	if !ok {
		return nil
	}
	r.Answered, r.Read = a.answered(&m), true
	return &Answer{m.matched, m.unknown, a.near, m.words, likely(r.Answered), likely(leastAnswered)}
}

// isAbout reports whether any of the hits is about the query.
func (a *aboutness) isAbout(r *Reach) bool {
	switch {
	case !a.unsure:
		return true
	case r.Read:
		return r.Answered >= leastAnswered
	}
	return a.foreign || a.near >= a.level*(1-a.known)
}

// The logistic model of whether a hit answers a question of which some words are in no document: log(p/(1−p)) of how
// likely that is, where questions with and without an answer are equally many. It was fitted on one half of the
// questions of the sample vault, of this and two other vaults together, of small parts of it, of the labelled facts, of
// Cranfield and of the conversations, each with questions of the others, foreign ones and words that mean nothing; the
// other half agrees. testdata/floor.golden has what it refuses.
const (
	ofMatched = 10.5
	ofUnknown = 5.2
	ofNear    = 6.4
	ofFew     = -7.8
	ofAll     = -5.7
	// leastAnswered loses 27 of the 1,130 questions with answers of these sets, small parts left out: 17 paraphrases, 10 on facts.
	leastAnswered = -1.0

	// A word of the question is matched by half where its nearest word has the cosine matchedCosine.
	matchedCosine = 0.5
	matchedSlope  = 12
	// noneUnknown stands for the nearness of unknown words where there are none.
	noneUnknown = 0.6
	// readHits is how many of the nearest documents are looked at word by word.
	readHits = 5
)

// answered is the logit of the model. Its figures are
//   - the share of what the words of the question tell (their idf) that the nearest document matches,
//   - the mean cosine there of the words that no document has: what is said in other words is near to them,
//   - how near documents are by the table,
//   - one over the number of words and one: of few words one is matched by chance.
func (a *aboutness) answered(m *wordMatch) float64 {
	return ofAll + ofMatched*m.matched + ofUnknown*m.unknown + ofNear*a.near + ofFew/float64(1+m.words)
}

// nearest is how the document matches the query that matches it best; ok is false where the question has none of the words that
// were looked for.
func (a *aboutness) nearest(question *vectors.WordQuestion, hits []Hit) (best wordMatch, ok bool) {
	for _, h := range nearestHits(hits) {
		m, any := a.match(question.Matched(h.Doc.ID(), h.Late.Chunk))
		if any && (!ok || m.matched > best.matched) {
			best, ok = m, true
		}
	}
	return best, ok
}

// nearestHits are the hits that are nearest by late interaction.
func nearestHits(hits []Hit) []*Hit {
	var list []*Hit
	for i := range hits {
		if hits[i].Late != nil {
			list = append(list, &hits[i])
		}
	}
	slices.SortFunc(list, func(a, b *Hit) int { return cmp.Compare(b.Late.Nearness, a.Late.Nearness) })
	return list[:min(readHits, len(list))]
}

// wordMatch is how a document matches the words of a question.
type wordMatch struct {
	matched, unknown float64
	words            int // of the question that were compared
}

// match compares the words of the query with those of a document: of each token of the question the word that it is of, and the
// cosine of the nearest word. any tells whether some of the tokens are of the words that were looked for.
func (a *aboutness) match(tokens []string, near []float32) (m wordMatch, any bool) {
	var told, matched, unknown float64
	var unknowns int
	for from := 0; from < len(tokens); {
		to := from + 1
		for to < len(tokens) && tokens[to] == tokens[from] { // the pieces of a word stand together
			to++
		}
		if w := a.asked(tokens[from]); w != nil {
			cosine := 0.0
			for _, c := range near[from:to] {
				cosine += float64(c) / float64(to-from)
			}
			tells := idf(*w, a.all)
			told += tells
			matched += tells / (1 + math.Exp(-matchedSlope*(cosine-matchedCosine)))
			if m.words++; w.Docs == 0 {
				unknown += cosine
				unknowns++
			}
		}
		from = to
	}
	if told == 0 {
		return m, false
	}
	m.matched, m.unknown = matched/told, noneUnknown
	if unknowns > 0 {
		m.unknown = unknown / float64(unknowns)
	}
	return m, true
}

// samePrefix is how much a word of the encoder and one of the query have in common at least where they are cut in different ways.
const samePrefix = 4

// asked is the word of the query that a word of the encoder is, nil for none and for one that says nothing.
func (a *aboutness) asked(word string) *QueryWord {
	if word == "" {
		return nil
	}
	var like *QueryWord
	for i := range a.words {
		w := &a.words[i]
		if slight[w.Word] {
			continue
		}
		if w.Word == word {
			return w
		}
		n := 0
		for n < min(len(w.Word), len(word)) && w.Word[n] == word[n] {
			n++
		}
		if like == nil && n >= max(samePrefix, min(len(w.Word), len(word))-1) {
			like = w
		}
	}
	return like
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
// that any document has. words is what the search by words found; how it took them is added to it unless all are known.
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
		words.Understood, words.all = res.Understood, res.all
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
