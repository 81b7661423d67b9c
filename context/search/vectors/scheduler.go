package vectors

import (
	"context"
	"sync"
)

// Scheduler shares an embedder between indexes: one of them has it for one call of at most
// 32 texts at a time, then another that waits. Texts that were edited go before those of a
// backlog, and among equals the index that has waited longest: so making the vectors of one
// kind of documents anew delays an edit of another by one call. Of a row of calls for edits
// every fourth gives way to a backlog. Queries do not wait here: embedders serve them
// first. It is safe for concurrent use.
type Scheduler struct {
	mu      sync.Mutex // guards what follows
	busy    bool
	waiting []*turn // the longest first
	edits   int     // calls for edits since the last one for a backlog
	served  map[*Index]uint64
	calls   uint64
}

// turn is the waiting of an index for the embedder.
type turn struct {
	of    *Index
	fresh bool
	begin chan struct{}
}

// editsInARow is how many calls for edits go before one for a backlog that waits.
const editsInARow = 3

// NewScheduler returns a Scheduler for one embedder.
func NewScheduler() *Scheduler { return &Scheduler{served: make(map[*Index]uint64)} }

// take waits for the embedder, and returns what gives it back. When ctx ends it does not
// wait on: the embedder is told so itself.
func (s *Scheduler) take(ctx context.Context, x *Index, fresh bool) (done func()) {
	s.mu.Lock()
	if !s.busy {
		s.busy = true
		s.note(x, fresh)
		s.mu.Unlock()
		return s.next
	}
	t := &turn{x, fresh, make(chan struct{})}
	s.waiting = append(s.waiting, t)
	s.mu.Unlock()
	select {
	case <-t.begin:
		return s.next
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, w := range s.waiting {
		if w == t {
			s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
			return func() {}
		}
	}
	return s.next // its turn came meanwhile
}

// note counts a call. The caller has the lock.
func (s *Scheduler) note(x *Index, fresh bool) {
	s.calls++
	s.served[x] = s.calls
	s.edits++
	if !fresh {
		s.edits = 0
	}
}

// next gives the embedder to the next who waits.
func (s *Scheduler) next() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		s.busy = false
		return
	}
	best := 0
	for i, t := range s.waiting {
		if s.goesBefore(t, s.waiting[best]) {
			best = i
		}
	}
	t := s.waiting[best]
	s.waiting = append(s.waiting[:best], s.waiting[best+1:]...)
	s.note(t.of, t.fresh)
	close(t.begin)
}

// goesBefore is the order of those who wait. The caller has the lock.
func (s *Scheduler) goesBefore(a, b *turn) bool {
	if a.fresh != b.fresh {
		return a.fresh == (s.edits < editsInARow)
	}
	return s.served[a.of] < s.served[b.of]
}

// leave forgets an index that was closed.
func (s *Scheduler) leave(x *Index) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.served, x)
}
