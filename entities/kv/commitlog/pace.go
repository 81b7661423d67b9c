package commitlog

import (
	"math/rand/v2"
	"time"
)

// Pace says how long a machine waits before it runs its transactions and appends them, so
// that machines that all have something to write take turns. Who wins waits, by chance, for
// up to three times as long as an append takes; who loses waits less each time, and not at
// all after three times. Nobody waits while nobody else writes. It is for one goroutine; the
// zero value is ready.
type Pace struct {
	round  time.Duration // of an append, averaged
	losses int           // since the last win
	others int           // how many more wins are made with others in mind
}

// contended is after how many wins without anything of others in between the others count
// as gone.
const contended = 8

// patience is how many rounds a winner waits at most, and after how many losses nobody waits.
const patience = 3

// Won notes an append that succeeded, and how long that took.
func (p *Pace) Won(took time.Duration) {
	if p.round == 0 {
		p.round = took
	}
	p.round += (took - p.round) / 8
	p.losses = 0
	p.others = max(0, p.others-1)
}

// Lost notes an append that came second.
func (p *Pace) Lost() {
	p.losses++
	p.others = contended
}

// Others notes that an entry of somebody else was read.
func (p *Pace) Others() { p.others = contended }

// Losses returns how many appends in a row came second.
func (p *Pace) Losses() int { return p.losses }

// Round returns how long an append takes.
func (p *Pace) Round() time.Duration { return p.round }

// Delay returns how long to wait now.
func (p *Pace) Delay() time.Duration {
	rounds := patience - p.losses
	if p.others == 0 || rounds <= 0 {
		return 0
	}
	return time.Duration(rand.Float64() * float64(rounds) * float64(p.round)) //nolint:gosec // no secret
}
