package kv

import (
	"context"

	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// Later is what has to be done again once the log can be reached, see outbox.Later.
type Later = outbox.Later

// Waiting is something that was accepted here and is not in the log, see outbox.Waiting.
type Waiting = outbox.Waiting

// Refusal is why something that was accepted here could not be done again, see outbox.Refusal.
type Refusal = outbox.Refusal

// Queueable returns a context in which an Update may be taken here while the log can't be
// reached, when Options.Queue is set: it is then journaled, applied and acknowledged as ever,
// is seen by every View and handler of change sets on this machine, and waits as an item of the
// outbox until Replay does it again. Use it for what only adds. Without a log, and while the log
// can be reached, nothing is different.
//
// Everything that is done in one such context is one item: make a context for each call. When
// its first Update went to the log and a later one can't, that one is refused. In the context of
// a replay, or in one that is queueable already, Queueable returns what it was given: the same
// handler serves both.
func Queueable(ctx context.Context, l Later) context.Context { return outbox.With(ctx, l) }

// Queued returns the number of the item that an Update in a queueable context was taken into;
// ok is false when all went to the log, or nothing was written. In the context of a replay it is
// the item that is replayed.
func Queued(ctx context.Context) (number uint64, ok bool) { return outbox.Of(ctx).Queued() }

// Replaying reports whether a context is that of a replay: what was done once for somebody who
// waited, a message to a model say, need not be done again.
func Replaying(ctx context.Context) bool { return outbox.Of(ctx).Replays() }

// Replay registers what does an item again. Call it before Follow; it is called in order, one
// item at a time, in a goroutine of the store, when the log can be reached again. Before the
// first call, everything that was taken here is taken back, so fn runs on the state that all
// machines share. Other Updates wait until all items are done or the log is lost again.
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
func (s *Store) Waiting(ctx context.Context) ([]Waiting, error) {
	return nil, ctx.Err()
}

// Drop forgets an item whose replay was refused. The error is NotFound without such a number,
// and Conflict for one that waits: that is going to be replayed.
func (s *Store) Drop(ctx context.Context, number uint64) error {
	return outbox.Missing(number)
}

// Again has an item whose replay was refused be replayed once more, behind all others: it gets
// a new number. Errors are those of Drop.
func (s *Store) Again(ctx context.Context, number uint64) error {
	return outbox.Missing(number)
}

// Pending reports whether a record was written by something that waits, so that other machines
// do not have it, or have another one. It costs as much as Has.
func (c Collection[T]) Pending(tx *Tx, id string) bool {
	_, pending, _ := tx.get(outbox.BaseKey(c.c.prefix + id))
	return pending
}
