package kv

import (
	"sync"
	"time"
)

// ChangeSet is what one transaction changed. The handlers of OnCommit get the
// same set one after the other; a handler may refine it for those after it, by
// appending a Change or replacing a New.
type ChangeSet struct {
	Seq     uint64    // of the transaction: 1, 2, 3 … without gaps
	Time    time.Time // when it was written
	Changes []Change  // in the order in which the records were first written
}

// Change is what happened to one record, however often the transaction wrote
// it. A record that is absent before and after is not in the set.
type Change struct {
	Collection string
	ID         string
	// Old and New are *T of the collection, decoded from the stored bytes and
	// shared by all handlers: they must not be changed. They are untyped nil
	// where the record was, or is now, absent. Old is also nil when what was
	// stored can't be read.
	Old, New any
}

// Ahead is what a view has worked out in OnPrepare for its OnCommit handler. The zero
// value is empty. It is safe for concurrent use.
type Ahead[T any] struct {
	mu    sync.Mutex
	bySeq map[uint64]T
}

// Put keeps what was worked out of a change set.
func (a *Ahead[T]) Put(seq uint64, v T) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.bySeq == nil {
		a.bySeq = make(map[uint64]T)
	}
	a.bySeq[seq] = v
}

// Take returns what was worked out of a change set, the zero value for nothing. What
// is of sets before it, which never came, goes too.
func (a *Ahead[T]) Take(seq uint64) T {
	a.mu.Lock()
	defer a.mu.Unlock()
	v := a.bySeq[seq]
	for s := range a.bySeq {
		if s <= seq {
			delete(a.bySeq, s)
		}
	}
	return v
}

// Len returns of how many change sets something is kept.
func (a *Ahead[T]) Len() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.bySeq)
}
