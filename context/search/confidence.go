package search

import (
	"context"
	"fmt"
	"strings"
)

// How sure it is that the hits of a search answer the question.
const (
	High   = "high"
	Medium = "medium"
	Low    = "low"
)

// What the confidence is told by where no words were compared one by one. On the part tune of the labelled facts the
// confidence is low for one in ten of the questions that have an answer, and of those with a high one 99 % have it among the
// first five.
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

// What the confidence is told by otherwise, see Reach.Answered. On the stores of testdata/floor.golden 1 % of the questions without
// an answer have a high one and 3 % a medium one, and of the questions with an answer 82 % and 9 %; of those with a high one 88 % have
// the answer among the first five.
const (
	lowAnswered  = 1
	highAnswered = 3
)

// Certainty is what tells how sure it is that hits answer a question.
type Certainty struct {
	Reach
	Hits    int
	Nothing string   // why there are none, if that is known
	Unknown []string // the words of the question that no document has
	Vectors bool     // whether meaning had a part
	Gap     float64  // between the scores of the first two hits, up to 1
	// NearUnknown returns how near a hit is to the unknown words: what is said in other words is near to them, and what was
	// never talked about is not. asked is false where no vectors can be asked.
	NearUnknown func() (cosine float64, asked bool)
}

// Told says how sure it is, and why.
func (c *Certainty) Told() (value, reason string) {
	switch {
	case c.Hits == 0 && c.Nothing != "":
		return Low, c.Nothing
	case c.Hits == 0:
		return Low, "nothing was found"
	case c.Read:
		return c.readWords()
	case lowKnown*c.Known < lowLevel && len(c.Unknown) > 0:
		near, asked := c.NearUnknown()
		if !asked {
			near = assumedCosine
		}
		if lowKnown*c.Known+near >= lowLevel {
			break
		}
		if asked {
			return Low, c.unknownWords() + ", and nothing is near to them"
		}
		return Low, c.unknownWords()
	}
	switch {
	case !c.Vectors:
		return Medium, "only words were compared"
	case c.Known < highKnown && len(c.Unknown) > 0:
		return Medium, c.unknownWords()
	case c.Cosine < highCosine:
		return Medium, "nothing is very near to the question"
	case c.Gap < highGap:
		return Medium, "the first two hits are about as good"
	}
	return High, "all that the question says is known, and the first hit stands out"
}

// readWords is Told where the words of the hits were compared with those of the question.
func (c *Certainty) readWords() (value, reason string) {
	switch {
	case c.Answered >= highAnswered:
		return High, "a hit has nearly all of what the question says"
	case c.Answered >= lowAnswered && len(c.Unknown) > 0:
		return Medium, c.unknownWords() + "; what is near to them may mean the same"
	case c.Answered >= lowAnswered:
		return Medium, "the best hit has only a part of what the question says"
	case len(c.Unknown) > 0:
		return Low, c.unknownWords() + ", and little is near to them"
	}
	return Low, "no hit has much of what the question says"
}

func (c *Certainty) unknownWords() string {
	return fmt.Sprintf("nothing has the words %s", strings.Join(c.Unknown, ", "))
}

// UnknownWords are the words of a query that no document has, but for those that are frequent in another language.
func (u *Understanding) UnknownWords() (list []string) {
	for _, w := range u.Words {
		if w.Docs == 0 && !IsFunctionWord(w.Word) {
			list = append(list, w.Word)
		}
	}
	return list
}

// sayConfidence says how sure a search is that its hits answer, unless the query has no words.
func (x *Index) sayConfidence(ctx context.Context, req *Request, res *Result) {
	c := Certainty{Reach: res.Reach, Hits: len(res.Hits), Nothing: res.Nothing, Vectors: res.Mode == Hybrid, Gap: 1}
	switch {
	case res.Mode == Lexical && res.known == 0 && len(res.Hits) > 0: // a list, or words for which others were taken
		return
	case res.Mode == Lexical:
		c.Known = res.known
	}
	if res.Understood != nil {
		c.Unknown = res.Understood.UnknownWords()
	}
	if len(res.Hits) > 1 {
		c.Gap = res.Hits[0].Score - res.Hits[1].Score
	}
	c.NearUnknown = func() (cosine float64, asked bool) {
		near, err := x.Search(ctx, Request{
			Query: strings.Join(c.Unknown, " "), Mode: Semantic, Plain: true, Limit: 1, Public: req.Public, Keep: req.Keep,
		})
		if err != nil { // without its vector it is not known
			return 0, false
		}
		if len(near.Hits) > 0 {
			cosine = near.Hits[0].Score
		}
		return cosine, true
	}
	res.Confidence, res.Reason = c.Told()
}
