package recall

import (
	"slices"
	"strings"

	"github.com/ctxd/ctxd/context/search"
)

// confidence says how sure it is that the hits answer the question, and why.
func (s *run) confidence() (value, reason string) {
	c := search.Certainty{
		Reach: s.reached, Hits: len(s.list), Nothing: s.nothing, Unknown: s.unknown, Vectors: s.vectors, Gap: 1, NearUnknown: s.nearUnknown,
	}
	c.Read = c.Read && !s.unread
	if len(s.list) > 1 {
		c.Gap = s.list[0].score - s.list[1].score
	}
	return c.Told()
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
	return cosine, asked
}

// takeWords keeps the words of the question that no document of any kind has.
func (s *run) takeWords(u *search.Understanding) {
	if u == nil {
		return
	}
	unknown := u.UnknownWords()
	if s.read.Query == nil {
		s.read.Query, s.unknown = u, unknown
		return
	}
	s.unknown = slices.DeleteFunc(s.unknown, func(w string) bool { return !slices.Contains(unknown, w) })
}

// offTopicRelevance is under what relevance of the best hit a question may be off topic. It was chosen on a dozen books, and on
// these with two hundred more: on few books many words of a question that they answer are in none.
const offTopicRelevance = 0.4

// OffTopic is the best of hits that are off topic, see IsOffTopic; ok is false for none.
func (r *Result) OffTopic() (best Refused, ok bool) {
	if len(r.Hits) == 0 {
		return best, false
	}
	return Refused{r.Hits[0].Kind, r.Hits[0].ID, r.Hits[0].Relevance, offTopicRelevance}, true
}

// IsOffTopic reports whether a question is about something that none of the hits is about: the confidence is low, half of its
// words are in nothing, and the best hit has little of the rest. What is asked in another language than English may be about
// them: the vectors know too little of it to tell that nothing is near.
func (r *Result) IsOffTopic() bool {
	if r.Confidence != search.Low || len(r.Hits) == 0 || r.Understood.Query == nil {
		return r.Confidence == search.Low
	}
	words := r.Understood.Query.Words
	return 2*len(r.Understood.Unknown) >= len(words) && r.Hits[0].Relevance < offTopicRelevance &&
		!slices.ContainsFunc(words, func(w search.QueryWord) bool { return search.IsFunctionWord(w.Word) })
}
