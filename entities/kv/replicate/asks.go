package replicate

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/commitlog"
)

// What somebody asks of a Runner: the next place in the log, or that its end was read.

// serve does for those who ask what can be done now. What one of them gets may be what another
// one waits for.
func (r *Runner) serve() {
	for again := true; again; again = r.mayReserve() || r.mayProve() {
		r.reserve()
		if r.mayProve() {
			r.prove()
		}
		r.settle()
	}
}

// mayReserve reports whether somebody wants the next place, and no other machine has it.
func (r *Runner) mayReserve() bool { return len(r.waiting) > 0 && !r.held && r.hold == 0 }

// mayProve reports whether somebody catches up, and it is this machine's turn.
func (r *Runner) mayProve() bool { return len(r.proving) > 0 && r.reserved == nil && r.timer == nil }

// note keeps what somebody wants until it is its turn.
func (r *Runner) note(a ask) {
	if a.reserve > 0 {
		r.waiting = append(r.waiting, a)
	} else {
		r.proving = append(r.proving, a)
	}
}

// reserve reserves the next place for all who want it. While another machine has it, they wait:
// to ask then would take that one's place.
func (r *Runner) reserve() {
	r.waiting = slices.DeleteFunc(r.waiting, func(a ask) bool { return a.ctx.Err() != nil })
	for r.mayReserve() {
		if r.reserved != nil || r.store.At() == r.asked && time.Now().Before(r.until) { // it is ours
			r.grant(nil)
			return
		}
		err := r.askForPlace()
		if err == nil {
			continue
		}
		if !errors.Is(err, commitlog.ErrBehind) || r.waiting[0].tries == reserveTries {
			r.grant(err)
			return
		}
		r.waiting[0].tries++
		if err := r.catchUp(); err != nil {
			r.grant(err)
		}
	}
}

// askForPlace appends the entry that asks the others.
func (r *Runner) askForPlace() error {
	if r.behind || r.store.Provisional() {
		if err := r.catchUp(); err != nil || r.hold > 0 {
			return cmp.Or(err, commitlog.ErrBehind)
		}
	}
	d := time.Duration(0)
	for _, a := range r.waiting {
		d = max(d, a.reserve)
	}
	at, err := r.appendOnce(&commitlog.Entry{ID: r.me.NewID(), Format: r.format, Hold: d})
	if err != nil {
		r.behind = true
		return err
	}
	r.store.Skip(at)
	r.pace.Wrote(r.me)
	r.asked, r.until = at, time.Now().Add(d)
	return nil
}

// grant answers all who want the next place.
func (r *Runner) grant(err error) {
	for _, a := range r.waiting {
		a.done <- err
	}
	if err == nil {
		if r.reserved == nil {
			r.reserved = time.After(time.Until(r.until))
		}
		r.granted += len(r.waiting)
	}
	r.waiting = nil
}

// prove is CatchUp, for all who have asked.
func (r *Runner) prove() {
	for more := true; more; { // who waits already asks for the same
		select {
		case a := <-r.asks:
			r.note(a)
		default:
			more = false
		}
	}
	err := r.appendEmpty(&commitlog.Entry{ID: r.me.NewID(), Format: r.format})
	switch {
	case errors.Is(err, commitlog.ErrUnknown) || errors.Is(err, context.DeadlineExceeded):
		e := fault.Wrap(fault.Unavailable, err, "the servers of the shared store do not say whether there is something new")
		e.Retryable = true
		err = e.WithHint("what is here can be read; try again")
	case errors.Is(err, commitlog.ErrBehind):
		r.proved(Overtaken())
		return
	}
	r.proved(r.told(err))
}

// proved answers who waits for prove.
func (r *Runner) proved(err error) {
	for _, a := range r.proving {
		a.done <- err
	}
	r.proving = nil
}

// appendEmpty appends an entry that changes nothing behind everything else. Where it is not
// known whether it was, and it can't be read, it is appended once more.
func (r *Runner) appendEmpty(e *commitlog.Entry) error {
	if r.silent {
		if err := r.probe(); err != nil {
			return err
		}
	}
	begun := time.Now()
	r.empty, r.landed = e.ID, false
	for range emptyTries {
		if r.behind || r.store.Provisional() {
			if err := r.catchUp(); err != nil || r.landed {
				return err
			}
		}
		start := time.Now()
		if r.store.At().Seq >= r.kept+placeEvery {
			e.Transactions = []commitlog.Transaction{{Time: start.UnixNano()}}
		}
		at, err := r.appendOnce(e)
		if err == nil { // as one of a group: the others have their turn
			r.pace.Won(time.Since(start))
			r.pace.Wrote(r.me)
			r.due = true
		}
		if err == nil && len(e.Transactions) > 0 {
			r.void(nil)
			return r.apply([]Foreign{{at, e}})
		}
		if err == nil {
			r.store.Skip(at)
			return nil
		}
		r.behind = true
		again := errors.Is(err, commitlog.ErrUnknown) && time.Since(begun) < patience
		if !again && !errors.Is(err, commitlog.ErrBehind) {
			return err
		}
		r.pace.Lost()
	}
	return commitlog.ErrBehind
}
