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
	// Hold, Narrow, Settle and Release are those of a Gate.
	Hold()
	Narrow(items []WaitingItem)
	Settle(items []WaitingItem)
	Release()
}

// WaitingItem is an item that waits, and the records that it wrote when it was applied here.
type WaitingItem struct {
	Number uint64
	Keys   []string
}

// maxReplays is how many items at most are replayed at a time.
const maxReplays = 512

// How often an item is tried while the log can be read.
const (
	logTries   = 8 // where the log could not be written
	otherTries = 3 // where the function that does it says that something else is unavailable
)

// Replayer has items done again, in their order, each time when Wake is called. An item begins as
// soon as the one before is queued, so that many of them are appended as one entry.
type Replayer struct {
	store ReplayStore
	fn    func(ctx context.Context, w Waiting) error
	log   *slog.Logger
	stop  context.CancelFunc
	wg    sync.WaitGroup

	mu   sync.Mutex    // held to open or close the gate
	work chan struct{} // buffer of one; the gate is closed while there is something in it
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
// begin after it find that replayed, or touch nothing of it.
func (r *Replayer) Wake() {
	r.mu.Lock()
	defer r.mu.Unlock()
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
	defer r.open(r.store.Release)
	for {
		r.store.Hold()
		if r.store.CatchUp(ctx) != nil {
			r.woken() // CatchUp has taken back what waits, which wakes: this is that replay
			r.replayProvisionally(ctx)
			return
		}
		list, err := r.waiting(ctx, func(*Head, *item) bool { return true })
		if err != nil {
			r.failed(ctx, err)
			return
		}
		if len(list) == 0 {
			return
		}
		r.open(func() { r.store.Narrow(list) })
		for len(list) > 0 && !r.woken() {
			n, ok := r.replayGroup(ctx, list, false, r.replayOne)
			if !ok {
				r.store.Hold()
				r.replayProvisionally(ctx)
				return
			}
			r.store.Settle(list[:n])
			list = list[n:]
		}
	}
}

// woken reports whether Wake was called since: what waits is another list then.
func (r *Replayer) woken() bool {
	select {
	case <-r.work:
		return true
	default:
		return false
	}
}

// open opens the gate, unless Wake has closed it for the next replay.
func (r *Replayer) open(how func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.work) == 0 {
		how()
	}
}

// replayGroup replays the first items of a list, at least one, and returns how many have ended. The
// first is replayed by first, whatever comes in between, which returns false when the log is lost. Each
// other begins when the one before is queued, and runs once: where anything is in its way, it is
// the first of the next group.
func (r *Replayer) replayGroup(ctx context.Context, list []WaitingItem, provisional bool, first func(context.Context, *Call) bool) (n int, ok bool) {
	list = list[:min(len(list), maxReplays)]
	calls := make([]*Call, 0, len(list))
	results := make([]chan bool, 0, len(list))
	for i := range list {
		c := &Call{number: list[i].Number, replay: true, provisional: provisional, queued: make(chan struct{})}
		ended := make(chan bool, 1)
		if i == 0 {
			go func() { ended <- first(ctx, c) }()
		} else {
			c.before = calls[i-1]
			go func() { ended <- r.replayNext(ctx, c) }()
		}
		calls, results = append(calls, c), append(results, ended)
		select {
		case <-c.queued:
			continue
		case done := <-ended:
			ended <- done
			if done {
				c.end()
				continue
			}
		}
		break
	}
	for _, ended := range results {
		if !<-ended {
			break
		}
		n++
	}
	for _, ended := range results[min(n+1, len(results)):] {
		<-ended
	}
	return n, n > 0
}

// replayNext replays an item once, behind another one, and reports whether it has ended.
func (r *Replayer) replayNext(ctx context.Context, c *Call) bool {
	if r.call(ctx, c) != nil || ctx.Err() != nil {
		return false
	}
	return c.provisional || r.deleteDone(ctx, c.number)
}

// deleteDone deletes an item that nothing had to be done for. Most are deleted already, by what
// they did.
func (r *Replayer) deleteDone(ctx context.Context, number uint64) bool {
	there := false
	err := r.store.Look(ctx, func(tx Tx) (err error) {
		_, there, err = getItem(tx, number)
		return err
	})
	if err != nil {
		r.failed(ctx, err)
		return false
	}
	return !there || r.change(ctx, func(tx Tx) error { return deleteItem(tx, number) })
}

func (r *Replayer) failed(ctx context.Context, err error) {
	if ctx.Err() == nil {
		r.log.Warn("kv: what waits for other machines could not be replayed", "err", err)
	}
}

// waiting returns the items that wait and that fit, in order.
func (r *Replayer) waiting(ctx context.Context, fits func(*Head, *item) bool) (list []WaitingItem, err error) {
	err = r.store.Look(ctx, func(tx Tx) error {
		h, err := getHead(tx)
		if err != nil || h.Waiting == 0 {
			return err
		}
		return eachItem(tx, func(it *item) (bool, error) {
			if it.Refused == nil && fits(&h, it) {
				list = append(list, WaitingItem{it.Number, it.Keys})
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

// replayOne replays an item, whatever that takes. It returns false when the log is lost.
func (r *Replayer) replayOne(ctx context.Context, c *Call) bool {
	number := c.number
	for tries := 1; ; tries++ {
		c.retry()
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
			return r.deleteDone(ctx, number)
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
	for len(list) > 0 && ctx.Err() == nil {
		n, _ := r.replayGroup(ctx, list, true, r.applyOne)
		list = list[max(n, 1):]
	}
}

// applyOne applies an item here, or says why it can't be seen.
func (r *Replayer) applyOne(ctx context.Context, c *Call) bool {
	err := r.call(ctx, c)
	switch {
	case errors.Is(err, errDone): // its replay was not known to have reached the log
		r.change(ctx, func(tx Tx) error { return deleteItem(tx, c.number) })
	case err != nil && ctx.Err() == nil:
		r.log.Info("kv: a change that waits for other machines can't be seen here meanwhile", "kind", fault.KindOf(err).String())
	}
	return true
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
