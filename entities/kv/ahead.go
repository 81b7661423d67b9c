package kv

// An Ahead keeps what views of a store work out of change sets before these are applied,
// several at a time and in any order, until the change set comes whose sequence number it was
// put under. It lives as long as its view and is safe for concurrent use; Put is O(1),
// Take and Len O(change sets under way). There are no errors: what is missing is the zero value.

import "sync"

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
