package recall

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/context/search"
)

// Values of Result.Confidence.
const (
	High   = "high"
	Medium = "medium"
	Low    = "low"
)

// What the confidence is told by. On the part tune of the labelled facts the confidence is low for one in
// ten of the questions that have an answer, and of those with a high one 99 % have it among the first five.
const (
	// Low is what has less than lowLevel by lowKnown times the share of the question that is in words of
	// anything, plus the cosine of the nearest hit to the words that are in nothing.
	lowLevel = 1.19
	lowKnown = 2.1
	// assumedCosine stands for that cosine where there are no vectors.
	assumedCosine = 0.3

	highKnown  = 0.85
	highCosine = 0.5
	highGap    = 0.06 // between the scores of the first two
)

// confidence says how sure it is that the hits answer the question, and why.
func (s *run) confidence() (value, reason string) {
	known := s.reached.Known
	switch {
	case len(s.list) == 0 && s.nothing != "":
		return Low, s.nothing
	case len(s.list) == 0:
		return Low, "nothing was found"
	case lowKnown*known < lowLevel && len(s.unknown) > 0:
		near, asked := s.nearUnknown()
		if lowKnown*known+near >= lowLevel {
			break
		}
		words := strings.Join(s.unknown, ", ")
		if asked {
			return Low, fmt.Sprintf("nothing has the words %s, and nothing is near to them", words)
		}
		return Low, "nothing has the words " + words
	}
	return s.mediumOrHigh()
}

func (s *run) mediumOrHigh() (value, reason string) {
	gap := 1.0
	if len(s.list) > 1 {
		gap = s.list[0].score - s.list[1].score
	}
	switch {
	case !s.vectors:
		return Medium, "only words were compared"
	case s.reached.Known < highKnown && len(s.unknown) > 0:
		return Medium, "nothing has the words " + strings.Join(s.unknown, ", ")
	case s.reached.Cosine < highCosine:
		return Medium, "nothing is very near to the question"
	case gap < highGap:
		return Medium, "the first two hits are about as good"
	}
	return High, "all that the question says is known, and the first hit stands out"
}

// nearUnknown returns how near a hit is to the words of the question that nothing has: what is said in
// other words is near to them, and what was never talked about is not.
func (s *run) nearUnknown() (cosine float64, asked bool) {
	for kind, in := range map[string]*search.Index{
		Memories: s.in.Memories.Search, Messages: s.in.Messages.Search, Passages: s.in.Passages,
	} {
		if in == nil || !s.searched[kind] {
			continue
		}
		res, err := in.Search(s.ctx, search.Request{
			Query: strings.Join(s.unknown, " "), Mode: search.Semantic, Plain: true, Limit: 1, Public: s.v.Hides(),
		})
		if err != nil { // without its vector it is not known
			continue
		}
		asked = true
		if len(res.Hits) > 0 {
			cosine = max(cosine, res.Hits[0].Score)
		}
	}
	if !asked {
		return assumedCosine, false
	}
	return cosine, true
}

// takeWords keeps the words of the question that no document of any kind has.
func (s *run) takeWords(u *search.Understanding) {
	if u == nil {
		return
	}
	var unknown []string
	for _, w := range u.Words {
		if w.Docs == 0 && !search.IsFunctionWord(w.Word) {
			unknown = append(unknown, w.Word)
		}
	}
	if s.read.Query == nil {
		s.read.Query, s.unknown = u, unknown
		return
	}
	s.unknown = slices.DeleteFunc(s.unknown, func(w string) bool { return !slices.Contains(unknown, w) })
}

// offTopicRelevance is under what relevance of the best hit a question may be off topic. It was chosen on a dozen books, and on
// these with two hundred more: on few books many words of a question that they answer are in none.
const offTopicRelevance = 0.4

// IsOffTopic reports whether a question is about something that none of the hits is about: the confidence is low, half of its
// words are in nothing, and the best hit has little of the rest. What is asked in another language than English may be about
// them: the vectors know too little of it to tell that nothing is near.
func (r *Result) IsOffTopic() bool {
	if r.Confidence != Low || len(r.Hits) == 0 || r.Understood.Query == nil {
		return r.Confidence == Low
	}
	words := r.Understood.Query.Words
	return 2*len(r.Understood.Unknown) >= len(words) && r.Hits[0].Relevance < offTopicRelevance &&
		!slices.ContainsFunc(words, func(w search.QueryWord) bool { return search.IsFunctionWord(w.Word) })
}
