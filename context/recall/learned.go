package recall

import (
	"context"

	"github.com/ctxd/ctxd/context/audience"
)

// Learned says what became of answers and of memories about the subjects of a question. concepts.Index is one.
type Learned interface {
	// Plan returns how surely memories of each tier helped, 0 to 1, of the tiers that did more often than not.
	Plan(ctx context.Context, v *audience.View, question string) (tiers map[string]float64, late bool)
	// Done returns which share of the answers helped that had memories of each tier.
	Done(ctx context.Context, v *audience.View, question string) (tiers map[string]float64, late bool)
}

// The factors of what was learned: of answers as of memories that were tried, and of the tier that helped surest.
const leastLearned, ofLearned, surestTier = 0.85, 0.3, 1.1

// plan favours memories of the tier whose memories helped surest with what the question speaks of: of several that are
// equal, of each. The bound is low where little is known, and so the tiers are compared with each other alone.
func (s *run) plan() error {
	if s.opts.Learned == nil {
		return skip("nothing is learned here")
	}
	tiers, late := s.opts.Learned.Plan(s.ctx, s.v, s.req.Query)
	surest := 0.0
	for _, bound := range tiers {
		surest = max(surest, bound)
	}
	return s.byTier(Plan, tiers, late, "nobody has said what became of memories about it", func(bound float64) float64 {
		if bound < surest {
			return 1
		}
		return surestTier
	})
}

// action favours memories of the tiers that were in answers to such questions that helped.
func (s *run) action() error {
	if s.opts.Learned == nil {
		return skip("nothing is learned here")
	}
	tiers, late := s.opts.Learned.Done(s.ctx, s.v, s.req.Query)
	return s.byTier(Action, tiers, late, "too few answers to such questions have an outcome", func(rate float64) float64 {
		return leastLearned + ofLearned*rate
	})
}

func (s *run) byTier(stage string, tiers map[string]float64, late bool, none string, factor func(float64) float64) error {
	switch {
	case late:
		return skip("what memories speak of is being read")
	case len(tiers) == 0:
		return skip(none)
	}
	s.each(stage, func(c *candidate) float64 {
		if c.m == nil {
			return 1
		}
		rate, known := tiers[c.m.Tier]
		if !known {
			return 1
		}
		return factor(rate)
	})
	return nil
}
