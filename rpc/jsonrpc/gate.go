package jsonrpc

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Gate stands between the calls and the store that most methods need. While it is
// closed, because the store is being opened or replaced, a call that needs the
// store waits where every call waits for its turn, in a queue of its connection,
// and those that need none pass it.
//
// What is behind the gate is opaque here: Open takes it, and calls get it by
// Call.Storage.
//
// Who closes the gate has to know when no call is inside. A call that runs on a
// worker is counted under mu as it begins and as it ends. That would cost an
// inline call too much (BenchmarkRoundTrip): it looks whether the gate is open while
// it books itself under schedule.mu, and stands in Conn.inline from then on. So
// Server.EvictCalls takes every schedule.mu once and hands the inline calls over to
// workers, which has them counted.
type Gate struct {
	storage atomic.Pointer[storage] // nil while it is closed; changed under mu
	lease   atomic.Pointer[lease]   // changed under mu
	_       [48]byte                // who only looks does not wait for those who count

	mu      sync.Mutex // guards what follows; taken after schedule.mu
	inside  int
	empty   chan struct{}  // closed when nobody is inside; nil unless somebody waits for that
	opened  chan struct{}  // closed when it opens; nil while it is open
	waiting map[*Conn]bool // that have calls to run when it opens; true: nothing else is left of them
	gone    int            // those that are true
	closure Closure
}

// storage is what is behind an open gate.
type storage struct{ value any }

// Closure says what a gate is closed for.
type Closure struct {
	Why   string
	Stage string // what is being done meanwhile
	Since time.Time
}

// lease is for how long jobs may run: from when the gate opens until the store is
// to be replaced. Calls that came in under an earlier lease may still be inside
// when the gate opens, if a replacement was given up while it waited for them.
type lease struct {
	ctx context.Context
	end context.CancelCauseFunc
}

// renew lets jobs run from now on. mu is held.
func (g *Gate) renew() {
	l := new(lease)
	l.ctx, l.end = context.WithCancelCause(context.Background())
	g.lease.Store(l)
}

// Lease returns a context that ends with ctx and when the store is to be replaced.
// The caller is inside, and calls the function when it is done.
func (g *Gate) Lease(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	current := g.lease.Load().ctx
	stop := context.AfterFunc(current, func() { cancel(context.Cause(current)) })
	return ctx, func(why error) {
		stop()
		cancel(why)
	}
}

// Closed reports whether the gate is closed.
func (g *Gate) Closed() bool { return g.storage.Load() == nil }

// Storage returns what is behind the gate without entering it, nil while it is
// closed.
func (g *Gate) Storage() any {
	if s := g.storage.Load(); s != nil {
		return s.value
	}
	return nil
}

// Close closes the gate and returns what is behind it.
func (g *Gate) Close(why, stage string) any {
	g.mu.Lock()
	defer g.mu.Unlock()
	old := g.storage.Swap(nil)
	g.opened, g.waiting, g.gone = make(chan struct{}), map[*Conn]bool{}, 0
	g.closure = Closure{Why: why, Stage: stage, Since: time.Now()}
	if old == nil {
		return nil
	}
	return old.value
}

// Open lets calls in to what is behind the gate now, and has those run that wait.
// It does nothing, and reports false, unless the gate is closed for that reason.
func (g *Gate) Open(why string, behind any) bool {
	g.mu.Lock()
	if g.opened == nil || g.closure.Why != why {
		g.mu.Unlock()
		return false
	}
	g.renew()
	waiting := g.waiting
	g.waiting, g.gone, g.empty = nil, 0, nil
	g.storage.Store(&storage{behind})
	close(g.opened)
	g.opened = nil
	g.mu.Unlock()
	for c := range waiting {
		c.resume()
	}
	return true
}

// enter counts a call that begins and returns what is behind the gate; nil while
// it is closed, which resumes the connection when it opens. The connection's
// schedule.mu is held.
func (g *Gate) enter(c *Conn) *storage {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.storage.Load()
	if s == nil {
		g.note(c, c.ended)
		return nil
	}
	g.inside++
	return s
}

// note notes that a connection has calls that wait. mu is held.
func (g *Gate) note(c *Conn, gone bool) {
	if gone && !g.waiting[c] {
		g.gone++
	}
	g.waiting[c] = g.waiting[c] || gone
}

// Wait enters as soon as the gate is open, and returns what is behind it. Leave
// has to follow.
func (g *Gate) Wait(ctx context.Context) (any, error) {
	for {
		g.mu.Lock()
		s, opened := g.storage.Load(), g.opened
		if s != nil {
			g.inside++
		}
		g.mu.Unlock()
		if s != nil {
			return s.value, nil
		}
		select {
		case <-opened:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Visit enters, if the gate is open, and returns what is behind it: Leave has to
// follow. Else it returns what the gate is closed for.
func (g *Gate) Visit() (behind any, closed *Closure) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := g.storage.Load(); s != nil {
		g.inside++
		return s.value, nil
	}
	c := g.closure
	return nil, &c
}

// count counts a call that is inside already.
func (g *Gate) count() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside++
}

// Leave is called when somebody who was counted is done.
func (g *Gate) Leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	if g.inside == 0 && g.empty != nil {
		close(g.empty)
		g.empty = nil
	}
}

// Cleared returns when nobody is inside. The gate is closed.
func (g *Gate) Cleared(ctx context.Context) error {
	empty := make(chan struct{})
	g.mu.Lock()
	if g.inside == 0 {
		close(empty)
	} else {
		g.empty = empty
	}
	g.mu.Unlock()
	select {
	case <-empty:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// forget is called when a connection is over. Calls of it may still wait.
func (g *Gate) forget(c *Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, waits := g.waiting[c]; waits {
		g.note(c, true)
	}
}

// left returns how many connections are over but for calls that wait. They count
// like open ones, or they could hold any amount of memory.
func (g *Gate) left() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.gone
}

// Stage says what is being done while the gate is closed.
func (g *Gate) Stage(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closure.Stage = name
}

// EvictCalls is called when the gate was closed: jobs that are inside end with why,
// calls that need no store pass those that wait, and inline calls are counted.
func (s *Server) EvictCalls(why error) {
	s.gate.lease.Load().end(why)
	for _, c := range s.connections() {
		c.passGate()
	}
}

// passGate is EvictCalls for one connection.
func (c *Conn) passGate() {
	c.mu.Lock()
	c.runStoreless()
	c.mu.Unlock()
	if k := c.inline.Load(); k != nil {
		c.handOver(k)
	}
}

// resume is called when the gate is open again.
func (c *Conn) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.startJobs()
	c.startMutations()
	c.startReads() // one at once
	c.startReads() // and the next in line
}
