package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"

	"github.com/ctxd/ctxd/entities/fault"
)

// ReplayStore is what a Replayer asks of the store that it works for.
type ReplayStore interface {
	// Change runs fn in a transaction of its own, in the context of a replay or not.
	Change(ctx context.Context, fn func(Tx) error) error
	// Look runs fn on what is durable.
	Look(ctx context.Context, fn func(Tx) error) error
	// CatchUp reads the log to its end, and takes back what is provisional.
	CatchUp(ctx context.Context) error
	// Hold keeps other transactions waiting until Release, as those of a Gate.
	Hold()
	Release()
}

// How often an item is tried while the log can be read.
const (
	logTries   = 8 // where the log could not be written
	otherTries = 3 // where the function that does it says that something else is unavailable
)

// Replayer has items done again, one after the other, each time when Wake is called.
type Replayer struct {
	store ReplayStore
	fn    func(ctx context.Context, w Waiting) error
	log   *slog.Logger
	work  chan struct{} // buffer of one
	stop  context.CancelFunc
	wg    sync.WaitGroup
}

// StartReplayer returns a Replayer that is at work until Stop.
func StartReplayer(store ReplayStore, fn func(ctx context.Context, w Waiting) error, log *slog.Logger) *Replayer {
	ctx, stop := context.WithCancel(context.Background())
	r := &Replayer{store: store, fn: fn, log: log, work: make(chan struct{}, 1), stop: stop}
	r.wg.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-r.work:
				r.replayAll(ctx)
			}
		}
	})
	return r
}

// Wake says that the log can be used again, or that there is another item. Transactions that
// begin after it find that replayed.
func (r *Replayer) Wake() {
	r.store.Hold()
	select {
	case r.work <- struct{}{}:
	default:
	}
}

// Stop ends a replay that is under way and waits for it.
func (r *Replayer) Stop() {
	r.stop()
	r.wg.Wait()
}

// replayAll replays what waits.
func (r *Replayer) replayAll(ctx context.Context) {
	r.store.Hold()
	defer r.store.Release()
	if r.store.CatchUp(ctx) != nil {
		r.replayProvisionally(ctx)
		return
	}
	for {
		list, err := r.waiting(ctx, func(*Head, *item) bool { return true })
		if err != nil {
			r.failed(ctx, err)
			return
		}
		if len(list) == 0 {
			return
		}
		for _, number := range list {
			if !r.replayOne(ctx, number) {
				r.replayProvisionally(ctx)
				return
			}
		}
	}
}

func (r *Replayer) failed(ctx context.Context, err error) {
	if ctx.Err() == nil {
		r.log.Warn("kv: what waits for other machines could not be replayed", "err", err)
	}
}

// waiting returns the numbers of the items that wait and that fit, in order.
func (r *Replayer) waiting(ctx context.Context, fits func(*Head, *item) bool) (list []uint64, err error) {
	err = r.store.Look(ctx, func(tx Tx) error {
		h, err := getHead(tx)
		if err != nil || h.Waiting == 0 {
			return err
		}
		return eachItem(tx, func(it *item) (bool, error) {
			if it.Refused == nil && fits(&h, it) {
				list = append(list, it.Number)
			}
			return true, nil
		})
	})
	return list, err
}

// call has an item done again. It returns errDone when there is nothing to be done any more.
func (r *Replayer) call(ctx context.Context, c *Call) (err error) {
	var it item
	var done bool
	err = r.store.Look(ctx, func(tx Tx) (err error) {
		done, err = isDone(tx, c.number)
		if err == nil && !done {
			it, _, err = getItem(tx, c.number)
		}
		return err
	})
	if err != nil {
		return err
	}
	if done {
		return errDone
	}
	defer func() {
		if p := recover(); p != nil {
			r.log.Error("kv: a replay panicked", "panic", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
			err = fault.New(fault.Internal, "doing it again broke off")
		}
	}()
	return r.fn(withCall(ctx, c), it.Waiting)
}

// replayOne replays an item. It returns false when the log is lost.
func (r *Replayer) replayOne(ctx context.Context, number uint64) bool {
	for tries := 1; ; tries++ {
		c := &Call{number: number, replay: true}
		err := r.call(ctx, c)
		if ctx.Err() != nil {
			return false
		}
		done := true
		if err != nil {
			failed := r.store.Look(ctx, func(tx Tx) (err error) {
				done, err = isDone(tx, number)
				return err
			})
			if failed != nil {
				r.failed(ctx, failed)
				return false
			}
		}
		if done {
			if err != nil && !errors.Is(err, errDone) {
				r.log.Warn("kv: something that follows a replayed change was refused", "kind", fault.KindOf(err).String())
			}
			return r.change(ctx, func(tx Tx) error { return deleteItem(tx, number) })
		}
		// Only the log decides, and only what is known not to be in it can be refused.
		if r.store.CatchUp(ctx) != nil {
			return false
		}
		lost := c.isLost()
		switch {
		case lost && tries < logTries, !lost && mayPass(err) && tries < otherTries:
			continue
		case lost:
			return false
		}
		why := refusalOf(err)
		return r.change(ctx, func(tx Tx) error {
			why.Time = tx.Time()
			return refuseItem(tx, number, why)
		})
	}
}

// change changes items in a transaction that goes neither to the log nor into an item.
func (r *Replayer) change(ctx context.Context, fn func(Tx) error) bool {
	err := r.store.Change(withCall(ctx, &Call{replay: true, provisional: true}), fn)
	if err != nil {
		r.failed(ctx, err)
	}
	return err == nil
}

// replayProvisionally applies here once more what is not applied, while the log can't be reached.
func (r *Replayer) replayProvisionally(ctx context.Context) {
	list, err := r.waiting(ctx, func(h *Head, it *item) bool { return it.Batch != h.Batch })
	if err != nil {
		r.failed(ctx, err)
	}
	for _, number := range list {
		if ctx.Err() != nil {
			return
		}
		err := r.call(ctx, &Call{number: number, replay: true, provisional: true})
		switch {
		case errors.Is(err, errDone): // its replay was not known to have reached the log
			r.change(ctx, func(tx Tx) error { return deleteItem(tx, number) })
		case err != nil && ctx.Err() == nil:
			r.log.Info("kv: a change that waits for other machines can't be seen here meanwhile", "kind", fault.KindOf(err).String())
		}
	}
}

func withCall(ctx context.Context, c *Call) context.Context { return context.WithValue(ctx, key{}, c) }

// mayPass reports whether an error says that the same may succeed later.
func mayPass(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && (f.Retryable || f.Kind == fault.Unavailable)
}

// refusalOf says why an item is refused.
func refusalOf(err error) *Refusal {
	var f *fault.Error
	if !errors.As(err, &f) {
		return &Refusal{Kind: fault.KindOf(err).String(), Message: "it could not be done again"}
	}
	return &Refusal{Kind: f.Kind.String(), Message: f.Msg, Field: f.Field, Ref: f.Ref, Hint: f.Hint}
}
