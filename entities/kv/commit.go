package kv

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidwall/buntdb"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/disk"
)

// pending is a transaction on its way: accepted, in the journal, not yet
// durable.
type pending struct {
	seq    uint64
	time   time.Time
	writes []write

	once sync.Once
	cs   *ChangeSet

	provisional bool  // it waits in the outbox
	done        bool  // guarded by queue.mu, like err
	err         error // why it is not acknowledged
}

// queue is where accepted transactions wait for the disk. There is no
// goroutine for it: the first waiter that finds nobody at work becomes the
// leader, flushes the journal once for all that wait by then, applies them in
// order and wakes the others.
type queue struct {
	mu      sync.Mutex
	changed sync.Cond
	list    []*pending
	waiting atomic.Int64 // how many are in list, for who only wants to know that
	leading bool
	failed  *fault.Error // the store is read-only since
	groups  [2]int       // sizes of the last two groups
	flush   time.Duration
}

// enqueue puts a journalled transaction where writers see it and where the
// next leader takes it. Called with the writer lock held.
func (s *Store) enqueue(p *pending, tx *Tx) error {
	q := &s.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.failed != nil {
		return q.failed
	}
	if s.replica != nil {
		if err := s.replica.admit(p, tx); err != nil {
			return err
		}
	}
	s.queueWrites(p)
	q.list = append(q.list, p)
	q.waiting.Store(int64(len(q.list)))
	tx.accepted = true
	if s.replica != nil {
		s.replica.Wake()
	}
	return nil
}

// barrier returns the newest transaction that is not durable yet, nil when
// there is none: whoever answers from what Update reads has to wait for it.
// Called with the writer lock held.
func (s *Store) barrier() *pending {
	q := &s.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) > 0 {
		return q.list[len(q.list)-1]
	}
	if q.leading {
		return s.newest
	}
	return nil
}

// wait returns once p is durable and applied, or has failed.
func (s *Store) wait(p *pending) error {
	q := &s.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	for !p.done {
		if q.leading || s.replica != nil {
			q.changed.Wait()
			continue
		}
		s.lead()
	}
	return p.err
}

// lead makes one group of transactions durable and applies them. Called, and
// returns, with queue.mu held.
func (s *Store) lead() {
	q := &s.queue
	q.leading = true
	q.awaitGroup()
	group := q.list
	q.list = nil
	q.waiting.Store(0)
	q.groups = [2]int{q.groups[1], len(group)}
	s.newest = group[len(group)-1]
	q.mu.Unlock()

	flush, failed := s.flushAndApply(group)

	q.mu.Lock()
	q.flush = flush
	if failed != nil {
		_ = s.failLocked(failed)
		// What came in meanwhile lies in the journal behind records of which
		// nobody knows whether they are safe.
		group = append(group, q.list...)
		q.list = nil
		q.waiting.Store(0)
		s.overlay.Clear()
	}
	for _, p := range group {
		if failed != nil && p.seq > s.seq.Load() {
			p.err = failed
		}
		p.done = true
	}
	q.leading = false
	q.changed.Broadcast()
}

// awaitGroup gives writers that the last group released the chance to join
// this one. Without it, writers in a tight loop fall into two camps that
// flush in turn, each with half of the group. It waits for as many as came
// before, at most a quarter of the time of a flush, and so not at all for a
// single writer.
func (q *queue) awaitGroup() {
	want := max(q.groups[0], q.groups[1])
	if len(q.list) >= want {
		return
	}
	limit := min(q.flush/4, 500*time.Microsecond)
	q.mu.Unlock() // for those who come; to take it again for each look would hold them up
	for start := time.Now(); q.waiting.Load() < int64(want) && time.Since(start) < limit; {
		runtime.Gosched()
	}
	q.mu.Lock()
}

// flushAndApply does the work of a leader. On failure, the transactions up to
// Seq were applied and the others were not.
func (s *Store) flushAndApply(group []*pending) (flush time.Duration, failed *fault.Error) {
	defer func() {
		if r := recover(); r != nil {
			s.log.Error("kv: commit panicked", "panic", fmt.Sprintf("%T", r), "stack", string(debug.Stack()))
			failed = fault.New(fault.Unavailable, "the store is read-only: a commit broke off").WithHint(hintRestart)
		}
	}()
	if s.journal != nil && s.opts.Durability == Strict {
		start := time.Now()
		if failed := s.flush(group[len(group)-1].seq); failed != nil {
			return 0, failed
		}
		flush = time.Since(start)
	}
	for _, p := range group {
		p.prepare(s)
		if err := s.apply(p); err != nil {
			return flush, unavailable(err, "the store is read-only: a commit broke off").WithHint(hintRestart)
		}
		s.overlay.Remove(p.seq, len(p.writes), func(i int) string { return p.writes[i].key })
		if len(p.writes) >= largeWrites {
			s.release(p)
		}
	}
	if s.journal != nil && s.opts.Durability == Relaxed {
		s.flushLater()
	}
	s.snapshotIfDue()
	return flush, nil
}

// largeWrites is from how many writes on the writer of a transaction that is applied
// does not wait for the others of its group: an import makes its next one meanwhile.
// To wake everybody for each small one would cost more than it saves.
const largeWrites = 256

// release acknowledges a transaction that is durable and applied.
func (s *Store) release(p *pending) {
	q := &s.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	p.done = true
	q.changed.Broadcast()
}

// prepare decodes the change set. It runs in the goroutine of the writer, or
// in the leader's when that is faster, and never under the view lock.
func (p *pending) prepare(s *Store) {
	p.once.Do(func() {
		cs := &ChangeSet{Seq: p.seq, Time: p.time, Changes: make([]Change, 0, len(p.writes))}
		for i := range p.writes {
			w := &p.writes[i]
			if w.of == nil {
				continue
			}
			var ch Change
			ch.Collection, ch.ID = w.of.Split(w.key)
			ch.New, w.val = w.val, nil
			if w.had {
				old, err := decodeSafely(w.of, w.old)
				if err != nil {
					s.log.Warn("kv: a replaced record could not be read", "collection", ch.Collection, "id", ch.ID)
				} else {
					ch.Old = old
				}
			}
			cs.Changes = append(cs.Changes, ch)
		}
		p.cs = cs
		if list := s.preparers.Load(); list != nil {
			for _, fn := range *list {
				s.callPreparer(fn, cs)
			}
		}
	})
}

// callPreparer survives a panic: the handler of the view has to do without.
func (s *Store) callPreparer(fn func(*ChangeSet), cs *ChangeSet) {
	defer func() {
		if r := recover(); r != nil {
			s.log.Error("kv: the preparation of a change panicked", "seq", cs.Seq, "panic", fmt.Sprintf("%T", r),
				"stack", string(debug.Stack()))
		}
	}()
	fn(cs)
}

// decodeSafely turns a panic of a codec into an error: at this point the
// transaction is in the journal and has to go its way.
func decodeSafely(of disk.AnyCollection, raw string) (any, error) { return disk.SafeDecode(of, raw) }

// apply brings the committed store and the views of the handlers to the state
// after p, in one step for everybody who reads.
func (s *Store) apply(p *pending) error {
	s.view.Lock()
	defer s.view.Unlock()
	err := s.db.Update(func(b *buntdb.Tx) error {
		for i := range p.writes {
			w := &p.writes[i]
			old, had, err := set(b, w.key, w.raw, w.deleted)
			if err != nil {
				return err
			}
			if s.capture != nil {
				s.capture.Keep(w.key, old, had)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.seq.Store(p.seq)
	s.at.Store(p.time.UnixNano())
	for _, handle := range s.handlers {
		s.callHandler(handle, p.cs)
	}
	return nil
}

// callHandler survives a handler's panic: the transaction is durable and the
// other views still need it. The store then takes no more writes, because a
// view that missed one can't be trusted to check the next.
func (s *Store) callHandler(handle func(*ChangeSet), cs *ChangeSet) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		s.log.Error("kv: a change handler panicked", "seq", cs.Seq, "panic", fmt.Sprintf("%T", r), "stack",
			string(debug.Stack()))
		_ = s.fail(fault.New(fault.Unavailable, "the store is read-only: a view of it broke").
			WithHint("restart the daemon: it rebuilds every view from the store"))
	}()
	handle(cs)
}

// fail makes the store read-only until it is opened again.
func (s *Store) fail(err *fault.Error) *fault.Error {
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	return s.failLocked(err)
}

// failLocked is fail with queue.mu held.
func (s *Store) failLocked(err *fault.Error) *fault.Error {
	if s.queue.failed == nil {
		s.queue.failed = err
		s.statusChanged()
	}
	return s.queue.failed
}

// statusChanged tells whoever wants to know.
func (s *Store) statusChanged() {
	if s.opts.OnStatus != nil {
		go s.opts.OnStatus()
	}
}
