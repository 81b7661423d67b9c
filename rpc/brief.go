package rpc

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// A call that will be over sooner than handing it to another goroutine would
// take is run where it was read: a note app that completes a link waits for two
// system calls and the completion. Nobody knows beforehand how long a call will
// take, so two things keep the promise that reading goes on while calls run:
// only methods that have been brief so far are run there, and a lookout starts
// another reader for a connection whose reader has been busy for two of its
// rounds. The call then is one of those that run beside each other, as if it
// had never been anything else.

const (
	// briefTime is the mean time that a method may take to be called brief: about
	// ten times what it takes to hand a call over.
	briefTime = 400 * time.Microsecond
	// lookoutRound is how often the lookout looks, while there is something to see.
	lookoutRound = 2 * time.Millisecond
	// lookoutPatience is how many rounds without a call it stays for.
	lookoutPatience = 10
)

// pace is the moving mean of the time that a method takes.
type pace struct{ mean atomic.Int64 } // nanoseconds

// took counts one more call. Counts that are lost to a race don't matter. A call
// during which the machine did something else counts as a slow one and no more:
// it says nothing of the next.
func (p *pace) took(d time.Duration) {
	d = min(d, 4*briefTime)
	old := p.mean.Load()
	p.mean.Store(old + (int64(d)-old)/8)
}

func (p *pace) brief() bool { return p.mean.Load() < int64(briefTime) }

// runsHere books a call that the reader itself may run: a brief read, alone on
// its connection, with nothing after it that came already.
func (c *connection) runsHere(k *call) bool {
	if k.id == nil || c.refusal(k) != nil || k.method.Mode != protocol.Read || !k.method.brief() || !c.in.empty() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// Calls that were withdrawn are no longer in flight, but may still run.
	if c.inFlight > 0 || c.reading >= c.srv.limits.Concurrency || c.ended {
		return false
	}
	if !k.method.Roomless {
		if k.rooms = c.srv.door.rooms.Load(); k.rooms == nil {
			return false
		}
	}
	k.here = &k.own
	c.busy.Store(k)
	c.lastSlot++
	k.slot = c.lastSlot
	k.state = running
	k.counted = true
	c.inFlight++
	c.underWay += len(k.params)
	return true
}

// runHere runs a call and reports whether the connection still waits for this
// goroutine to read on.
func (c *connection) runHere(k *call) bool {
	c.srv.lookout.wake()
	c.execute(k.here, k)
	k.here.end(context.Canceled) // whoever still watches it is let go
	if c.busy.CompareAndSwap(k, nil) {
		return true
	}
	k.leave()
	c.mu.Lock()
	c.reading--
	c.startReads()
	c.mu.Unlock()
	return false
}

// relieve lets another goroutine read on while k is being run by the one that
// read it. From now on k counts among the calls that run beside each other, and
// can be withdrawn. It reports whether k was still being run.
func (c *connection) relieve(k *call) bool {
	c.mu.Lock()
	if !c.busy.CompareAndSwap(k, nil) {
		c.mu.Unlock()
		return false
	}
	c.reading++
	if k.rooms != nil {
		c.srv.door.count()
	}
	if !k.released {
		c.calls[k.slot] = k
		k.cancel = func() { k.here.end(context.Canceled) }
	}
	c.mu.Unlock()
	k.here.follow(c.ctx, c.srv.limits.ReadTimeout)
	c.in.detach() // k goes on with what it was read into
	c.srv.run(c.lead)
	return true
}

// lookout watches over the readers that run calls. It sleeps while there are
// none.
type lookout struct {
	posts atomic.Pointer[[]*post] // one a connection
	awake atomic.Bool
	calls atomic.Uint64 // how often it was to be awake
	run   func(func())

	mu sync.Mutex // held while posts is replaced
}

// post is what the lookout knows of one connection.
type post struct {
	conn *connection
	seen *call // that its reader was running in the last round
}

func (l *lookout) add(c *connection) {
	l.replace(func(list []*post) []*post { return append(list, &post{conn: c}) })
}

func (l *lookout) remove(c *connection) {
	l.replace(func(list []*post) []*post {
		return slices.DeleteFunc(list, func(p *post) bool { return p.conn == c })
	})
}

// replace changes a copy of the list, since the lookout reads it without a lock.
func (l *lookout) replace(change func([]*post) []*post) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []*post
	if old := l.posts.Load(); old != nil {
		list = append(make([]*post, 0, len(*old)+1), *old...)
	}
	list = change(list)
	l.posts.Store(&list)
}

// wake is called by a reader that has begun to run a call.
func (l *lookout) wake() {
	l.calls.Add(1)
	if !l.awake.Load() && l.awake.CompareAndSwap(false, true) {
		l.run(l.watch)
	}
}

// watch goes its rounds until no reader has run a call for a while.
func (l *lookout) watch() {
	round := time.NewTicker(lookoutRound)
	defer round.Stop()
	last, quiet := l.calls.Load(), 0
	for {
		<-round.C
		busy := l.look()
		now := l.calls.Load()
		if busy || now != last {
			last, quiet = now, 0
			continue
		}
		// Nobody is left when the daemon ends, which waits for this goroutine.
		if quiet++; quiet < lookoutPatience && len(*l.posts.Load()) > 0 {
			continue
		}
		l.awake.Store(false)
		// A reader that found it awake just now is seen here, or woke another.
		if l.calls.Load() == last || !l.awake.CompareAndSwap(false, true) {
			return
		}
		quiet = 0
	}
}

// look has every reader relieved that runs the call it ran in the last round,
// and reports whether any runs one.
func (l *lookout) look() (busy bool) {
	posts := *l.posts.Load()
	for _, p := range posts {
		k := p.conn.busy.Load()
		if k != nil && k == p.seen {
			if p.conn.relieve(k) {
				k.method.took(2 * lookoutRound) // so far; it may never end
			}
			k = nil
		}
		p.seen = k
		busy = busy || k != nil
	}
	return busy
}

// callContext is the context of a call that is run by its reader. It costs next
// to nothing for the calls that are over before anybody could end it.
type callContext struct {
	mu   sync.Mutex // guards what follows
	done chan struct{}
	err  error

	deadline time.Time
	release  []func() bool
}

// follow ends the context with its parent and after the timeout.
func (c *callContext) follow(parent context.Context, timeout time.Duration) {
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
func (c *callContext) end(why error) {
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

func (c *callContext) Deadline() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.deadline, !c.deadline.IsZero()
}

func (c *callContext) Done() <-chan struct{} {
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

func (c *callContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *callContext) Value(any) any { return nil }
