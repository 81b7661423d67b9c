package rpc

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// door stands between the calls and the rooms. While it is shut, because the
// rooms are being opened or replaced, a call that needs them waits where every
// call waits for its turn, in a queue of its connection, and those that need
// none pass it.
//
// Who shuts the door has to know when nobody is inside. A call that runs on a
// worker is counted under mu as it begins and as it ends. That would cost a call
// that its reader runs too much: it looks whether the door is open while it books
// itself under schedule.mu, and stands in connection.busy from then on. So who
// shuts the door takes every schedule.mu once, and relieves the readers of what
// they run, which has it counted.
type door struct {
	rooms atomic.Pointer[Rooms] // nil while it is shut; changed under mu
	lease atomic.Pointer[lease] // changed under mu
	_     [48]byte              // who only looks does not wait for those who count

	mu      sync.Mutex // guards what follows; taken after schedule.mu
	inside  int
	empty   chan struct{}        // closed when nobody is inside; nil unless somebody waits for that
	opened  chan struct{}        // closed when it opens; nil while it is open
	waiting map[*connection]bool // that have calls to run when it opens; true: nothing else is left of them
	gone    int                  // those that are true
	loading protocol.Loading     // what it is shut for
	since   time.Time
}

// lease is for how long jobs may run: from when the door opens until the rooms are
// to be replaced. Calls that came in under an earlier lease may still be inside
// when the door opens, if a replacement was given up while it waited for them.
type lease struct {
	ctx context.Context
	end context.CancelCauseFunc
}

// renew lets jobs run from now on. mu is held.
func (d *door) renew() {
	l := new(lease)
	l.ctx, l.end = context.WithCancelCause(context.Background())
	d.lease.Store(l)
}

// tenancy returns a context that ends with ctx and when the rooms are to be
// replaced. The caller is inside.
func (d *door) tenancy(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stay := d.lease.Load().ctx
	stop := context.AfterFunc(stay, func() { cancel(context.Cause(stay)) })
	return ctx, func(why error) {
		stop()
		cancel(why)
	}
}

func (d *door) shut() bool { return d.rooms.Load() == nil }

// close shuts the door and returns the rooms behind it.
func (d *door) close(phase string) *Rooms {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.rooms.Swap(nil)
	d.opened, d.waiting, d.gone = make(chan struct{}), map[*connection]bool{}, 0
	d.loading, d.since = protocol.Loading{Phase: phase}, time.Now()
	return r
}

// open lets calls in to r, and has those run that wait. It reports whether the
// door was shut for that phase.
func (d *door) open(phase string, r *Rooms) bool {
	d.mu.Lock()
	if d.opened == nil || d.loading.Phase != phase {
		d.mu.Unlock()
		return false
	}
	d.renew()
	waiting := d.waiting
	d.waiting, d.gone, d.empty = nil, 0, nil
	d.rooms.Store(r)
	close(d.opened)
	d.opened = nil
	d.mu.Unlock()
	for c := range waiting {
		c.resume()
	}
	return true
}

// enter counts a call that begins and returns the rooms; nil while the door is
// shut, which resumes the connection when it opens. Its schedule.mu is held.
func (d *door) enter(c *connection) *Rooms {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.rooms.Load()
	if r == nil {
		d.hold(c, c.ended)
		return nil
	}
	d.inside++
	return r
}

// hold notes that a connection has calls that wait. mu is held.
func (d *door) hold(c *connection, gone bool) {
	if gone && !d.waiting[c] {
		d.gone++
	}
	d.waiting[c] = d.waiting[c] || gone
}

// wait enters as soon as the door is open.
func (d *door) wait(ctx context.Context) (*Rooms, error) {
	for {
		d.mu.Lock()
		r, opened := d.rooms.Load(), d.opened
		if r != nil {
			d.inside++
		}
		d.mu.Unlock()
		if r != nil {
			return r, nil
		}
		select {
		case <-opened:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// count counts a call that is inside already.
func (d *door) count() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.inside++
}

// leave is called when a call that was counted has ended.
func (d *door) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.inside--
	if d.inside == 0 && d.empty != nil {
		close(d.empty)
		d.empty = nil
	}
}

// cleared returns when nobody is inside. The door is shut.
func (d *door) cleared(ctx context.Context) error {
	empty := make(chan struct{})
	d.mu.Lock()
	if d.inside == 0 {
		close(empty)
	} else {
		d.empty = empty
	}
	d.mu.Unlock()
	select {
	case <-empty:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// forget is called when a connection is over. Calls of it may still wait.
func (d *door) forget(c *connection) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, waits := d.waiting[c]; waits {
		d.hold(c, true)
	}
}

// left returns how many connections are over but for calls that wait. They
// count like open ones, or they could hold any amount of memory.
func (d *door) left() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.gone
}

// stage says what is being done behind the door.
func (d *door) stage(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.loading.Stage = name
}

// visit counts somebody who does not wait, and returns the rooms; when the door
// is shut it counts nobody and returns what it is shut for.
func (d *door) visit() (*Rooms, *protocol.Loading) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r := d.rooms.Load(); r != nil {
		d.inside++
		return r, nil
	}
	l := d.loading
	l.ForMS = time.Since(d.since).Milliseconds()
	return nil, &l
}
