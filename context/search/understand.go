package search

import (
	"strings"

	"github.com/ctxd/ctxd/context/search/words"
)

// Understanding says how a query was read, and what its words stand for.
type Understanding struct {
	Words   []QueryWord // any of them
	Ignored []string    // words that say nothing, beside others that do
	Phrases []string    // all of them, each its words in order
	Without []string    // words and phrases that no hit has
	Filters []string    // as they were written, a minus before what must not be
	// Problems are what may have been meant in another way, in the order of the query.
	Problems []Problem
}

// QueryWord is how one word of a query was taken.
type QueryWord = words.QueryWord

// Synonyms are the words that counted as some of the query, by these; nil for none.
func (u *Understanding) Synonyms() (list map[string][]string) {
	for _, w := range u.Words {
		if len(w.Synonyms) == 0 {
			continue
		}
		if list == nil {
			list = make(map[string][]string)
		}
		list[w.Word] = w.Synonyms
	}
	return list
}

// understood says how the query was read.
func (q *query) understood(words []words.QueryWord) *Understanding {
	u := &Understanding{
		Words: words, Ignored: append([]string{}, q.ignored...), Filters: []string{},
		Phrases: join(q.phrases), Without: join(q.without), Problems: append([]Problem{}, q.problems...),
	}
	if u.Words == nil {
		u.Words = []QueryWord{}
	}
	for _, f := range q.filters {
		u.Filters = append(u.Filters, f.text)
	}
	return u
}

// join writes phrases as texts.
func join(phrases [][]string) []string {
	out := []string{}
	for _, words := range phrases {
		out = append(out, strings.Join(words, " "))
	}
	return out
}

// Counts returns how many documents hold each of some folded words, in any of its forms, and how many documents there are; for a
// public reader private ones do not exist. O(words).
func (x *Index) Counts(words []string, public bool) (docs []int, all int) {
	return x.words.Counts(words, public)
}

// Held reports of each of some folded words whether one of some documents holds it, in any of its forms, as Counts does. O(postings
// of the words).
func (x *Index) Held(words, ids []string, public bool) []bool {
	return x.words.Held(words, ids, public)
}
