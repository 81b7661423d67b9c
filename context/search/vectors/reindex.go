package vectors

import (
	"context"
	"time"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/entities/fault"
)

// remade is how often whoever waits for an index looks at it.
const remade = 20 * time.Millisecond

// Reindex makes the vectors of all documents anew, and returns when they serve.
// Those that are there serve until then, and go on when ctx ends before, or when the disk
// does not take the new ones: what was made of them is deleted. Of two at a time the
// second is refused with Conflict. progress, if not nil, is told how far it is.
func (x *Index) Reindex(ctx context.Context, progress func(done, total int)) error {
	x.mu.Lock()
	switch {
	case x.serving == nil && x.retry.why != "":
		defer x.mu.Unlock()
		return fault.New(fault.Unavailable, "the embedder can't be asked: %s", x.retry.why).
			WithHint("ctxd inspect index says more")
	case x.serving == nil || x.building != nil && !x.unwanted || x.anew || !x.serving.ready:
		x.mu.Unlock()
		return &fault.Error{
			Kind: fault.Conflict, Reason: fault.Busy, Msg: "the vectors are being made already",
			Hint: "wait until that is done; admin.stats shows it", Retryable: true,
		}
	}
	old := x.serving
	x.anew, x.notBegun = true, nil
	x.mu.Unlock()
	poke(x.wake)
	tick := time.NewTicker(remade)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			x.dropAnew()
			return ctx.Err()
		case <-x.ctx.Done():
			return fault.New(fault.Unavailable, "the store was closed before the vectors were made")
		case <-tick.C:
		}
		total, _ := x.src.Count()
		x.mu.RLock()
		over, failed := x.serving != old, x.notBegun
		waiting := 0
		if x.building != nil {
			waiting = x.building.left(total)
			if failed == nil {
				failed = x.building.unkept
			}
		}
		x.mu.RUnlock()
		if failed != nil && !over {
			x.dropAnew()
			return failed
		}
		if progress != nil {
			progress(max(0, total-waiting), total)
		}
		if over {
			return nil
		}
	}
}

// ReindexLater begins what Reindex does, and does not wait for it: what there is serves until it is done. One that goes on is
// enough.
func (x *Index) ReindexLater() {
	x.mu.Lock()
	if x.serving != nil && x.serving.ready && x.building == nil {
		x.anew, x.notBegun = true, nil
	}
	x.mu.Unlock()
	poke(x.wake)
}

// dropAnew has the index given up that Reindex has asked for.
func (x *Index) dropAnew() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.anew = false
	x.unwanted = x.building != nil && x.serving != nil && x.building.model == x.serving.model
	poke(x.wake)
}

// OnProgress has tell called as vectors come to be: with the stage embed, or model
// for those of another model, and how many of the notes have them. It is called
// often, by one goroutine, and must not wait.
func (x *Index) OnProgress(tell func(stage string, done, total int)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.tell = tell
}

// Check compares the vectors with their file and with the notes, and has
// made anew what is not right. It returns the ids of those notes.
func (x *Index) Check(ctx context.Context) ([]string, error) {
	x.mu.RLock()
	g := x.serving
	x.mu.RUnlock()
	if g == nil {
		return nil, nil
	}
	wrong, err := g.index.Check(ctx)
	if err != nil {
		return nil, err
	}
	for id, key := range g.index.All() {
		n := x.src.Get(id)
		x.mu.RLock()
		_, waits := g.waiting[id]
		x.mu.RUnlock()
		if n != nil && !waits && key != (TextKey{}) && key != x.keyOf(n) && x.src.Get(id) == n {
			wrong = append(wrong, id)
		}
	}
	x.repeat(g, wrong)
	poke(x.wake)
	return wrong, ctx.Err()
}

// Stats are those of vectors.
type Stats struct {
	Model             *embed.Model // nil: there are none
	Docs, Waiting     int
	Oldest            time.Duration // of the waiting
	HeldBack, Refused int
	Vectors           int
	Size              FlatSizes // of all files
	Rate              float64   // texts a second of work
	Embedded, Reused  uint64    // texts
	Error             string
	Retry             time.Duration // until the embedder is asked again
	Building          *Building
	// Idle says that nothing is left to do: all documents have vectors of one model, or
	// can have none.
	Idle bool
}

// Building is an index that takes the place of another when it is whole.
type Building struct {
	Model       embed.Model
	Done, Total int
}

// Stats returns the present figures. O(documents that wait).
func (x *Index) Stats() (s Stats) {
	total, _ := x.src.Count()
	now := time.Now()
	x.mu.RLock()
	s.Rate, s.Embedded, s.Reused = x.work.rate(), x.work.embedded, x.work.reused
	fail := x.retry
	all, serving := x.generations(), x.serving
	s.Idle = serving != nil && serving.ready && len(serving.waiting)+len(serving.gone) == 0 &&
		x.building == nil && !x.anew
	if x.serving == nil { // the embedder has not said yet which model it has
		s.Waiting = total
	}
	if g := x.serving; g != nil {
		model := g.model
		s.Model = &model
		s.Waiting, s.HeldBack, s.Refused = g.left(total), len(g.held), len(g.refused)
		for _, w := range g.waiting {
			s.Oldest = max(s.Oldest, now.Sub(w.since))
		}
		if g.retry.why != "" {
			fail = g.retry
		}
	}
	if g := x.building; g != nil {
		s.Building = &Building{Model: g.model, Done: max(0, total-g.left(total)), Total: total}
		if g.retry.why != "" {
			fail = g.retry
		}
	}
	x.mu.RUnlock()
	s.Error = fail.why
	if s.Error != "" {
		s.Retry = max(0, fail.at.Sub(now))
	}
	for _, g := range all {
		size := g.index.Sizes()
		s.Size.Memory += size.Memory
		s.Size.Disk += size.Disk
		s.Size.Waste += size.Waste
		if g == serving {
			s.Vectors = g.index.Len()
			s.Docs = max(0, total-s.Waiting-s.HeldBack-s.Refused)
		}
	}
	return s
}

// State reports whether a document is found by its meaning, in the version that it has now, and
// whether the embedder refused it. O(1).
func (x *Index) State(id string) (found, refused bool) {
	x.mu.RLock()
	g := x.serving
	if g == nil || !g.ready {
		x.mu.RUnlock()
		return false, false
	}
	_, refused = g.refused[id]
	_, held := g.held[id]
	waits := g.waiting[id] != nil
	x.mu.RUnlock()
	return !refused && !held && !waits && g.index.Has(id), refused
}

// Waiting is how many documents wait for their vectors.
func (x *Index) Waiting() int {
	total, _ := x.src.Count()
	x.mu.RLock()
	defer x.mu.RUnlock()
	if g := x.serving; g != nil {
		return g.left(total)
	}
	return total // the embedder has not said yet which model it has
}

// left is how many of so many documents wait: all of them until the index is compared with
// them, or it would seem that nothing is left to do. The caller has the lock.
func (g *generation) left(total int) int {
	if !g.ready {
		return total
	}
	return len(g.waiting)
}

// Embedder is how the embedder is.
func (x *Index) Embedder() embed.Status { return x.embedder.Status() }
