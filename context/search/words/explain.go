package words

import (
	"context"
	"slices"

	"github.com/ctxd/ctxd/context/search/text"
)

// maxMeans is how many of the words are told that one stands for.
const maxMeans = 12

// QueryWord is how a word of a query was taken.
type QueryWord struct {
	Word string // folded
	Stem string // all words with this stem are found
	As   How
	Docs int // that it was found in, whatever Keep says
	// Means are the words of the index that a prefix or a typo stands for, the most
	// frequent first, at most 12 of MeansAll.
	Means    []string
	MeansAll int
	// Synonyms are the words that counted as it, however few documents have them.
	Synonyms []string
}

// explain says for each hit what the words gave. The caller has the lock.
func (s *search) explain(p plan, best []rankedDoc, hits []Hit) {
	order := make([]int, len(best)) // of documents within their layers
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(best[a].Doc) - int(best[b].Doc) })
	for _, t := range p.terms {
		for i := range s.layers {
			t.in(i).Rewind()
		}
		for _, i := range order {
			d := best[i].Doc
			v := t.in(int(d >> 31)).Of(uint32(d &^ upperLayer))
			if v > 0 {
				hits[i].Terms = append(hits[i].Terms, Term{t.how, t.word, float64(v) / scoreScale})
			}
		}
	}
}

// divide shares what the terms gave among the fields that they stand in, by the
// weights of their occurrences. It reads whole texts: nobody calls it with the lock. It
// leaves off when ctx ends.
func (x *Index) divide(ctx context.Context, matcher *text.Matcher, synonyms map[string][]Synonym, h *Hit) {
	fields := x.fields
	h.Fields = make([]float64, len(fields))
	for _, gave := range h.Terms {
		m := matcherOf(matcher, gave)
		for _, s := range synonyms[gave.Word] {
			m.AddWord(s.Word)
		}
		counts := make([]float64, len(fields))
		sum := 0.0
		h.Doc.Fields(func(f int, text string) bool {
			if ctx.Err() != nil {
				return false
			}
			n := float64(m.Count(text)) * float64(fields[f].Weight)
			counts[f] += n
			sum += n
			return true
		})
		if ctx.Err() != nil {
			return
		}
		for f := range counts {
			if sum > 0 {
				h.Fields[f] += gave.Score * counts[f] / sum
			}
		}
	}
}

// matcherOf returns the part of a Matcher that stands for one term.
func matcherOf(m *text.Matcher, t Term) *text.Matcher {
	one := m.Only(t.Word, t.How == AsMistaken)
	if t.How == AsPrefix {
		one.AddPrefix(t.Word)
	}
	return one
}

// read tells how the words of a query were taken. The caller has the lock.
func (s *search) read(p plan) []QueryWord {
	taken := make(map[string]*term, len(p.terms))
	for _, t := range p.terms {
		taken[t.word] = t
	}
	list := make([]QueryWord, 0, len(s.q.Words))
	for _, w := range s.q.Words {
		r := QueryWord{Word: w, Stem: s.x.stem(w), As: AsWord, Means: []string{}}
		if t := taken[w]; t != nil {
			r.As, r.Docs = t.how, s.docsOf(t)
			s.mean(&r)
			if t.how == AsWord {
				for _, also := range s.q.Synonyms[w] {
					r.Synonyms = append(r.Synonyms, also.Word)
				}
			}
		}
		list = append(list, r)
	}
	return list
}

// docsOf counts the documents that a term is found in. The caller has the lock.
func (s *search) docsOf(t *term) (n int) {
	if t.Fixed() == nil {
		return s.lookUp([]byte(t.word)).docs
	}
	for i := range s.layers {
		for _, d := range t.in(i).Fixed().Docs {
			if s.sees(docID(d) | s.layers[i].base) {
				n++
			}
		}
	}
	return n
}

// mean finds what a word stands for. The caller has the lock.
func (s *search) mean(r *QueryWord) {
	var list []candidate
	switch r.As {
	case AsPrefix:
		list = s.completions(r.Word)
	case AsMistaken:
		list = s.corrections([]byte(r.Word))
	case AsWord:
	}
	r.MeansAll = len(list)
	for _, c := range list[:min(len(list), maxMeans)] {
		r.Means = append(r.Means, string(s.text(c)))
	}
}
