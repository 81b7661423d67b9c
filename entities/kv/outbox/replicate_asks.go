package outbox

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
)

// MaxTransactionTries is how often a transaction runs before its caller has to decide.
const MaxTransactionTries = 64

// A transaction that was overtaken so often has the next turn reserved, for twice the time that
// it took to run and reserveMore. One that takes longer to run than an entry to be appended would
// lose again, so it asks early. Another one gets its turn by itself, unless its machine is far
// from the servers.
const (
	reserveSlow = 4  // tries
	reserveAny  = 12 // tries
	reserveMore = 20 * time.Millisecond
)

// ReserveAfter is Reserve for a transaction that was overtaken so many times and took so long to
// run, if that is due. It reports whether Release is to be called.
func (r *Runner) ReserveAfter(ctx context.Context, overtaken int, took time.Duration) bool {
	due := overtaken >= reserveSlow && took > r.AppendTime() || overtaken >= reserveAny
	return due && r.Reserve(ctx, 2*took+reserveMore) == nil
}

// What somebody asks of a Runner: the next turn to append, or that the end of the log was read.

// serveAsks does what can be done now for those who ask, and opens the gate when that is due. A
// turn that is granted, or the end of one, may be what others wait for: so it goes on until
// nothing can be done.
func (r *Runner) serveAsks() {
	for again := true; again; again = r.mayReserve() || r.mayProve() {
		r.reserve()
		if r.mayProve() {
			r.prove()
		}
		r.reopenGate()
	}
}

// mayReserve reports whether somebody wants the next turn, and no other machine has it.
func (r *Runner) mayReserve() bool { return len(r.waiting) > 0 && !r.holding && r.hold == 0 }

// mayProve reports whether somebody catches up, and it is this machine's turn.
func (r *Runner) mayProve() bool {
	return len(r.proving) > 0 && r.turnEnds == nil && r.gateTimer == nil
}

// enqueue keeps what somebody wants until it is its turn.
func (r *Runner) enqueue(a ask) {
	if a.reserve > 0 {
		r.waiting = append(r.waiting, a)
	} else {
		r.proving = append(r.proving, a)
	}
}

// enqueueAll takes in all who ask now.
func (r *Runner) enqueueAll() {
	for {
		select {
		case a := <-r.asks:
			r.enqueue(a)
		default:
			return
		}
	}
}

// reserve gets the next turn for all who want it. While another machine has it, they wait: the
// entry that asks would itself take that machine's turn.
func (r *Runner) reserve() {
	r.waiting = slices.DeleteFunc(r.waiting, func(a ask) bool { return a.ctx.Err() != nil })
	for r.mayReserve() {
		if r.turnEnds != nil || r.store.At() == r.askedAt && time.Now().Before(r.askedUntil) { // it is ours
			r.grant(nil)
			return
		}
		err := r.askForTurn()
		if err == nil {
			continue
		}
		if !errors.Is(err, ErrBehind) || r.waiting[0].tries == reserveTries {
			r.grant(err)
			return
		}
		r.waiting[0].tries++
		if err := r.readToEnd(); err != nil {
			r.grant(err)
		}
	}
}

// askForTurn appends the entry that asks the others.
func (r *Runner) askForTurn() error {
	if r.mustRead() {
		if err := r.readToEnd(); err != nil || r.hold > 0 {
			return cmp.Or(err, ErrBehind)
		}
	}
	d := time.Duration(0)
	for _, a := range r.waiting {
		d = max(d, a.reserve)
	}
	at, err := r.appendOnce(&Entry{ID: r.me.NewID(), Format: r.format, Hold: d})
	if err != nil {
		r.behind = true
		return err
	}
	r.store.Skip(at)
	r.pace.Wrote(r.me)
	r.askedAt, r.askedUntil = at, time.Now().Add(d)
	return nil
}

// grant answers all who want the next turn.
func (r *Runner) grant(err error) {
	for _, a := range r.waiting {
		a.done <- err
	}
	if err == nil {
		if r.turnEnds == nil {
			r.turnEnds = time.After(time.Until(r.askedUntil))
		}
		r.granted += len(r.waiting)
	}
	r.waiting = nil
}

// prove does CatchUp for all who have asked.
func (r *Runner) prove() {
	r.enqueueAll() // one entry serves them, too
	err := r.appendEmpty(&Entry{ID: r.me.NewID(), Format: r.format})
	switch {
	case errors.Is(err, ErrUnknown) || errors.Is(err, context.DeadlineExceeded):
		e := fault.Wrap(fault.Unavailable, err, "the servers of the shared store do not say whether there is something new")
		e.Retryable = true
		err = e.WithHint("what is here can be read; try again")
	case errors.Is(err, ErrBehind):
		r.proved(OvertakenError())
		return
	}
	r.proved(r.report(err))
}

// proved answers all who wait for prove.
func (r *Runner) proved(err error) {
	for _, a := range r.proving {
		a.done <- err
	}
	r.proving = nil
}

// appendEmpty appends an entry that changes nothing behind everything else. Where it is not
// known whether it was, and it can't be read, it is appended once more.
func (r *Runner) appendEmpty(e *Entry) error {
	if r.silent {
		if err := r.probe(); err != nil {
			return err
		}
	}
	begun := time.Now()
	r.proof, r.proofRead = e.ID, false
	for range emptyTries {
		if r.mustRead() {
			if err := r.readToEnd(); err != nil || r.proofRead {
				return err
			}
		}
		start := time.Now()
		if r.store.At().Seq >= r.lastKept+keepEvery {
			e.Transactions = []Transaction{{Time: start.UnixNano()}}
		}
		at, err := r.appendOnce(e)
		if err == nil { // as one of a group: the others have their turn
			r.pace.Won(time.Since(start))
			r.pace.Wrote(r.me)
			r.reopen = true
		}
		if err == nil && len(e.Transactions) > 0 {
			r.abort(nil)
			return r.apply([]ForeignEntry{{at, e}})
		}
		if err == nil {
			r.store.Skip(at)
			return nil
		}
		r.behind = true
		again := errors.Is(err, ErrUnknown) && time.Since(begun) < outcomeWait
		if !again && !errors.Is(err, ErrBehind) {
			return err
		}
		r.pace.Lost()
	}
	return ErrBehind
}
