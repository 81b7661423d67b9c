package memory

// This file has the arithmetic of outcomes: how the score of a memory moves when its use worked or failed, and how sure
// its successes are.
//
// Scores are integer hundredths from 0 to 100, since 0.7 + 0.2 is not 0.9 in binary. [Score] reads them from the
// counters of a memory and [ApplyOutcome] writes them there. [WilsonBound] is the lower bound of the share of successes
// at 95 % (Wilson 1927, z = 1.96), in hundredths; it is found by comparing integers, so it is the same on every
// machine.
//
// Nothing is kept, all of it is safe for concurrent use, and every function is O(1).

import (
	"math"
	"math/big"

	"github.com/ctxd/ctxd/entities/record"
)

// startScore is the score of what was never scored.
const startScore = 50

const most = 100

// steps say by how much an outcome moves a score.
var steps = map[string]int{
	record.OutcomeWorked: 20, record.OutcomeFailed: -30, record.OutcomePartial: 5, record.OutcomeUnknown: 0,
}

// KnownOutcome reports whether an outcome is one of its values.
func KnownOutcome(outcome string) bool {
	_, ok := steps[outcome]
	return ok
}

// Score returns the score of a memory from its counters. Without a failure no score falls to 0, so that one stands for
// counters that were never scored.
func Score(u *record.MemoryUse) int {
	if u == nil || u.Score == 0 && u.Failed == 0 {
		return startScore
	}
	return ToHundredths(u.Score)
}

// movedScore returns what becomes of a score by an outcome.
func movedScore(score int, outcome string) int { return min(max(score+steps[outcome], 0), most) }

// ApplyOutcome counts an outcome and moves the score.
func ApplyOutcome(u *record.MemoryUse, outcome string) {
	now := Score(u)
	switch outcome {
	case record.OutcomeWorked:
		u.Worked++
	case record.OutcomeFailed:
		u.Failed++
	case record.OutcomePartial:
		u.Partial++
	default:
		u.Unknown++
	}
	u.LastOutcome = outcome
	u.Score = FromHundredths(movedScore(now, outcome))
}

// What a memory must have done to last: a score in hundredths, and uses.
const (
	ProvenScore = 70
	ProvenUses  = 2
)

// lastsBeyondHistory reports whether a memory of the tier history proved itself, so that it does not end with its time.
func lastsBeyondHistory(m *record.MemoryRecord, u *record.MemoryUse) bool {
	return m.Tier == record.TierHistory && u != nil && u.Uses >= ProvenUses && Score(u) >= ProvenScore
}

// ToHundredths rounds a number to hundredths; Float is the number of hundredths.
func ToHundredths(x float64) int { return int(math.Round(x * most)) }

// FromHundredths is the number of hundredths that is nearest to them in binary.
func FromHundredths(hundredths int) float64 { return float64(hundredths) / most }

// WilsonBound returns the lower bound of the share of worked among worked and failed at 95 %, in hundredths, and Start when
// there are none.
//
// The bound is at least t where worked/n - t >= z sqrt(t(1-t)/n). With t = k/200 and z² = 2401/625 both sides are
// integers: 625 (200 worked - n k)² >= 2401 n k (200 - k).
func WilsonBound(worked, failed int) int {
	worked, failed = max(worked, 0), max(failed, 0)
	n := worked + failed
	if n == 0 {
		return startScore
	}
	low, high := 0, most // the bound rounds to at least low, and to at most high
	for low < high {
		h := (low + high + 1) / 2
		if atLeast(worked, n, 2*h-1) {
			low = h
		} else {
			high = h - 1
		}
	}
	return low
}

// fitting is how large n may be for the comparison to fit 64 bits.
const fitting = 500_000

func atLeast(worked, n, k int) bool {
	if n <= fitting {
		w, n, k := int64(worked), int64(n), int64(k)
		d := 200*w - n*k
		return d >= 0 && d*d >= (2401*n*k*(200-k)+624)/625
	}
	d := new(big.Int).Sub(product(200, worked), product(n, k))
	left := new(big.Int).Mul(big.NewInt(625), new(big.Int).Mul(d, d))
	return d.Sign() >= 0 && left.Cmp(product(2401, n, k, 200-k)) >= 0
}

func product(list ...int) *big.Int {
	p := big.NewInt(1)
	for _, x := range list {
		p.Mul(p, big.NewInt(int64(x)))
	}
	return p
}
