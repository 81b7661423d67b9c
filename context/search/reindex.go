package search

import (
	"context"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
)

// remade is how often whoever waits for an index looks at it.
const remade = 20 * time.Millisecond

// ReindexWords makes the index of words anew from the notes, and returns when
// all of them are in it. Searches find meanwhile what is in it already, and say
// so. When ctx ends it leaves the rest to the background. Of two at a time the
// second is refused with Conflict. progress, if not nil, is told how far it is.
func (x *Index) ReindexWords(ctx context.Context, progress func(done, total int)) error {
	x.mu.Lock()
	if len(x.waiting) > 0 {
		x.mu.Unlock()
		return &fault.Error{
			Kind: fault.Conflict, Msg: "the index of words is being made already", Hint: "wait for that to end: admin.stats tells", Retryable: true,
		}
	}
	x.x = newInverted(x.x.stem)
	x.docs, x.free = nil, nil
	clear(x.number)
	for n := range x.notes.All() {
		x.waiting[n.ID] = struct{}{}
	}
	total := len(x.waiting)
	x.building.Add(1)
	x.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer x.building.Done()
		defer close(done)
		x.build()
	}()
	tick := time.NewTicker(remade)
	defer tick.Stop()
	for {
		select {
		case <-done:
			if x.stopped() {
				return fault.New(fault.Unavailable, "the store was closed before the index of words was made")
			}
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			if progress != nil {
				x.mu.RLock()
				waiting := len(x.waiting)
				x.mu.RUnlock()
				progress(max(0, total-waiting), total)
			}
		}
	}
}
