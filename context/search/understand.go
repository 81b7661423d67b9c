package search

import "strings"

// Understanding says how a query was read, and what its words stand for.
type Understanding struct {
	Words   []QueryWord // any of them
	Ignored []string    // words that say nothing, beside others that do
	Phrases []string    // all of them, each its words in order
	Without []string    // words and phrases that no hit has
	Filters []string    // as they were written, a minus before what must not be
}

// QueryWord is one word of a query.
type QueryWord struct {
	Word string // folded
	Stem string // all words with this stem are found
	// As says how the word was taken: word; prefix, a word that may go on; typo, a
	// word that is in no note, and stands for those that differ by one edit.
	As    string
	Notes int // that it was found in, before filters
	// Means are the words of the index that a prefix or a typo stands for, the most
	// frequent first, at most maxMeans of MeansAll.
	Means    []string
	MeansAll int
}

// maxMeans is how many of the words are told that one stands for.
const maxMeans = 12

// understand tells how a query was read. It looks the words up again, for which
// it takes the lock.
func (s *search) understand(p plan) *Understanding {
	q := s.q
	u := &Understanding{Words: []QueryWord{}, Ignored: append([]string{}, q.ignored...), Filters: []string{}, Phrases: join(q.phrases), Without: join(q.without)}
	for _, f := range q.filters {
		u.Filters = append(u.Filters, f.text)
	}
	taken := make(map[string]*term, len(p.terms))
	for _, t := range p.terms {
		taken[t.word] = t
	}
	x := s.x
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, w := range q.words {
		word := QueryWord{Word: w, Stem: x.x.stem(w), As: string(asWord), Means: []string{}}
		if t := taken[w]; t != nil {
			word.As, word.Notes = string(t.how), x.notesOf(t)
			word.mean(x.x, t)
		}
		u.Words = append(u.Words, word)
	}
	return u
}

// notesOf counts the notes that a term is found in. The caller has the lock.
func (x *Index) notesOf(t *term) int {
	if t.fixed != nil {
		return len(t.fixed.docs)
	}
	l, _ := x.x.postings([]byte(t.word))
	if l == nil {
		return 0
	}
	return l.docs()
}

// mean finds what a word stands for. The caller has the lock.
func (w *QueryWord) mean(x *inverted, t *term) {
	var list []wordID
	switch t.how {
	case asPrefix:
		list = x.completions(t.word)
	case asMistaken:
		list = x.corrections([]byte(t.word))
	case asWord:
	}
	w.MeansAll = len(list)
	for _, id := range list[:min(len(list), maxMeans)] {
		w.Means = append(w.Means, string(x.bytes(id)))
	}
}

// join writes phrases as texts.
func join(phrases [][]string) []string {
	out := []string{}
	for _, words := range phrases {
		out = append(out, strings.Join(words, " "))
	}
	return out
}
