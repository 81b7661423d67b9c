package search

import "github.com/ctxd/ctxd/context/search/words"

// Reach says how much of a query the best documents have. The scores of a search are in proportion to
// its best hit, so they say nothing of how good that is; with Reach hits of several indexes can be
// compared.
type Reach struct {
	// Words is the score of the best document by words over what the words of the query tell (their
	// idf), unknown ones included: 1 where a document of average length has each of them once.
	Words  float64
	Known  float64 // the share of what the words tell that is in words of any document
	Cosine float64 // of the nearest document; 0 where meaning had no part
	// Answered is log(p/(1−p)) of how likely it is that a hit answers, where Read says that late interaction has compared words.
	Answered float64
	Read     bool
}

func reachOf(words []words.QueryWord, docs int, hits []words.Hit) (r Reach) {
	known, all := information(words, docs)
	if all == 0 {
		return Reach{Known: 1}
	}
	r.Known = known / all
	if len(hits) > 0 {
		r.Words = min(1, hits[0].Score/all)
	}
	return r
}
