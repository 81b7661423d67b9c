package recall

import (
	"cmp"
	"slices"
	"time"

	"github.com/ctxd/ctxd/context/memory"
)

// The factors, and what decides them.
const (
	spanFactor    = 1.6
	speakerFactor = 1.5
	// askedShare is the share of the best relevance from which on what is from the day asked for stands first.
	askedShare = 0.5

	perEntity, mostEntities = 0.2, 0.25

	supportNext, supportSecond, supportStretch = 0.1, 0.05, 0.2
	// stretchGap is the silence behind which another stretch of a conversation begins.
	stretchGap = time.Hour
)

// each applies a factor to the candidates, and orders them anew.
func (s *run) each(stage string, factor func(*candidate) float64) {
	for _, c := range s.list {
		if c.multiply(stage, factor(c)) {
			s.changed++
			c.settle()
		}
	}
	s.sort()
}

// sure is the confidence of a memory as it is now: what a model took out of a conversation fades.
func (s *run) sure(c *candidate) float64 { return memory.ConfidenceAt(&c.m.MemoryRecord, s.now) }

// entity favours the memories about what the question names, the more, the better what is known of it is
// on average.
func (s *run) entity() error {
	if len(s.read.Entities) == 0 {
		return skip("the question names nothing that is known")
	}
	sum, count := make(map[string]float64), make(map[string]float64)
	for _, c := range s.list {
		if c.m == nil {
			continue
		}
		for _, id := range c.m.EntityIDs {
			sum[id] += c.m.Importance * s.sure(c)
			count[id]++
		}
	}
	s.each(Entity, func(c *candidate) float64 {
		bonus := 0.0
		for _, id := range s.read.Entities {
			if c.m != nil && slices.Contains(c.m.EntityIDs, id) {
				bonus += perEntity * sum[id] / count[id]
			}
		}
		return 1 + min(bonus, mostEntities)
	})
	return nil
}

func (s *run) span() error {
	if s.read.Span == nil {
		return skip("the question names no time")
	}
	best := 0.0
	for _, c := range s.list {
		best = max(best, c.relevance)
	}
	s.each(Span, func(c *candidate) float64 {
		from := c.m != nil && c.m.ValidFrom != nil && s.read.Span.Holds(*c.m.ValidFrom)
		if from || s.read.Span.Holds(c.at()) {
			c.asked = (s.read.Span.OneDay() || s.bounded) && c.relevance >= askedShare*best
			return spanFactor
		}
		return 1
	})
	return nil
}

// speaker favours what the person said, unless the question asks what the assistant said.
func (s *run) speaker() error {
	if !slices.ContainsFunc(s.list, func(c *candidate) bool { return c.msg != nil }) {
		return skip("no messages were found")
	}
	asked := asksOf(s.req.Query)
	s.each(Speaker, func(c *candidate) float64 {
		if c.msg == nil || c.msg.Role != asked {
			return 1
		}
		return speakerFactor
	})
	return nil
}

// support adds a part of the scores of the messages around a message: of those one and two away, and of
// the best one of the same stretch. What is around is looked for among the candidates.
func (s *run) support() error {
	of := make(map[string][]*candidate)
	for _, c := range s.list {
		if c.msg != nil {
			of[c.msg.Conversation] = append(of[c.msg.Conversation], c)
		}
	}
	if len(of) == 0 {
		return skip("no messages were found")
	}
	for _, list := range of {
		slices.SortFunc(list, func(a, b *candidate) int { return cmp.Compare(a.msg.Index, b.msg.Index) })
		s.supportWithin(list)
	}
	s.sort()
	return nil
}

// supportWithin is support for the candidates of one conversation, in their order.
func (s *run) supportWithin(list []*candidate) {
	begin := 0
	for i, c := range list {
		if i > begin && c.at().Sub(list[i-1].at()) > stretchGap {
			begin = i
		}
		end := i + 1
		for end < len(list) && list[end].at().Sub(list[end-1].at()) <= stretchGap {
			end++
		}
		best := 0.0
		for k := begin; k < end; k++ {
			if k == i {
				continue
			}
			best = max(best, list[k].relevance)
			switch list[k].msg.Index - c.msg.Index {
			case 1, -1:
				c.support += supportNext * list[k].relevance
			case 2, -2:
				c.support += supportSecond * list[k].relevance
			}
		}
		c.support += supportStretch * best
		if c.support > 0 {
			s.changed++
			c.signals = append(c.signals, Signal{Support, c.support})
		}
	}
	for _, c := range list {
		c.settle()
	}
}
