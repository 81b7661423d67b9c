package search

import "slices"

// explain says for each hit what counted:
//
//	lexical                the score
//	word:W                 what the word W of the query gave; these add up to lexical
//	prefix:W, typo:W       the same for a word that W begins, or is a mistake of
//	rank:lexical           the place among the hits, from 1
//	field:F                how the score divides among the fields of the note:
//	                       title, headings, tags, path, body
//
// The caller has the lock.
func (s *search) explain(p plan, best []ranked, hits []Hit) {
	order := make([]int, len(best))
	for i := range order {
		order[i] = i
		hits[i].Signals = map[string]float64{"lexical": hits[i].Score, "rank:lexical": float64(i + 1)}
	}
	slices.SortFunc(order, func(a, b int) int { return int(best[a].doc) - int(best[b].doc) })
	for _, t := range p.terms {
		t.rewind()
		for _, i := range order {
			if v := t.of(uint32(best[i].doc)); v > 0 {
				hits[i].Signals[string(t.how)+":"+t.word] = float64(v) / scale
			}
		}
	}
	for i := range hits {
		s.divide(p, &hits[i])
	}
}

// divide shares what the terms gave among the fields that they stand in, by the
// weights of their occurrences.
func (s *search) divide(p plan, h *Hit) {
	var shares [fields]float64
	for _, t := range p.terms {
		gave := h.Signals[string(t.how)+":"+t.word]
		if gave == 0 {
			continue
		}
		m := p.matcher.of(t)
		var counts [fields]float64
		sum := 0.0
		eachField(h.Note, func(f field, text string) bool {
			n := float64(len(m.all(text))) * float64(fieldWeights[f])
			counts[f] += n
			sum += n
			return true
		})
		for f := range counts {
			if sum > 0 {
				shares[f] += gave * counts[f] / sum
			}
		}
	}
	for f, share := range shares {
		if share > 0 {
			h.Signals["field:"+fieldNames[f]] = share
		}
	}
}

// of returns the part of a Matcher that stands for one term.
func (m *Matcher) of(t *term) *Matcher {
	one := newMatcher(m.stem)
	one.stems[m.stem(t.word)] = true
	switch t.how {
	case asPrefix:
		one.prefixes = []string{t.word}
	case asMistaken:
		one.words = m.words
	case asWord:
	}
	return &one
}
