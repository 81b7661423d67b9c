package search

import (
	"cmp"
	"slices"

	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities"
)

// Fusion says how a hybrid search makes one list of two.
type Fusion string

// The ways to fuse. The zero Fusion is ByScore.
const (
	ByScore Fusion = "score" // a weighted sum of scores
	ByRank  Fusion = "rank"  // reciprocal ranks
)

// Weights say what the two lists of a hybrid search count. That by words counts the
// less, the less of what the words of the query tell is in any note: of a question in
// words of its own, those that are there by chance say little. Of a question in another
// language the words count by their number, because its rare words are all unknown. That
// by meaning counts the less, the further the nearest note is.
type Weights struct {
	Lexical, Semantic float64
}

// DefaultWeights are those that did best on the labelled sets in testdata.
var DefaultWeights = Weights{Lexical: 1, Semantic: 0.7}

const (
	// fuseRank is the k of reciprocal rank fusion (Cormack, Clarke, Büttcher 2009):
	// a note gets weight/(k + its rank) of each list.
	fuseRank = 60
	// floorCosine is how near a text is to a query that has nothing to do with it. What is
	// nearer by the built-in table is so by chance up to about here.
	floorCosine = 0.05
	// doubtCosine is the nearness of the best note up to which the list by meaning counts
	// nothing, and sureCosine that from which on it counts all. The table is English: it
	// knows little of a question in French, and no note is near.
	doubtCosine = 0.1
	sureCosine  = 0.3
)

// fusion makes one list of that by words and that by meaning.
type fusion struct {
	by      Fusion
	weights Weights
	known   float64              // what the list by words can count at most: the share of the query that is known
	depth   int                  // how long the lists are at most
	knows   func(id string) bool // whether the vectors say anything of a document
	cosine  float64              // of the nearest document; 0: the score of the first of the list by meaning

	words, meaning float64 // what each list counts
}

// Fused says what each list counted in a hybrid search.
type Fused struct {
	By             Fusion
	Words, Meaning float64
	Known          float64 // share of the query that is in words of any document, see Weights
}

func (f *fusion) told() *Fused { return &Fused{cmp.Or(f.by, ByScore), f.words, f.meaning, f.known} }

// fuse makes one list of two. A document of whose meaning nothing is known, for it waits for
// its vectors or may have none, has by meaning what it has by its words: else whatever
// was embedded first would stand before it while the vectors are being made.
func (f *fusion) fuse(words, near []Hit) []Hit {
	byWords, noWords, byMeaning, noMeaning := f.scores(words, near)
	all := make([]Hit, 0, len(words)+len(near))
	at := make(map[string]int, len(words))
	for i, h := range words {
		id := h.Doc.ID()
		at[id] = len(all)
		h.Fused = &FusedSignal{Lexical: f.words * byWords(i), Semantic: f.meaning * noMeaning}
		if f.weights.Lexical > 0 && !f.knows(id) {
			h.Fused.Semantic, h.Fused.Assumed = f.meaning*byWords(i), true
		}
		all = append(all, h)
	}
	for i, h := range near {
		n, ok := at[h.Doc.ID()]
		if !ok {
			n = len(all)
			all = append(all, Hit{Doc: h.Doc, Fused: &FusedSignal{Lexical: f.words * noWords}, Found: Semantic})
		}
		if ok {
			all[n].Found = Hybrid
		}
		all[n].Semantic = h.Semantic
		all[n].Fused.Semantic, all[n].Fused.Assumed = f.meaning*byMeaning(i), false
	}
	for i := range all {
		all[i].Score = all[i].Fused.Lexical + all[i].Fused.Semantic
	}
	all = slices.DeleteFunc(all, func(h Hit) bool { // of a list that counts nothing
		return h.Found == Lexical && f.weights.Lexical == 0 || h.Found == Semantic && f.weights.Semantic == 0
	})
	slices.SortFunc(all, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.wordScore(), a.wordScore()),
			cmp.Compare(b.cosine(), a.cosine()), compareDocs(a.Doc, b.Doc))
	})
	return all
}

// scores says what a place in each list is worth, and what it is worth to be in none of
// its places, and sets what the lists count.
//
// By score that is a weighted sum of the two scores, each in proportion to the best of its
// list (Bruch, Gai, Ingber, An Analysis of Fusion Functions for Hybrid Retrieval, 2022). A
// document that is absent from a list that is full has at most the score of its last.
func (f *fusion) scores(words, near []Hit) (
	byWords func(int) float64, noWords float64, byMeaning func(int) float64, noMeaning float64,
) {
	if f.by == ByRank {
		rank := func(i int) float64 { return 1 / float64(fuseRank+i+1) }
		f.words, f.meaning = f.weights.Lexical*f.known, f.weights.Semantic
		return rank, 0, rank, 0
	}
	best, nearest := 0.0, 0.0
	if len(words) > 0 {
		best = words[0].Score
	}
	if len(near) > 0 {
		nearest = near[0].Score
	}
	byWords = func(i int) float64 {
		if best == 0 {
			return 0
		}
		return words[i].Score / best
	}
	byMeaning = func(i int) float64 {
		if nearest <= floorCosine {
			return 0
		}
		return max(0, near[i].Score-floorCosine) / (nearest - floorCosine)
	}
	if n := len(words); n > 0 && n >= f.depth {
		noWords = byWords(n - 1)
	}
	if n := len(near); n > 0 && n >= f.depth {
		noMeaning = byMeaning(n - 1)
	}
	sure := min(1, max(0, (cmp.Or(f.cosine, nearest)-doubtCosine)/(sureCosine-doubtCosine)))
	if len(words) == 0 {
		sure = 1
	}
	w := Weights{f.weights.Lexical * f.known, f.weights.Semantic * sure}
	f.words = 1
	if sum := w.Lexical + w.Semantic; sum > 0 {
		f.words = w.Lexical / sum
	}
	f.meaning = 1 - f.words
	return byWords, noWords, byMeaning, noMeaning
}

// wordScore is what the words gave a hit, 0 when they did not find it.
func (h *Hit) wordScore() float64 {
	if h.Lexical == nil {
		return 0
	}
	return h.Lexical.Score
}

// cosine is how near a hit is, 0 when its meaning did not find it.
func (h *Hit) cosine() float64 {
	if h.Semantic == nil {
		return 0
	}
	return h.Semantic.Cosine
}

// compareDocs is the order of documents that are equal otherwise.
func compareDocs(a, b text.Doc) int {
	return cmp.Or(entities.CompareNatural(a.Title(), b.Title()), cmp.Compare(a.ID(), b.ID()))
}
