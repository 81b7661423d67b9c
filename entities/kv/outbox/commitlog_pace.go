package outbox

import "time"

// Pace says how long a machine waits before it runs its transactions and appends them, so
// that machines that all have something to write take turns. Of those that have written
// lately, the one whose last entry is the oldest goes at once, the next one after a turn, the
// one after it after two. Who comes second goes a turn earlier each time. Nobody waits while
// nobody else writes. It is for one goroutine; the zero value is ready.
type Pace struct {
	appendTime time.Duration // averaged
	losses     int           // since the last win
	recent     []WriterID    // of the newest entries, the newest last
}

// WriterID is who has written an entry: the first bytes of its id, which a machine chooses anew
// at each start.
type WriterID [8]byte

// remembered is how many entries back somebody counts as one who writes.
const remembered = 16

// averagedOver is about how many appends count for how long one takes.
const averagedOver = 8

// Wrote notes an entry that was appended or read, in their order.
func (p *Pace) Wrote(w WriterID) {
	if len(p.recent) == remembered {
		p.recent = append(p.recent[:0], p.recent[1:]...)
	}
	p.recent = append(p.recent, w)
}

// Won notes an append that succeeded, and how long that took.
func (p *Pace) Won(took time.Duration) {
	if p.appendTime == 0 {
		p.appendTime = took
	}
	p.appendTime += (took - p.appendTime) / averagedOver
	p.losses = 0
}

// Lost notes an append that came second.
func (p *Pace) Lost() { p.losses++ }

// AppendTime returns how long an append takes, averaged; 0 before the first.
func (p *Pace) AppendTime() time.Duration { return p.appendTime }

// Delay returns how long a writer has to wait now, before it runs its transactions.
func (p *Pace) Delay(me WriterID) time.Duration {
	seen := make(map[WriterID]bool, remembered)
	before := 0 // writers whose last entry is older than mine
	for i := len(p.recent) - 1; i >= 0; i-- {
		w := p.recent[i]
		if !seen[w] && seen[me] {
			before++
		}
		seen[w] = true
	}
	return time.Duration(max(0, before-p.losses)) * appendsPerTurn * p.appendTime
}

// appendsPerTurn is how long a turn is, in times of an append: who has it hears of the entry
// before, applies it, runs its transactions, and appends them.
const appendsPerTurn = 2
