package concepts

import (
	"context"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/record"
)

// Plan returns how surely memories about the subjects of a question helped, by tier, of tiers with two outcomes at least
// that helped more often than not: none for a question about which nobody has said anything. late says that the index is not as new as the records yet.
func (x *Index) Plan(ctx context.Context, v *audience.View, question string) (tiers map[string]float64, late bool) {
	if !x.Soon(ctx) {
		return nil, true
	}
	l := x.look(v)
	defer l.done()
	sum := make(map[string]*record.ConceptTier)
	for _, t := range l.subjects(question) {
		for _, tier := range t.Tiers {
			of := sum[tier.Tier]
			if of == nil {
				of = new(record.ConceptTier)
				sum[tier.Tier] = of
			}
			of.Worked, of.Failed = of.Worked+tier.Worked, of.Failed+tier.Failed
		}
	}
	tiers = make(map[string]float64)
	for tier, of := range sum {
		if of.Worked+of.Failed >= leastTried && of.Worked > of.Failed {
			tiers[tier] = memory.FromHundredths(memory.WilsonBound(of.Worked, of.Failed))
		}
	}
	return tiers, false
}

// leastDone is how many answers a tier must have been in for its share of successes to count.
const leastDone = 3

// Done returns the shares of answers about the subjects of a question that helped, by the tier of the memories in them, of
// tiers that three such answers had at least. late is as in Plan.
func (x *Index) Done(ctx context.Context, v *audience.View, question string) (tiers map[string]float64, late bool) {
	if !x.Soon(ctx) {
		return nil, true
	}
	l := x.look(v)
	defer l.done()
	tiers = make(map[string]float64)
	for _, a := range l.actions(l.topics(question, mostKinds)).Actions {
		if n := a.Worked + a.Failed; a.Action == Recall && a.Uses >= leastDone && n > 0 {
			tiers[a.Tier] = float64(a.Worked) / float64(n)
		}
	}
	return tiers, false
}
