package places

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

// Read is what the pool knows of a read. Its methods, and what GiveWay returns, are
// called by the goroutine that runs the read.
type Read struct {
	conn     *Conn
	steps    uint          // between looks at the clock
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
func (k *Read) Init(c *Conn) { k.conn = c }

// Start begins the first slice of a read.
func (k *Read) Start(now time.Time) { k.sliceEnd = now.Add(k.conn.pool.slice) }

// Waited returns how long the read has waited in line since it began.
func (k *Read) Waited() time.Duration { return k.waited }

// End is called when a read is done, and reports whether a place is the caller's, who
// gives it back (Pool.Leave) or has the pool go on with it.
func (k *Read) End() (held bool) {
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

// StepsALook is how many steps a read makes between two looks at the clock. A step of
// a query is some microseconds.
const StepsALook = 16

// Key is the key under which the context of a read holds its *Read.
type Key struct{}

// GiveWay returns what a read is to call between its steps, often and with no lock
// held: when it has computed for a slice and others wait, the function waits until it
// is the turn of the read again. It returns at once when ctx has ended, which the read
// has to see for itself. It is nil when ctx is not that of a read.
func GiveWay(ctx context.Context) func() {
	k, _ := ctx.Value(Key{}).(*Read)
	if k == nil {
		return nil
	}
	return func() {
		k.steps++
		if k.steps%StepsALook == 0 {
			k.giveWay(ctx)
		}
	}
}

// giveWay looks whether the slice of a read is over.
func (k *Read) giveWay(ctx context.Context) {
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
