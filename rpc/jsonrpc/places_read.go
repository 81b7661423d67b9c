package jsonrpc

import (
	"context"
	"time"
)

// readPlace is what a read has to compute on. It changes under Pool.mu once the read is
// known there.
type readPlace uint8

const (
	unplaced  readPlace = iota // it runs where it was read, or at once
	placed                     // it has a place
	aside                      // it had one
	inLine                     // it waits for one
	asideEach = 4              // reads may compute aside for each place
)

// poolRead is what the pool knows of a read. Its methods are called by the goroutine that
// runs the read.
type poolRead struct {
	conn     *poolConn
	sliceEnd time.Time     // zero for one that runs inline and has not looked yet
	waited   time.Duration // in line
	known    bool          // to the pool

	// Under Pool.mu.
	place   readPlace
	isLong  bool      // it counts as such
	overrun bool      // it has computed for a slice
	since   time.Time // when it got its place, or was last seen to give way
	granted chan struct{}
}

// Init says which connection the read came over.
func (k *poolRead) Init(c *poolConn) { k.conn = c }

// Start begins the first slice of a read.
func (k *poolRead) Start(now time.Time) { k.sliceEnd = now.Add(k.conn.pool.slice) }

// Waited returns how long the read has waited in line since it began.
func (k *poolRead) Waited() time.Duration { return k.waited }

// End is called when a read is done, and reports whether a place is the caller's, who
// gives it back (Pool.Leave) or has the pool go on with it.
func (k *poolRead) End() (held bool) {
	if !k.known {
		return false
	}
	p := k.conn.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	held = k.place == placed
	p.let(k)
	p.wake() // a long one may have its place beside this one
	return held
}

// GiveUp gives the place of a read back for good: the read goes on without one, and
// computes little.
func (k *poolRead) GiveUp() {
	if !k.known {
		return
	}
	p := k.conn.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if k.place == placed {
		p.free++
	}
	p.let(k)
	p.wake()
}

// Yield has a read wait that has computed for a slice, while others wait for its place: it
// is the yield.Yielder of the context of the read.
func (k *poolRead) Yield(ctx context.Context) {
	pool := k.conn.pool
	now := time.Now()
	if k.sliceEnd.IsZero() {
		k.sliceEnd = now.Add(pool.slice)
	}
	if now.Before(k.sliceEnd) {
		return
	}
	// The connection of a call that runs inline has another reader long since, or gets
	// one from the watchdog while this one waits.
	pool.yield(k, ctx.Done())
	now, began := time.Now(), now
	k.waited += now.Sub(began)
	k.sliceEnd = now.Add(pool.slice)
}
