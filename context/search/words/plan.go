package words

import (
	"cmp"
	"context"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/search/text"
)

// Bounds of what a word may stand for.
const (
	maxExpansions = 1000    // words that one beginning, or one mistake, may mean
	maxExpanded   = 200_000 // postings of them together
	minMistaken   = 4       // code points of a word that may hold a mistake; one less in a query of few words
)

// What counts of a word that was not written as such.
const (
	prefixWeight   = 0.7
	mistakenWeight = 0.5
)

// term is one part of a query that documents are scored by.
type term struct {
	word string // of the query
	how  How
	postingCursor
	upper *postingCursor // of the second layer; nil when that was never read
	found bool           // in any document
}

// in returns the cursor of a layer.
func (t *term) in(layer int) *postingCursor {
	if layer == 0 {
		return &t.postingCursor
	}
	if t.upper == nil {
		t.upper = new(postingCursor)
	}
	return t.upper
}

// plan are the terms of a query, and what they match in a text.
type plan struct {
	terms   []*term
	matcher *text.Matcher
}

// plan looks the words of a query up. The caller has the lock.
func (r *run) plan(ctx context.Context, w *world, q *Query, mistakes bool) plan {
	stem := w.layers[0].x.stem
	p := plan{matcher: text.NewMatcher(stem)}
	for i, word := range q.Words {
		if ctx.Err() != nil { // the caller says so
			break
		}
		t := r.term(i)
		*t = term{word: word, how: AsWord, upper: t.upper}
		at := w.lookUp([]byte(word))
		begins, also := q.Prefix == word || text.IsCharacter(word), q.Synonyms[word]
		if begins {
			also = nil
		}
		mistaken := mistakes && at.docs == 0 && !w.known(also) &&
			utf8.RuneCountInString(word) >= minMistaken-max(0, min(1, 4-len(q.Words)))
		switch {
		case begins && !mistaken:
			t.how = AsPrefix
			p.matcher.AddPrefix(word)
			r.group(t, w, w.completions(word), at, prefixWeight, bound(word))
		case mistaken:
			t.how = AsMistaken
			near := w.corrections([]byte(word))
			for _, c := range near {
				p.matcher.AddExact(string(w.text(c)))
			}
			r.group(t, w, near, found{}, mistakenWeight, maxExpanded)
		case len(also) > 0:
			r.widen(t, w, at, also, p.matcher)
		case at.docs > 0:
			t.found = true
			weight := w.idf(at.docs) * (bm25K1 + 1)
			for i := range w.layers {
				t.in(i).Reset(&w.layers[i].scoreParams, blocksOf(at.lists[i]), weight)
			}
		default:
			continue
		}
		p.matcher.AddWord(word)
		if t.found {
			p.terms = append(p.terms, t)
		}
	}
	return p
}

func blocksOf(l *postingList) []postingBlock {
	if l == nil {
		return nil
	}
	return l.Blocks()
}

// bound returns how many postings the words that a word begins may have. A
// character stands in pairs only: all of them are it.
func bound(w string) int {
	if text.IsCharacter(w) {
		return math.MaxInt
	}
	return maxExpanded
}

// weighed are postings and what they weigh.
type weighed struct {
	lists  [2]*postingList
	weight float64
}

// group makes a term of several words: a document counts the most that any of them
// gives. exact are the postings of the word itself; the others count less, and no
// rarer than it.
func (r *run) group(t *term, w *world, words []candidate, exact found, weight float64, most int) {
	rarest := w.idf(0)
	var chosen []weighed
	if exact.docs > 0 {
		rarest = w.idf(exact.docs)
		chosen = append(chosen, weighed{exact.lists, rarest * (bm25K1 + 1)})
	}
	seen := make(map[*postingList]bool, len(words))
	for n, i := 0, 0; i < len(words) && n < most; i++ {
		f := w.lists(words[i])
		key := cmp.Or(f.lists[0], f.lists[1])
		if f.docs == 0 || f.lists == exact.lists || seen[key] {
			continue
		}
		seen[key] = true
		n += f.docs
		chosen = append(chosen, weighed{f.lists, min(rarest, w.idf(f.docs)) * weight * (bm25K1 + 1)})
	}
	r.fill(t, w, chosen)
}

// known reports whether any document has one of the words.
func (w *world) known(words []Synonym) bool {
	return slices.ContainsFunc(words, func(s Synonym) bool { return w.lookUp([]byte(s.Word)).docs > 0 })
}

// widen makes a term of a word and of those that mean the same: a document counts the most that
// any of them gives. No other counts as much as the word itself.
func (r *run) widen(t *term, w *world, exact found, words []Synonym, m *text.Matcher) {
	rarest := w.idf(0)
	var chosen []weighed
	if exact.docs > 0 {
		rarest = w.idf(exact.docs)
		chosen = append(chosen, weighed{exact.lists, rarest * (bm25K1 + 1)})
	}
	for _, s := range words {
		f := w.lookUp([]byte(s.Word))
		if f.docs == 0 || f.lists == exact.lists {
			continue
		}
		m.AddWord(s.Word)
		chosen = append(chosen, weighed{f.lists, min(rarest, w.idf(f.docs)) * s.Weight * (bm25K1 + 1)})
	}
	r.fill(t, w, chosen)
}

// fill makes a term of postings.
func (r *run) fill(t *term, w *world, chosen []weighed) {
	t.found = len(chosen) > 0
	for i := range w.layers {
		of := make([]weightedList, len(chosen))
		for j, c := range chosen {
			of[j] = weightedList{List: c.lists[i], Weight: c.weight}
		}
		t.in(i).ResetFixed(r.union.Of(&w.layers[i].scoreParams, of))
	}
}
