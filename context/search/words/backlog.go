package words

// A Backlog is where commits wait in their order for a view of the store that enters
// large ones in the background.
//
// A view whose OnCommit handler would take a second for a large commit puts that into its
// Backlog, and those that come before it is entered: no writer waits for those of others. Who gives more than there is
// room for waits behind his turn (Await). Whoever asks the view waits until it is as new as Last. All methods may be called concurrently.

import (
	"slices"
	"sync"
	"sync/atomic"
)

// What a Backlog holds at most: who has given more waits for room, or those who ask would wait
// for too many.
const (
	most      = 10_000
	mostLarge = 2
)

// Backlog holds commits that wait to be entered. New makes one.
type Backlog[C any] struct {
	Last atomic.Uint64 // the number of the commit that came last

	mu       sync.Mutex
	room     sync.Cond
	entering bool // a goroutine enters what is here
	list     []waiting[C]
	large    int // of list
}

type waiting[C any] struct {
	commit C
	seq    uint64
	large  bool
}

// NewBacklog returns a Backlog that is empty.
func NewBacklog[C any]() *Backlog[C] {
	b := new(Backlog[C])
	b.room.L = &b.mu
	return b
}

// Busy reports whether commits wait or are being entered.
func (b *Backlog[C]) Busy() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.entering
}

// Begin adds the first commit, when none waits or is being entered. The caller starts the
// goroutine that enters it, and what Next returns.
func (b *Backlog[C]) Begin(seq uint64, commit C, large bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.entering = true
	b.add(seq, commit, large)
}

// Follow adds a commit if others wait or are being entered, and reports whether it did.
func (b *Backlog[C]) Follow(seq uint64, commit C, large bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.entering {
		b.add(seq, commit, large)
	}
	return b.entering
}

// Await waits for room, if a commit is one of those that take it: nobody's turn to write lasts longer for that.
func (b *Backlog[C]) Await(seq uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.list) > most || b.large > mostLarge && b.isLarge(seq) {
		b.room.Wait()
	}
}

// isLarge reports whether a commit is a large one that waits. mu is held.
func (b *Backlog[C]) isLarge(seq uint64) bool {
	return slices.ContainsFunc(b.list, func(w waiting[C]) bool { return w.seq == seq && w.large })
}

// add appends a commit. mu is held.
func (b *Backlog[C]) add(seq uint64, commit C, large bool) {
	b.Last.Store(seq)
	b.list = append(b.list, waiting[C]{commit, seq, large})
	if large {
		b.large++
	}
}

// Next takes the first commit out; false when there is none: the goroutine ends.
func (b *Backlog[C]) Next() (commit C, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.list) == 0 {
		b.entering, b.list = false, nil
		b.room.Broadcast()
		return commit, false
	}
	first := b.list[0]
	b.list[0] = waiting[C]{}
	b.list = b.list[1:]
	if first.large {
		b.large--
	}
	b.room.Broadcast()
	return first.commit, true
}

// First returns the first commit that waits, if that is a large one.
func (b *Backlog[C]) First() (commit C, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.list) == 0 || !b.list[0].large {
		return commit, false
	}
	return b.list[0].commit, true
}

// Drop forgets what waits, since the goroutine ends before it has entered that.
func (b *Backlog[C]) Drop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.entering, b.list, b.large = false, nil, 0
	b.room.Broadcast()
}
