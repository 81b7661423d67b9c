package recall

import (
	"slices"
	"strings"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/record"
)

// What is learned from use counts by these.
const (
	leastOutcome, ofOutcome = 0.85, 0.3
	fewestOutcomes          = 2
	knownFactor             = 1.25
)

// outcome favours what worked. Two successes and two failures are added to those that there were, so that a memory of
// which little is known stays near the untried, and one that worked at once never falls below them.
func (s *run) outcome() error {
	s.each(Outcome, func(c *candidate) float64 {
		if c.m == nil || c.m.Tier == record.TierBank {
			return 1
		}
		u := s.in.Store.Counters(c.m.ID)
		if u.Worked+u.Failed < fewestOutcomes {
			return 1
		}
		return leastOutcome + ofOutcome*float64(u.Worked+2)/float64(u.Worked+u.Failed+4)
	})
	return nil
}

// known favours the solutions of the question itself: those one of whose questions has the same words that tell
// something, in any order.
func (s *run) known() error {
	asked := signature(s.req.Query)
	if asked == "" {
		return skip("the question has no words that tell something")
	}
	s.each(Known, func(c *candidate) float64 {
		if c.m == nil || c.m.Kind != record.MemorySolution {
			return 1
		}
		for _, q := range c.m.Questions {
			if signature(q) == asked {
				return knownFactor
			}
		}
		return 1
	})
	return nil
}

// signature are the stems of the words of a question that tell something, sorted, each once.
func signature(question string) string {
	var split text.Splitter
	var stems []string
	split.Split(question, func(t text.Token) {
		if word := string(t.Text); !t.Symbol && search.IsInformative(word) {
			stems = append(stems, text.StemEnglish(word))
		}
	})
	slices.Sort(stems)
	return strings.Join(slices.Compact(stems), " ")
}

// weights mixes how well a memory answers with how well it did, by how much is known of that.
func (s *run) weights() error {
	s.each(Weights, func(c *candidate) float64 {
		if c.m == nil || c.relevance <= 0 {
			return 1
		}
		u := s.in.Store.Counters(c.m.ID)
		relevance, did := mixOf(c.m.Tier, c.m.Importance*s.sure(c), &u)
		worth := memory.FromHundredths(memory.WilsonBound(u.Worked, u.Failed))
		if c.m.Tier == record.TierBank {
			worth = c.m.Importance * s.sure(c)
		}
		return (relevance*c.relevance + did*worth) / c.relevance
	})
	return nil
}

// mixOf returns the weights of relevance and of what is known of a memory.
func mixOf(tier string, quality float64, u *record.MemoryUse) (relevance, did float64) {
	points := memory.Score(u)
	switch {
	case tier == record.TierBank && quality >= 0.8:
		return 0.45, 0.55
	case tier == record.TierBank:
		return 0.6, 0.4
	case u.Uses >= 5 && points >= 80:
		return 0.2, 0.8
	case u.Uses >= 3 && points >= 70:
		return 0.25, 0.75
	case u.Uses >= 2 && points >= 50:
		return 0.35, 0.65
	}
	return 0.7, 0.3
}
