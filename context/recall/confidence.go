package recall

import (
	"slices"
	"strings"

	"github.com/ctxd/ctxd/context/memory/document"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/record"
)

// The least score of a message that stands in a prompt without being asked for, by how sure a search of messages is. Of the
// eight long conversations of the test data in one store, 700 questions of two hundred short chats about other things find a
// fifth of what they found (125 of 650 messages by the encoder, on three of the conversations; 273 of 902 by the table alone),
// and the questions about them lose one in twenty of the messages with the answer (2 of 53, 7 of 139).
const (
	leastMessage       = 0.6
	leastMessageUnsure = 0.8
	noMessage          = 1.01 // above all scores
)

// MessageFloor returns the least score of a message that stands in a prompt without being asked for. Of memories, which are kept
// since they are worth it, what a search finds stands there. Where words alone were compared, what was found has some of them.
func (r *Result) MessageFloor() float64 {
	if r.byWords {
		return 0
	}
	switch r.Confidence {
	case search.Low:
		return noMessage
	case search.Medium:
		return leastMessageUnsure
	case search.High:
		return leastMessage
	}
	return 0 // nothing was searched for
}

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

// takePresent keeps of the words of the question that documents have whether one has them that is not retracted, as the reader
// sees it. O(retracted memories).
func (s *run) takePresent(kind string, in Index, u *search.Understanding) error {
	if u == nil {
		return nil
	}
	var asked, retracted []string
	for _, w := range u.Words {
		if w.Docs > 0 && !s.present[w.Word] {
			asked = append(asked, w.Word)
		}
	}
	if kind == Memories && len(asked) > 0 {
		retracted = s.in.Store.Retracted()
	}
	doubtful := make([]bool, len(asked))
	if len(retracted) > 0 {
		doubtful = in.Search.Held(asked, retracted, s.v.Hides())
	}
	valid := func(d text.Doc) bool { return kind != Memories || document.Memory(d).Status != record.MemoryRetracted }
	for i, word := range asked {
		s.present[word] = true
		if !doubtful[i] {
			continue
		}
		res, err := in.Search.Search(s.ctx, search.Request{
			Query: word, Mode: search.Lexical, Plain: true, Limit: 1, Keep: valid, Public: s.v.Hides(),
		})
		if err != nil {
			return err
		}
		s.present[word] = len(res.Hits) > 0
	}
	return nil
}

// nonsense is no word of any language: nothing has it, nor a word that differs from it by one letter.
const nonsense = "zqxvjkwq"

// withNonsense adds to the unknown words those that only what was retracted has, and searches once more with nonsense in their
// places: an answer is as sure as that at most. It returns nil where there are none.
func (s *run) withNonsense() (*run, error) {
	var hidden []string
	for word, present := range s.present {
		if !present {
			hidden = append(hidden, word)
		}
	}
	if len(hidden) == 0 {
		return nil, nil
	}
	slices.Sort(hidden)
	other := &run{
		Ranker: s.Ranker, ctx: s.ctx, v: s.v, req: s.req, now: s.now, bounded: s.bounded,
		searched: make(map[string]bool), toldApart: make(map[string]bool), present: make(map[string]bool),
	}
	other.read = Understood{Span: s.read.Span}
	var words []string
	for word := range strings.FieldsSeq(s.query) {
		var split text.Splitter
		is := false
		split.Split(word, func(t text.Token) { is = is || slices.Contains(hidden, string(t.Text)) })
		if is {
			word = nonsense
		}
		words = append(words, word)
	}
	other.query = strings.Join(words, " ")
	if err := other.gather(); err != nil {
		return nil, err
	}
	for _, c := range other.list {
		c.settle()
	}
	other.sort()
	s.unknown = append(slices.Clone(s.unknown), hidden...)
	return other, nil
}

// sureWithout is confidence, as sure as the search with nonsense at most, and not high.
func (s *run) sureWithout(asNonsense *run) (value, reason string) {
	value, reason = s.confidence()
	if asNonsense == nil {
		return value, reason
	}
	levels := []string{search.Low, search.Medium, search.High}
	most, _ := asNonsense.confidence()
	most = levels[min(slices.Index(levels, most), 1)]
	if slices.Index(levels, value) <= slices.Index(levels, most) {
		return value, reason
	}
	return most, "nothing has the words " + strings.Join(s.unknown, ", ")
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
