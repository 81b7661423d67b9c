package jsonrpc

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxd/ctxd/entities/yield"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// An inline call is run by the goroutine that read it, because it will be over
// sooner than handing it to another goroutine would take: a note app that completes
// a link waits for two system calls and the completion (BenchmarkComplete). Nobody
// knows beforehand how long a call will take, so two things keep the promise that
// reading goes on while calls run: only methods whose calls have been short so far
// run inline, and a watchdog starts another reader for a connection whose reader
// has run the same call for two of its rounds. The call then is one of those that
// run concurrently, as if it had never been anything else.

const (
	// inlineTime is the mean time that the calls of a method may take to run inline:
	// about ten times what it takes to hand a call over.
	inlineTime = 400 * time.Microsecond
	// watchdogRound is how often the watchdog looks, while there is something to see.
	watchdogRound = 2 * time.Millisecond
	// watchdogPatience is how many rounds without a call it stays for.
	watchdogPatience = 10
)

// runTime is the moving mean of the time that the calls of a method take.
type runTime struct{ mean atomic.Int64 } // nanoseconds

// took counts one more call. Counts that are lost to a race don't matter. A call
// during which the machine did something else counts as a slow one and no more:
// it says nothing of the next.
func (r *runTime) took(d time.Duration) {
	d = min(d, 4*inlineTime)
	old := r.mean.Load()
	r.mean.Store(old + (int64(d)-old)/8)
}

func (r *runTime) short() bool { return r.mean.Load() < int64(inlineTime) }

// bookInline books a call that its reader may run: a short read, alone on its
// connection, with nothing after it that came already.
func (c *Conn) bookInline(k *Call) bool {
	if k.id == nil || c.refusal(k) != nil || k.method.Mode != protocol.Read || !k.method.short() || !c.in.Empty() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// Calls that were withdrawn are no longer in flight, but may still run.
	if c.inFlight > 0 || c.reading >= c.srv.limits.Concurrency || c.ended {
		return false
	}
	if !k.method.Storeless {
		k.entered = c.srv.gate.storage.Load()
		if k.entered == nil {
			return false
		}
	}
	if !c.process.addExtra() {
		return false
	}
	k.extra = true
	k.inlineContext = &k.inlineStorage
	k.inlineContext.call = k
	c.inline.Store(k)
	c.lastSlot++
	k.slot = c.lastSlot
	k.state = running
	k.counted = true
	c.inFlight++
	c.underWay += len(k.params)
	c.srv.memory.hold(len(k.params))
	return true
}

// runInline runs a call and reports whether the connection still waits for this
// goroutine to read on.
func (c *Conn) runInline(k *Call) bool {
	c.srv.watchdog.wake()
	c.execute(k.inlineContext, k)
	k.inlineContext.end(context.Canceled) // whoever still watches it is let go
	c.process.endExtra(k)
	if k.place.End() { // it has yielded, and got a place for the rest
		c.srv.places.Leave()
	}
	if c.inline.CompareAndSwap(k, nil) {
		return true
	}
	k.leave()
	c.tookRead(k, k.arrived)
	c.mu.Lock()
	c.reading--
	c.startReads()
	c.mu.Unlock()
	return false
}

// handOver lets another goroutine read on while k is being run by the one that read
// it. From now on k counts among the calls that run concurrently, and can be
// withdrawn. It reports whether k was still being run.
func (c *Conn) handOver(k *Call) bool {
	c.mu.Lock()
	if !c.inline.CompareAndSwap(k, nil) {
		c.mu.Unlock()
		return false
	}
	c.reading++
	if k.entered != nil {
		c.srv.gate.count()
	}
	if !k.released {
		c.calls[k.slot] = k
		k.cancel = func() { k.inlineContext.end(context.Canceled) }
	}
	c.mu.Unlock()
	k.inlineContext.follow(c.ctx, c.srv.limits.ReadTimeout)
	c.in.Detach() // k goes on with what it was read into
	c.srv.run(c.read)
	return true
}

// watchdog watches over the readers that run inline calls. It sleeps while there
// are none.
type watchdog struct {
	watched atomic.Pointer[[]*watched] // one a connection
	awake   atomic.Bool
	calls   atomic.Uint64 // how often it was to be awake
	run     func(func())

	mu sync.Mutex // held while watched is replaced
}

// watched is what the watchdog knows of one connection.
type watched struct {
	conn *Conn
	seen *Call // that its reader was running in the last round
}

func (w *watchdog) add(c *Conn) {
	w.replace(func(list []*watched) []*watched { return append(list, &watched{conn: c}) })
}

func (w *watchdog) remove(c *Conn) {
	w.replace(func(list []*watched) []*watched {
		return slices.DeleteFunc(list, func(p *watched) bool { return p.conn == c })
	})
}

// replace changes a copy of the list, since the watchdog reads it without a lock.
func (w *watchdog) replace(change func([]*watched) []*watched) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []*watched
	if old := w.watched.Load(); old != nil {
		list = append(make([]*watched, 0, len(*old)+1), *old...)
	}
	list = change(list)
	w.watched.Store(&list)
}

// wake is called by a reader that has begun to run a call.
func (w *watchdog) wake() {
	w.calls.Add(1)
	if !w.awake.Load() && w.awake.CompareAndSwap(false, true) {
		w.run(w.watch)
	}
}

// watch makes rounds until no reader has run a call for a while.
func (w *watchdog) watch() {
	round := time.NewTicker(watchdogRound)
	defer round.Stop()
	last, quiet := w.calls.Load(), 0
	for {
		<-round.C
		busy := w.look()
		now := w.calls.Load()
		if busy || now != last {
			last, quiet = now, 0
			continue
		}
		quiet++
		// Nobody is left when the daemon ends, which waits for this goroutine.
		if quiet < watchdogPatience && len(*w.watched.Load()) > 0 {
			continue
		}
		w.awake.Store(false)
		// A reader that found it awake just now is seen here, or woke another.
		if w.calls.Load() == last || !w.awake.CompareAndSwap(false, true) {
			return
		}
		quiet = 0
	}
}

// look hands every call over that its reader ran in the last round already, and
// reports whether any reader runs a call.
func (w *watchdog) look() (busy bool) {
	for _, p := range *w.watched.Load() {
		k := p.conn.inline.Load()
		if k != nil && k == p.seen {
			if p.conn.handOver(k) {
				k.method.took(2 * watchdogRound) // so far; it may never end
			}
			k = nil
		}
		p.seen = k
		busy = busy || k != nil
	}
	return busy
}

// inlineContext is the context of an inline call. It costs next to nothing for the
// calls that are over before anybody could end it.
type inlineContext struct {
	call *Call

	mu   sync.Mutex // guards what follows
	done chan struct{}
	err  error

	deadline time.Time
	release  []func() bool
}

// follow ends the context with its parent and after the timeout.
func (c *inlineContext) follow(parent context.Context, timeout time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.deadline = time.Now().Add(timeout)
	c.release = append(c.release,
		time.AfterFunc(timeout, func() { c.end(context.DeadlineExceeded) }).Stop,
		context.AfterFunc(parent, func() { c.end(context.Canceled) }))
}

// end ends the context. Only the first reason counts.
func (c *inlineContext) end(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = why
	if c.done != nil {
		close(c.done)
	}
	for _, release := range c.release {
		release()
	}
}

func (c *inlineContext) Deadline() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.deadline, !c.deadline.IsZero()
}

func (c *inlineContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.err != nil {
			close(c.done)
		}
	}
	return c.done
}

func (c *inlineContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *inlineContext) Value(key any) any {
	if key == (yield.Key{}) {
		return &c.call.place
	}
	return nil
}
