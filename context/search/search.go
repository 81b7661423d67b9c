package search

import (
	"context"
	"slices"
	"time"

	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/context/search/words"
	"github.com/ctxd/ctxd/entities/yield"
)

// Request is a search.
type Request struct {
	Query string
	Mode  Mode // how to look; "": by words
	Plain bool // the query is a text of words: no syntax, and its last word is complete
	Limit int  // hits at most; less than 1: none
	// Keep says which documents may be found, beside the filters of the query; nil: those
	// that Source.Usual says. It must be quick and ask no index.
	Keep func(text.Doc) bool
	// Public has private documents not exist, nor what others hide: what is found, in
	// which order and with which scores, tells nothing of them. Hits are as others see
	// them.
	Public bool

	// Values are those that Keep wants of operators such as vault, any of them: the ones that
	// no document has are problems.
	Values map[string][]string
	// List has a query without words and filters find all that Keep lets through. What has no
	// words is found by the time of its last change, newest first.
	List bool

	Snippets bool // find the places that match
	Explain  bool // say what counted
	Reach    bool // say how much of the query the best documents have, and how it was read
	// Confidence has the search say how sure it is that its hits answer.
	Confidence bool
	// Wait is how long the vector of the query is waited for at most, and vectors that are about to be there, where words alone
	// would be the answer; less than 150 ms: that.
	Wait time.Duration
	// Apart has a hybrid search rank the list by meaning by what tells its documents apart; what all of
	// them have in common does not count. It takes a full list: of few documents that is too little.
	Apart bool

	exact      bool // look for no mistakes
	understand bool // say how the query was read
	clock      *stopwatch
	reading    *reading
}

// Result is what a search found.
type Result struct {
	Hits []Hit // best first; equals by title in natural order, then by id
	Mode Mode  // how it was looked: Lexical also where meaning had no part in a hybrid search
	// Degraded says why documents may be missing; "" when none are. Stage is the part of
	// the search that misses them: lexical or semantic.
	Degraded string
	Stage    string
	// Fused says what each list counted in a hybrid search, with Explain.
	Fused *Fused
	// Understood says how the query was read, with Explain, and when it has problems.
	Understood *Understanding
	Stages     []Stage // with Explain: what took how long, in order

	// Corrected are words that no document has, folded, each with the most frequent of the
	// words that differ by one edit and that it stands for. There are none when another word
	// has no such word.
	Corrected map[string]string
	// Reach says how much of the query the best documents have, with Request.Reach.
	Reach Reach
	// Confidence is High, Medium or Low, with Request.Confidence, and Reason says why; "" where a query has no words, or where
	// meaning alone was compared.
	Confidence, Reason string
	// Apart says that Request.Apart was done.
	Apart bool
	// Nothing says why nothing was found; "" where there are hits. Refused is the best of what was found and is about something
	// else, nil where nothing was.
	Nothing string
	Refused *Refusal
	// Answer is what the floor went by, with Explain; nil where words were not compared one by one.
	Answer *Answer

	all   int     // documents that the search sees
	known float64 // the share of the words of the query that are in any document
}

// Hit is one document that was found.
type Hit struct {
	Doc     text.Doc
	Score   float64
	Snippet string   // of the plain text, or why a filter found it, one line
	Ranges  [][2]int // matches in Snippet: UTF-16, half-open
	Found   Mode     // by what it was found: Hybrid for both

	Lexical  *LexicalSignal  // nil: it was not found by its words
	Semantic *SemanticSignal // nil: it was not found by its meaning
	Fused    *FusedSignal    // nil: the search was by one of the two alone
	Late     *LateSignal     // nil: the vectors of its words had no part
}

// Search finds the best documents for a query. Words are ORed; phrases and filters
// are met by every hit. When nothing is found, words that are not in the index
// count as the words that differ by one edit. A hybrid search without vectors, or
// whose query has none within 150 ms, finds by words and says so; a semantic one is
// Unavailable then.
func (x *Index) Search(ctx context.Context, req Request) (*Result, error) {
	if req.Explain {
		req.clock = new(stopwatch)
	}
	if req.Keep == nil {
		req.Keep = x.src.Usual
	}
	ask, told := x.searchWords, req.Explain || req.Reach
	switch req.Mode {
	case Hybrid:
		ask = x.searchBoth
		req.Reach = req.Reach || req.Confidence
	case Semantic:
		ask = x.searchBoth
	}
	res, err := ask(ctx, req)
	if err != nil {
		return nil, err
	}
	if req.Explain {
		res.Stages = req.clock.stages
	}
	if req.Confidence && req.Mode != Semantic {
		x.sayConfidence(ctx, &req, res)
		if !told && (res.Understood == nil || len(res.Understood.Problems) == 0) {
			res.Understood = nil
		}
	}
	return res, nil
}

// searchWords is Search by words.
func (x *Index) searchWords(ctx context.Context, req Request) (*Result, error) {
	q, err := x.parse(ctx, &req)
	if err != nil {
		return nil, err
	}
	res, _, err := x.byWords(ctx, req)
	if err == nil {
		if req.List && len(q.words) == 0 && len(res.Hits) == 0 {
			res.Nothing = "nothing meets the filter"
		}
		res.sayNothing(q)
	}
	return res, err
}

// meets returns the test of all that a hit has to meet beside phrases.
func (q *query) meets(req *Request) func(text.Doc) bool {
	if len(q.filters) == 0 {
		return req.Keep
	}
	return func(d text.Doc) bool {
		if !req.Keep(d) {
			return false
		}
		for _, f := range q.filters {
			if f.test(d) == f.not {
				return false
			}
		}
		return true
	}
}

// byWords is searchWords, and gives what shows a hit as well.
func (x *Index) byWords(ctx context.Context, req Request) (*Result, *Matcher, error) {
	q, err := x.parse(ctx, &req)
	if err != nil {
		return nil, nil, err
	}
	res := &Result{Hits: []Hit{}, Mode: Lexical}
	told := req.Explain || req.Reach || req.understand || len(q.problems) > 0
	if req.Limit < 1 || len(q.words) == 0 && len(q.filters)+len(q.without) == 0 && !req.List {
		if len(q.problems) > 0 {
			res.Understood = q.understood(nil)
		}
		return res, nil, ctx.Err()
	}
	over := req.clock.begin("words")
	asking := words.Query{
		Words: q.words, Prefix: q.prefix, Phrases: q.phrases, Without: q.without, Keep: q.meets(&req), Limit: req.Limit,
		Synonyms: x.synonyms(q, req.Public), Exact: true, Public: req.Public, Explain: req.Explain, Read: told,
	}
	found, err := x.words.Search(ctx, asking)
	if err == nil && len(found.Hits) == 0 && len(q.words) > 0 && !req.exact {
		asking.Exact, asking.Read = false, true
		found, err = x.words.Search(ctx, asking)
	}
	over()
	if err != nil {
		return nil, nil, err
	}
	res.Degraded, res.all = found.Degraded, found.All
	if res.Degraded != "" {
		res.Stage = lexicalStage
	}
	asked := len(q.words) - q.symbols
	if asked == 0 {
		asked = len(q.words)
	}
	res.known = min(1, float64(found.Known)/float64(max(1, asked)))
	if res.known == 1 { // else it is probably in another language, whose words are like some by chance
		res.Corrected = corrections(found.Words)
	}
	if req.Reach {
		res.Reach = reachOf(found.Words, found.All, found.Hits)
	}
	signals := make([]LexicalSignal, len(found.Hits))
	res.Hits = make([]Hit, len(found.Hits))
	for i, h := range found.Hits {
		signals[i] = LexicalSignal{Rank: i + 1, Score: h.Score, Terms: h.Terms}
		if req.Explain {
			signals[i].Fields = x.fieldShares(h.Fields)
		}
		res.Hits[i] = Hit{Doc: h.Doc, Score: h.Score, Found: Lexical, Lexical: &signals[i]}
	}
	if told {
		res.Understood = q.understood(found.Words)
	}
	if !req.Snippets {
		return res, found.Matcher, nil
	}
	defer req.clock.begin("snippets")()
	for i := range res.Hits {
		if err := yield.Point(ctx); err != nil {
			return nil, nil, err
		}
		h := &res.Hits[i]
		if !q.showReason(h) {
			h.Snippet, h.Ranges = found.Matcher.Snippet(h.Doc.Plain())
		}
	}
	return res, found.Matcher, nil
}

// synonyms returns what means the same as the words of a query, but for words that say nothing.
func (x *Index) synonyms(q *query, public bool) map[string][]Synonym {
	if x.opts.Synonyms == nil || len(q.words) == 0 {
		return nil
	}
	found := x.opts.Synonyms(slices.Concat(q.words, q.ignored), public)
	for word, list := range found {
		found[word] = slices.DeleteFunc(list, func(s Synonym) bool { return saysNothing(s.Word) || s.Word == word })
	}
	return found
}

// fieldShares names the shares of the fields that have any.
func (x *Index) fieldShares(shares []float64) (list []FieldShare) {
	for f, share := range shares {
		if share > 0 {
			list = append(list, FieldShare{x.src.Fields()[f].Name, share})
		}
	}
	return list
}
