package kv

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tidwall/buntdb"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/disk"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// Log is the one order of commits of a store on several machines, see outbox.Log.
type Log = outbox.Log

// Position is a place in a Log, see outbox.Position.
type Position = outbox.Position

// logKey holds how far a replica has applied its log. It is written in the same record of the
// journal as every transaction that came from there, so that neither is there without the other.
const logKey = "!log"

// errRerun is why a transaction has to run once more: others have changed what it ran on.
var errRerun = errors.New("the transaction has to run again")

// ErrUnconfirmed is beside a refusal that others may have made wrong and could not be asked of.
var ErrUnconfirmed = errors.New("the other machines could not be asked")

// replica is what a store with a log has in addition.
type replica struct {
	*outbox.Runner
	s          *Store
	replayGate outbox.Gate   // held while transactions have to wait for replays
	foreign    atomic.Uint64 // transactions of others that were applied

	at    outbox.Applied // of Run
	group []*pending     // being appended; of Run

	// Guarded by queue.mu.
	generation  uint64        // grows at each Abort: what transactions under way have read is old then
	gate        chan struct{} // closed while transactions may begin
	provisional bool          // transactions of the outbox are applied here, or are going to be
	head        outbox.Head   // of the outbox, as it is applied
	applied     Position
	trouble     *fault.Error // why the log could not be used last; nil: it could
}

// openReplica finds out whether the store is a replica, and how far its log is applied.
func (s *Store) openReplica() error {
	raw, known := s.latest(logKey)
	o := &s.opts
	at, role, err := outbox.FindRole(raw, known, outbox.StartOptions{
		Log: o.Log != nil, LogStart: o.LogStart, Leave: o.Leave, Replace: o.Replace, Empty: s.count() == 0,
	})
	switch {
	case err != nil || role == outbox.RoleAlone:
		return err
	case role == outbox.RoleLeaves:
		return s.Update(context.Background(), func(tx *Tx) error {
			return errors.Join(outbox.Leave(rawTx{tx}), tx.delete(logKey, nil))
		})
	case role == outbox.RoleBegins:
		err := s.Update(context.Background(), func(tx *Tx) error { return tx.put(logKey, at.String(), nil) })
		if err != nil {
			return err
		}
	}
	r := &replica{s: s, at: at, gate: make(chan struct{}), applied: at.Position}
	r.Runner = outbox.NewRunner(r, s.opts.Log, s.opts.Format, at.Unmarked)
	close(r.gate)
	r.readHead()
	r.provisional = r.head.Applied > 0
	s.replica = r
	go r.Run()
	return nil
}

// Follow has the store apply what other machines commit, from now on. Call it once when all
// views are registered; before, only an Update that finds others ahead applies what they
// wrote. It does nothing without a log.
func (s *Store) Follow() {
	s.startReplays()
	if s.replica != nil {
		s.replica.Follow()
	}
}

// CatchUp applies everything that was in the log when it was called: a View after it sees all
// that any machine had acknowledged before. Without a log it does nothing.
func (s *Store) CatchUp(ctx context.Context) error {
	if s.replica == nil {
		return nil
	}
	return s.replica.CatchUp(ctx)
}

// ReplicaStatus says how a store stands with its log.
type ReplicaStatus struct {
	Position  Position     // up to which the log is applied
	Trouble   *fault.Error // why the log could not be read or written the last time; nil: it could
	Conflicts uint64       // how often somebody else was first
	Foreign   uint64       // transactions of other machines that were applied since the start
	Waiting   int          // items of the outbox that are going to be replayed
	Refused   int          // and those whose replay was refused
}

// Replica says how the store stands with its log, ok is false for one without. O(1).
func (s *Store) Replica() (st ReplicaStatus, ok bool) {
	r := s.replica
	if r == nil {
		return st, false
	}
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	return ReplicaStatus{
		Position: r.applied, Trouble: r.trouble, Conflicts: r.Conflicts(), Foreign: r.foreign.Load(),
		Waiting: r.head.Waiting, Refused: r.head.Refused,
	}, true
}

// DurablePosition returns the position from which a start would go on now: that of the newest
// entry with transactions. ReplicaStatus.Position counts those without, too. It is zero without a log.
func (s *Store) DurablePosition() (at Position) {
	_ = s.db.View(func(b *buntdb.Tx) (err error) { // a closed store has none
		at, err = durablePosition(b)
		return err
	})
	return at
}

func durablePosition(b *buntdb.Tx) (Position, error) {
	raw, err := b.Get(logKey)
	if errors.Is(err, buntdb.ErrNotFound) {
		return Position{}, nil
	}
	applied, err := outbox.ParseApplied(raw)
	return applied.Position, err
}

// Digest returns a hash over all records that machines share, and DurablePosition: machines at one
// position have the same hash. Records of Local collections and what waits in the outbox are left
// out. O(records), and commits wait for it: it is for checks.
func (s *Store) Digest() (at Position, sum [sha256.Size]byte, err error) {
	s.view.RLock()
	defer s.view.RUnlock()
	h, state := sha256.New(), outbox.LogState{}
	add := func(list []disk.Pair) {
		for _, p := range list {
			if p.Key[0] != '!' && !isLocal(p) {
				fmt.Fprintf(h, "%d %s %d %s", len(p.Key), p.Key, len(p.Value), p.Value)
			}
		}
	}
	err = s.db.View(func(b *buntdb.Tx) error {
		at, err = durablePosition(b)
		if err != nil {
			return err
		}
		return b.Ascend("", func(key, raw string) bool {
			add(state.Chunk([]disk.Pair{{Key: key, Value: raw}}, true))
			return true
		})
	})
	add(state.Chunk(nil, false))
	h.Sum(sum[:0])
	return at, sum, err
}

// update is Update for a store with a log. The function runs again when others were first.
func (r *replica) update(ctx context.Context, fn func(*Tx) error) (err error) {
	asked := false
	call := r.s.callOf(ctx)
	var lost error          // why the log did not take it at the try before
	var took time.Duration  // what fn took then
	var unknown error       // that of the try sent, after which nobody knows whether the log has it
	sent, local := 0, false // which wrote for this machine alone, too: that is gone
	defer func() {
		if err != nil && unknown != nil {
			err = unknown
		}
	}()
	for tries := range outbox.MaxTransactionTries {
		seen := r.foreign.Load()
		tx := Tx{s: r.s, writable: true, provisional: call.Provisional(cmp.Or(unknown, lost, r.lastTrouble()))}
		reserved := !tx.provisional && r.ReserveAfter(ctx, tries, took)
		p, err := r.try(ctx, call, &tx, fn, &took)
		if reserved {
			r.Release()
		}
		if err != nil && tx.s == nil {
			return err // it did not begin
		}
		// If fn has run since, what the caller has of it is of another run.
		if errors.Is(err, outbox.ErrFoundInLog) && tries == sent+1 && !local {
			call.Accepted(false, 0)
			return nil
		}
		var werr error
		if p != nil {
			werr = r.s.wait(p)
		}
		_, generation := r.gateNow()
		switch {
		case tx.accepted && werr == nil:
			if tx.shared {
				call.Accepted(tx.provisional, tx.item)
			}
			r.s.tellWritten(p)
			if tx.provisional && !call.Replays() && r.lastTrouble() == nil {
				r.s.replayAll() // nothing else has that done
			}
			return nil
		case call.Follows():
			if generation != tx.generation {
				werr = outbox.ErrOutOfTurn
			}
			return cmp.Or(werr, err)
		case tx.accepted && !errors.Is(werr, errRerun): // it is in neither log nor journal, or nobody knows
			lost = werr
			if !tx.provisional && call.Provisional(lost) {
				if _, ok := call.Sent(); ok {
					unknown, sent, local = lost, tries, p.hasLocal()
				}
				continue // the next try takes it here
			}
			call.Lost()
			return lost
		}
		lost = nil
		switch {
		case tx.accepted || errors.Is(err, errRerun) || werr != nil || generation != tx.generation:
			continue // others have changed what it read
		case tx.provisional && call.Replays(): // only the log decides, later; asking it takes back what waits
			return err
		case err != nil && !asked && outbox.MayBeStale(err):
			// It may be wrong by now: a record that is not here yet, a version that has changed.
			asked = true
			if r.s.CatchUp(ctx) != nil {
				return errors.Join(err, ErrUnconfirmed)
			}
			if r.foreign.Load() != seen {
				continue
			}
		}
		return err
	}
	return cmp.Or(r.lastTrouble(), outbox.OvertakenError()) // that others can't be read is no doing of theirs
}

// try runs a transaction once, when the gate is open. tx.s is nil when it did not begin. One that touches a record of what is
// about to be replayed begins anew behind that.
func (r *replica) try(ctx context.Context, call *outbox.Call, tx *Tx, fn func(*Tx) error, took *time.Duration) (p *pending, err error) {
	begun := *tx
	for {
		*tx = begun
		p, err = r.tryOnce(ctx, call, tx, fn, took)
		if tx.kept == nil {
			return p, err
		}
		select {
		case <-tx.kept:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-r.Context().Done():
			return nil, errClosed()
		}
	}
}

func (r *replica) tryOnce(ctx context.Context, call *outbox.Call, tx *Tx, fn func(*Tx) error, took *time.Duration) (p *pending, err error) {
	s := tx.s
	tx.s = nil
	if err := r.enter(ctx, call, tx, s); err != nil {
		return nil, err
	}
	defer s.unlockWriter()
	if err := s.writable(); err != nil {
		return nil, err
	}
	if err := call.CheckTurn(tx.generation); err != nil {
		return nil, err
	}
	if !tx.provisional && call.MayWait() {
		if tx.provisional, err = r.behind(); err != nil {
			return nil, err
		}
	}
	tx.s = s
	if !call.Replays() && !r.replayGate.Open() {
		tx.gate = &r.replayGate
	}
	defer func(begun time.Time) { *took = time.Since(begun) }(time.Now())
	if call != nil {
		fn = r.queueing(call, fn)
	}
	p, err = s.run(tx, fn)
	if tx.accepted && tx.shared {
		call.Enqueued(tx.generation)
	}
	return p, err
}

// enter takes the writer lock when a transaction may begin.
func (r *replica) enter(ctx context.Context, call *outbox.Call, tx *Tx, s *Store) error {
	for {
		gate, _ := r.gateNow()
		for _, passed := range [...]<-chan struct{}{r.replayGate.Passed(call), gate} {
			select {
			case <-passed:
			case <-ctx.Done():
				return ctx.Err()
			case <-r.Context().Done():
				return errClosed()
			}
		}
		if err := s.lockWriter(ctx); err != nil {
			return err
		}
		gate, tx.generation = r.gateNow()
		if outbox.IsClosed(gate) && outbox.IsClosed(r.replayGate.Passed(call)) {
			return nil
		}
		s.unlockWriter()
	}
}

// gateNow returns the gate, and the generation that a transaction has which begins now.
func (r *replica) gateNow() (gate chan struct{}, generation uint64) {
	r.s.queue.mu.Lock()
	defer r.s.queue.mu.Unlock()
	return r.gate, r.generation
}

// isShared reports whether a write goes to other machines: those to collections that are
// Local, and to keys of the store itself, stay.
func (w *write) isShared() bool { return w.of != nil && !w.of.IsLocal() }

// isOurs reports whether a pair is this machine's alone.
func isOurs(p disk.Pair) bool { return isLocal(p) || outbox.IsKey(p.Key) }

// isLocal reports whether a record belongs to a Local collection.
func isLocal(p disk.Pair) bool {
	of := disk.FindCollection(p.Key)
	return of != nil && of.IsLocal()
}

// hasLocal reports whether some of it stays on this machine.
func (p *pending) hasLocal() bool {
	return slices.ContainsFunc(p.writes, func(w write) bool { return w.of != nil && w.of.IsLocal() })
}

func (p *pending) isShared() bool {
	if p.provisional {
		return false
	}
	for i := range p.writes {
		if p.writes[i].isShared() {
			return true
		}
	}
	return false
}
