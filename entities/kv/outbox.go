package kv

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tidwall/buntdb"

	"github.com/ctxd/ctxd/entities/kv/disk"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// Later is what has to be done again once the log can be reached, see outbox.Later.
type Later = outbox.Later

// Waiting is something that was accepted here and is not in the log, see outbox.Waiting.
type Waiting = outbox.Waiting

// Refusal is why something that was accepted here could not be done again, see outbox.Refusal.
type Refusal = outbox.Refusal

// Queueable returns a context in which an Update may be taken here while the log can't be
// reached, or may have it and does not say so, when Options.Queue is set: it is then journaled,
// applied and acknowledged as ever, is seen by every View and handler of change sets on this machine,
// and waits as an item of the outbox until it is found in the log or Replay does it again. Use it for
// what only adds. Without a log, and while the log can be reached, nothing is different.
//
// Everything that is done in one such context is one item: make a context for each call. When
// its first Update went to the log and a later one can't, that one is refused. In the context of
// a replay, or in one that is queueable already, Queueable returns what it was given: the same
// handler serves both.
func Queueable(ctx context.Context, l Later) context.Context { return outbox.NewContext(ctx, l) }

// Queued returns the number of the item that an Update in a queueable context was taken into;
// ok is false when all went to the log, or nothing was written. In the context of a replay it is
// the item that is replayed.
func Queued(ctx context.Context) (number uint64, ok bool) { return outbox.FromContext(ctx).Queued() }

// Replaying reports whether a context is that of a replay: what was done once for somebody who
// waited, a message to a model say, need not be done again.
func Replaying(ctx context.Context) bool { return outbox.FromContext(ctx).Replays() }

// Replay registers what does an item again. Call it before Follow; it is called when the log can be
// reached again, in goroutines of the store, for an item as soon as the Update of the one before is
// queued. It may be called for an item more than once. Before the first call, everything that was
// taken here is taken back, so fn runs on the state that all machines share. Another Update that reads
// or writes a record that waits begins when that is replayed; while the log is lost again and what is
// left is done here, all wait.
//
// The first Update in ctx that is accepted with something for other machines ends the item; it may run
// several times before. An fn that returns nil without one ends it, too: there was nothing to be
// done. Put all into one Update: what fails behind it is not tried again. fn must not wait
// for an Update outside of ctx.
//
// When fn returns an error of kind Unavailable, or one that is Retryable, the item waits on. Any
// other error refuses it: it stays in Waiting with the reason, nothing of it is seen any more,
// and the next is replayed.
//
// When the log is lost meanwhile, the rest is done here once more, in order, so that it is seen
// again. What fn refuses then waits unseen; only the log decides.
func (s *Store) Replay(fn func(ctx context.Context, w Waiting) error) { s.replay = fn }

// Waiting returns what was accepted here and is not in the log, in the order in which it is
// replayed, and what its replay has refused. O(bytes of it).
func (s *Store) Waiting(ctx context.Context) (list []Waiting, err error) {
	err = s.View(ctx, func(tx *Tx) (err error) {
		list, err = outbox.List(rawTx{tx})
		return err
	})
	return list, err
}

// Drop forgets an item whose replay was refused. The error is NotFound without such a number,
// and Conflict for one that waits: that is going to be replayed.
func (s *Store) Drop(ctx context.Context, number uint64) error {
	return s.Update(ctx, func(tx *Tx) error { return outbox.Drop(rawTx{tx}, number) })
}

// Again has an item whose replay was refused be replayed once more, behind all others: it gets
// a new number. Errors are those of Drop.
func (s *Store) Again(ctx context.Context, number uint64) error {
	err := s.Update(ctx, func(tx *Tx) error { return outbox.Again(rawTx{tx}, number) })
	if err == nil {
		s.replayAll()
	}
	return err
}

// Pending reports whether a record was written by something that waits, so that other machines
// do not have it, or have another one. It costs as much as Has.
func (c Collection[T]) Pending(tx *Tx, id string) bool {
	_, pending, _ := tx.get(outbox.BaseKey(c.c.Prefix + id))
	return pending
}

// replayed says how far the outboxes of all machines are replayed, by their ids.
var replayed = NewCollection[uint64]("outbox-done")

// rawTx is a transaction as package outbox sees it.
type rawTx struct{ *Tx }

func (t rawTx) Get(key string) (string, bool, error) { return t.get(key) }

func (t rawTx) Put(key, raw string) error { return t.put(key, raw, disk.FindCollection(key)) }

func (t rawTx) Delete(key string) error { return t.delete(key, disk.FindCollection(key)) }

func (t rawTx) Scan(prefix string, fn func(key, raw string) (bool, error)) error {
	return t.scan(prefix, fn)
}

func (t rawTx) Shared() (list []outbox.Write) {
	for i := range t.writes {
		if w := &t.writes[i]; w.isShared() && (w.had || !w.deleted) {
			list = append(list, outbox.Write{Key: w.key, Raw: w.raw, Deleted: w.deleted, Old: w.old, Had: w.had})
		}
	}
	return list
}

func (t rawTx) Done(id string) (uint64, error) {
	n, err := replayed.Get(t.Tx, id)
	if n == nil {
		return 0, err
	}
	return *n, err
}

func (t rawTx) SetDone(id string, number uint64) error { return replayed.Put(t.Tx, id, &number) }

func (t rawTx) Time() time.Time { return t.Now(t.s.now) }

// replayStore is a store as its Replayer sees it.
type replayStore struct {
	*outbox.Gate
	s *Store
}

func (r replayStore) Change(ctx context.Context, fn func(outbox.Tx) error) error {
	return r.s.Update(ctx, func(tx *Tx) error { return fn(rawTx{tx}) })
}

func (r replayStore) Look(ctx context.Context, fn func(outbox.Tx) error) error {
	return r.s.View(ctx, func(tx *Tx) error { return fn(rawTx{tx}) })
}

func (r replayStore) CatchUp(ctx context.Context) error { return r.s.CatchUp(ctx) }

// startReplays begins to replay what waits. A store without a log has only what it kept when it
// left the others.
func (s *Store) startReplays() {
	none := s.replica == nil && (s.opts.Replace || s.committed(outbox.HeadKey) == "")
	if s.replay == nil || s.replays.Load() != nil || none {
		return
	}
	gate := new(outbox.Gate)
	if s.replica != nil {
		gate = &s.replica.replayGate
	}
	s.replays.Store(outbox.StartReplayer(replayStore{gate, s}, s.replay, s.log))
	s.replayAll()
}

// replayAll has everything that waits be replayed, before other transactions begin.
func (s *Store) replayAll() {
	r := s.replays.Load()
	if r == nil {
		return
	}
	head, err := outbox.ParseHead(s.committed(outbox.HeadKey))
	if err == nil && head.Waiting == 0 {
		return
	}
	r.Wake()
}

// committed returns what a key of the store holds, "" when there is none.
func (s *Store) committed(key string) (raw string) {
	_ = s.db.View(func(b *buntdb.Tx) (err error) {
		raw, err = b.Get(key)
		return err
	})
	return raw
}

// callOf returns what the context says of a transaction, nil when that does not matter.
func (s *Store) callOf(ctx context.Context) *outbox.Call {
	call := outbox.FromContext(ctx)
	if call.Replays() || s.opts.Queue {
		return call
	}
	return nil
}

// queueing returns fn with what the outbox does before and after it in the same transaction.
func (r *replica) queueing(call *outbox.Call, fn func(*Tx) error) func(*Tx) error {
	return func(tx *Tx) error {
		if sent, ok := call.Sent(); ok && r.Found(sent) {
			return outbox.ErrFoundInLog
		}
		if err := outbox.Before(rawTx{tx}, call); err != nil {
			return err
		}
		err := fn(tx)
		if err == nil {
			err = tx.err
		}
		if err == nil {
			tx.shared, tx.item, err = outbox.After(rawTx{tx}, call, tx.provisional)
		}
		return err
	}
}

// admit says whether a transaction may be queued. Called with queue.mu held.
func (r *replica) admit(p *pending, tx *Tx) error {
	switch {
	case r.generation != tx.generation:
		return errRerun
	case tx.provisional && tx.item != 0:
		p.provisional, r.provisional = true, true
	}
	return nil
}

// lastTrouble returns why the log could not be used last.
func (r *replica) lastTrouble() error {
	r.s.queue.mu.Lock()
	defer r.s.queue.mu.Unlock()
	if r.trouble == nil {
		return nil
	}
	return r.trouble
}

// Provisional reports whether there are transactions here that the log does not have.
func (r *replica) Provisional() bool {
	r.s.queue.mu.Lock()
	defer r.s.queue.mu.Unlock()
	return r.provisional
}

// endItem has a transaction that was found in the log end the item that waits for that.
func (r *replica) endItem(p *pending, sent outbox.SentTransaction) error {
	if r.head.Waiting+r.head.Refused == 0 {
		return nil
	}
	tx := Tx{s: r.s, writable: true}
	err := outbox.Found(rawTx{&tx}, sent)
	p.writes = append(p.writes, tx.writes...)
	return err
}

// behind reports whether something waits that was acknowledged, behind which what is added now has to stand: it is taken
// here, too. The log may be used all the same, where the disk of this machine did not take what a replay comes to. The error
// is that of a log without room, which takes nothing that may wait.
func (r *replica) behind() (bool, error) {
	r.s.queue.mu.Lock()
	defer r.s.queue.mu.Unlock()
	switch {
	case r.head.Waiting == 0 || r.replayGate.Narrowed():
		return false, nil
	case r.trouble != nil && errors.Is(r.trouble, outbox.ErrFull):
		return false, r.trouble
	}
	return true, nil
}

// readHead is called when something was applied, with queue.mu held.
func (r *replica) readHead() {
	r.head, _ = outbox.ParseHead(r.s.committed(outbox.HeadKey)) // who changes the outbox is told
}

// takeBack makes the transaction that takes back everything provisional, nil when nothing is.
// Called with the writer lock held and nothing queued.
func (r *replica) takeBack() (*pending, error) {
	s := r.s
	tx := Tx{s: s, writable: true}
	if err := outbox.TakeBack(rawTx{&tx}); err != nil || len(tx.writes) == 0 {
		return nil, err
	}
	p := &pending{seq: s.written + 1, time: s.now()}
	p.writes = slices.DeleteFunc(tx.writes, func(w write) bool { return w.deleted && !w.had })
	for i := range p.writes {
		if w := &p.writes[i]; w.of != nil && !w.deleted {
			w.val, _ = decodeSafely(w.of, w.raw)
		}
	}
	return p, nil
}
