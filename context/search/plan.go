package search

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// Bounds of what a word may stand for.
const (
	maxExpansions = 1000    // words that one beginning, or one mistake, may mean
	maxExpanded   = 200_000 // postings of them together
	minMistaken   = 4       // code points of a word that may hold a mistake
)

// What counts of a word that was not written as such.
const (
	prefixWeight   = 0.7
	mistakenWeight = 0.5
)

// term is one part of a query that documents are scored by.
type term struct {
	word string // of the query
	how  how
	stem wordID // noWord for one that is not in the index
	cursor
}

// how says what a term takes for the word of the query.
type how string

const (
	asWord     how = "word"
	asPrefix   how = "prefix"
	asMistaken how = "typo"
)

// plan are the terms of a query, and what they match in a text.
type plan struct {
	terms   []*term
	matcher Matcher
}

// plan looks the words of a query up. The caller has the lock.
func (r *run) plan(ctx context.Context, x *inverted, q *query, mistakes bool) plan {
	p := plan{matcher: newMatcher(x.stem)}
	for i, w := range q.words {
		if ctx.Err() != nil { // the caller says so
			break
		}
		t := r.term(i)
		*t = term{word: w, how: asWord, stem: noWord}
		l, id := x.postings([]byte(w))
		mistaken := mistakes && l == nil && utf8.RuneCountInString(w) >= minMistaken
		switch {
		case (q.prefix == w || isCharacter(w)) && !mistaken:
			t.how = asPrefix
			p.matcher.prefixes = append(p.matcher.prefixes, w)
			t.resetFixed(x, r.group(x, x.completions(w), l, prefixWeight, bound(w)))
		case mistaken:
			t.how = asMistaken
			near := x.corrections([]byte(w))
			for _, id := range near {
				p.matcher.words[string(x.bytes(id))] = true
			}
			t.resetFixed(x, r.group(x, near, nil, mistakenWeight, maxExpanded))
		case l != nil:
			t.stem = id
			t.reset(x, l.blocks(), x.idf(l.docs())*(repeated+1))
		default:
			continue
		}
		p.matcher.stems[x.stem(w)] = true
		if t.blocks() > 0 {
			p.terms = append(p.terms, t)
		}
	}
	return p
}

// isCharacter reports whether a word is one character of a script in pairs: it
// may stand at the beginning of any pair.
func isCharacter(w string) bool {
	r, size := utf8.DecodeRuneInString(w)
	return size == len(w) && inPairs(r)
}

// bound returns how many postings the words that a word begins may have. A
// character stands in pairs only: all of them are it.
func bound(w string) int {
	if isCharacter(w) {
		return math.MaxInt
	}
	return maxExpanded
}

// completions returns words that begin with a prefix, the most frequent first;
// all pairs for a character.
func (x *inverted) completions(prefix string) (list []wordID) {
	x.eachPrefixed([]byte(prefix), func(id wordID) { list = append(list, id) })
	if isCharacter(prefix) {
		return list
	}
	return x.frequentFirst(list)
}

// corrections returns words that differ from a word by one edit.
func (x *inverted) corrections(w []byte) (list []wordID) {
	x.eachNear(w, func(id wordID) { list = append(list, id) })
	return x.frequentFirst(list)
}

func (x *inverted) frequentFirst(list []wordID) []wordID {
	slices.SortFunc(list, func(a, b wordID) int {
		return cmp.Or(cmp.Compare(x.words[b].docs, x.words[a].docs), bytes.Compare(x.dictionary.bytes(a), x.dictionary.bytes(b)))
	})
	return list[:min(len(list), maxExpansions)]
}

// group works out what documents count for a word that stands for several: the
// most that any of them gives. exact are the postings of the word itself, nil
// for none; the others count less, and no rarer than it.
func (r *run) group(x *inverted, list []wordID, exact *list, weight float64, most int) *fixed {
	scores := r.scores[:0]
	if cap(scores) < len(x.lengths) {
		scores = make([]uint32, len(x.lengths)+len(x.lengths)/8)
	}
	scores = scores[:len(x.lengths)]
	marks := r.found[:0]
	if need := len(x.lengths)/64 + 1; cap(marks) < need {
		marks = make([]uint64, need+need/8)
	}
	marks = marks[:len(x.lengths)/64+1]
	r.scores, r.found = scores, marks
	var c cursor
	add := func(l []block, weight float64) (n int) {
		c.reset(x, l, weight)
		for i := range l {
			c.load(i)
			for j, doc := range c.docs[:c.n] {
				scores[doc] = max(scores[doc], c.score(doc, c.tfs[j]))
				marks[doc/64] |= 1 << (doc % 64)
			}
			n += c.n
		}
		return n
	}
	rarest := x.idf(0)
	seen := make(map[wordID]bool, len(list))
	if exact != nil {
		rarest = x.idf(exact.docs())
		add(exact.blocks(), rarest*(repeated+1))
	}
	for n, i := 0, 0; i < len(list) && n < most; i++ {
		stem := x.words[list[i]].stem
		l := x.listOf(stem)
		if l == nil || l == exact || seen[stem] {
			continue
		}
		seen[stem] = true
		n += add(l.blocks(), min(rarest, x.idf(l.docs()))*weight*(repeated+1))
	}
	return collect(scores, marks)
}

// collect makes scores of documents in order, and leaves both slices empty.
func collect(scores []uint32, marks []uint64) *fixed {
	n := 0
	for _, m := range marks {
		n += bits.OnesCount64(m)
	}
	f := &fixed{docs: make([]uint32, 0, n), scores: make([]uint32, 0, n), max: make([]uint32, 0, n/blockSize+1)}
	for i, m := range marks {
		for ; m != 0; m &= m - 1 {
			doc := uint32(i*64 + bits.TrailingZeros64(m))
			if len(f.docs)%blockSize == 0 {
				f.max = append(f.max, 0)
			}
			most := &f.max[len(f.max)-1]
			*most = max(*most, scores[doc])
			f.docs, f.scores = append(f.docs, doc), append(f.scores, scores[doc])
			scores[doc] = 0
		}
		marks[i] = 0
	}
	return f
}
