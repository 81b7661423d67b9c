package kv

import (
	"sync"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
)

// relaxedDelay is how long a transaction of a store with relaxed durability
// may wait for the disk.
const relaxedDelay = time.Second

// flusher has the disk confirm what was written.
type flusher struct {
	segment sync.Mutex   // held while a segment is flushed, begun or closed
	broken  *fault.Error // the flush that failed, after which there is no other; guarded by segment

	mu    sync.Mutex
	timer *time.Timer // nil while there is nothing to flush
	over  bool
}

// flush has the disk confirm everything up to the transaction seq, which is in
// the journal. It returns why that is not sure: the store is then to be
// read-only, for a flush is never tried twice.
func (s *Store) flush(seq uint64) *fault.Error {
	s.flusher.segment.Lock()
	defer s.flusher.segment.Unlock()
	if s.synced.Load() >= seq {
		return nil
	}
	if s.flusher.broken != nil {
		return s.flusher.broken
	}
	if err := s.journal.Sync(); err != nil {
		s.flusher.broken = unavailable(err, "the store is read-only: the disk did not confirm a write").
			WithHint(hintRestart)
		return s.flusher.broken
	}
	s.checkJournal()
	s.synced.Store(seq)
	return nil
}

// flushLater arms the timer of a store with relaxed durability.
func (s *Store) flushLater() {
	f := &s.flusher
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.timer == nil && !f.over {
		f.timer = time.AfterFunc(relaxedDelay, s.flushNow)
	}
}

// flushNow is what the timer does.
func (s *Store) flushNow() {
	f := &s.flusher
	f.mu.Lock()
	f.timer = nil
	over := f.over
	f.mu.Unlock()
	if over {
		return
	}
	if failed := s.flush(s.seq.Load()); failed != nil {
		_ = s.fail(failed)
	}
}

// stopFlushing disarms the timer for good. Close flushes what is left.
func (s *Store) stopFlushing() {
	f := &s.flusher
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
	if f.timer != nil {
		f.timer.Stop()
		f.timer = nil
	}
}
