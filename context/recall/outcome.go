package recall

import "github.com/ctxd/ctxd/entities/record"

// What is learned from use counts by these.
const (
	leastOutcome, ofOutcome = 0.85, 0.3
	fewestOutcomes          = 2
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
