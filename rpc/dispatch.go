package rpc

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// callState is where a call stands. It changes under schedule.mu.
type callState uint8

const (
	queued callState = iota
	running
	dropped // withdrawn before it ran
)

// call is one request or notification from its arrival to its reply.
type call struct {
	conn    *connection
	peer    *jsonrpc2.Conn
	slot    uint64 // the id that the library knows
	id      []byte // as it came; nil for a notification
	name    string // of an unknown method or a notification of the protocol
	method  *entry // nil when unknown
	params  []byte
	arrived time.Time
	batch   *batch
	part    int // place of its reply in the batch

	invalid string // why it is no request

	claimed  atomic.Bool // somebody replies
	over     bool        // too many are in flight
	counted  bool        // it counts as in flight
	released bool        // it has been replied to and forgotten

	state  callState
	after  uint64             // a read: how many mutations must be done before it
	rooms  *Rooms             // that it runs in; nil when it needs none
	cancel context.CancelFunc // a running read or job
	failed *protocol.Error    // the reply, when it is an error
	here   *callContext       // of a call that its reader runs; nil for others
	own    callContext        // what here points to
}

// find looks the method up by its quoted name.
func (k *call) find(quoted []byte) {
	table := k.conn.srv.methods
	if k.method = table[string(quoted[1:len(quoted)-1])]; k.method == nil {
		k.name = unquote(quoted)
		k.method = table[k.name]
	}
}

// schedule decides when the calls of a connection run.
type schedule struct {
	mu       sync.Mutex // guards everything below
	room     sync.Cond  // a call is done, or the connection is
	calls    map[uint64]*call
	lastSlot uint64
	inFlight int
	underWay int  // bytes of the params of those in flight
	ended    bool // nothing more is read or written
	inputEnd bool // nothing more is read
	finished bool // drained is closed

	reads   []*call // that wait, in the order of arrival
	reading int
	inLine  bool // at the gate
	short   turnPace
	jobs    int
	pending []*call // jobs that wait for the rooms

	mutations []*call // that wait
	mutating  bool
	accepted  uint64 // mutations so far
	done      uint64 // those of them that are through
}

// heldBack is how many times the limit of calls in flight notifications may
// reach before reading waits for some of them to be done.
const heldBack = 16

// book gives the calls of a message their slots. When too much is in flight the
// message is refused. Its notifications are taken all the same, since nobody
// could be told, and what stands behind them, such as a cancellation, must be
// read; only those that would fill the memory are held back until there is room.
// A batch is taken whole: it may go over the limits once.
func (c *connection) book(calls []*call) []*call {
	c.mu.Lock()
	defer c.mu.Unlock()
	limit := c.srv.limits.InFlight
	full := c.crowded(limit, 0, 0)
	own, ownBytes := 0, 0 // of this message: they make no room while they are waited for here
	for _, k := range calls {
		if k.id == nil && k.method != nil {
			for full && c.crowded(heldBack*limit, own, ownBytes) && !c.ended {
				c.room.Wait()
			}
		}
		c.lastSlot++
		k.slot = c.lastSlot
		k.over = full && k.id != nil
		if k.counted = !k.over; k.counted {
			c.inFlight++
			c.underWay += len(k.params)
			own++
			ownBytes += len(k.params)
		} else {
			k.params = nil
		}
		c.calls[k.slot] = k
	}
	return calls
}

// crowded reports whether there are limit calls in flight, or they hold more
// than two messages of the largest size. The caller's own calls and their bytes
// are not counted. mu is held.
func (c *connection) crowded(limit, own, ownBytes int) bool {
	return c.inFlight-own >= limit || c.underWay-ownBytes > 2*c.srv.limits.MessageBytes
}

func (c *connection) slot(n uint64) *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[n]
}

// settle makes room for another call: this one is about to be answered. It
// comes before the reply, so that a client that has read it finds the room.
func (c *connection) settle(k *call) {
	c.mu.Lock()
	c.uncount(k)
	c.mu.Unlock()
}

// uncount takes a call out of those in flight, once. mu is held.
func (c *connection) uncount(k *call) {
	if k.counted {
		k.counted = false
		c.inFlight--
		c.underWay -= len(k.params)
		c.room.Signal()
	}
}

// release forgets a call whose reply is on its way.
func (c *connection) release(k *call) {
	c.mu.Lock()
	c.uncount(k)
	k.released = true
	if k.state == dropped {
		k.params = nil // it may stand in its queue for a while
	}
	delete(c.calls, k.slot)
	last := c.inputEnd && len(c.calls) == 0
	c.mu.Unlock()
	if last {
		c.checkDrained()
	}
}

// Handle takes the call that ReadObject has just read. It is called by the
// library, on the goroutine that reads.
func (c *connection) Handle(_ context.Context, peer *jsonrpc2.Conn, _ *jsonrpc2.Request) {
	k := c.current
	c.current = nil
	k.peer = peer
	if k.id == nil && k.method == nil && k.invalid == "" {
		c.notification(k)
		c.release(k)
		return
	}
	if e := c.refusal(k); e != nil {
		c.finish(k, nil, e)
		return
	}
	switch k.method.Mode {
	case protocol.Control:
		c.execute(c.ctx, k)
	case protocol.Read:
		c.queueRead(k)
	case protocol.Mutation:
		c.queueMutation(k)
	case protocol.Job:
		c.queueJob(k)
	}
}

// notification takes the notifications of the protocol; any other that names no
// method means nothing.
func (c *connection) notification(k *call) {
	switch k.name {
	case protocol.NotifyExit:
		c.leaving.Store(true)
	case protocol.NotifyCancel:
		var id []byte
		s := scanner{data: k.params, limit: c.srv.limits.Nesting}
		if s.peek() != '{' {
			return
		}
		// The params were checked with their message.
		_ = s.object(func(key []byte) error {
			start := s.pos
			err := s.value()
			if string(key) == `"id"` {
				id = s.data[start:s.pos]
			}
			return err
		})
		if id != nil && validID(id) {
			c.withdraw(id)
		}
	}
}

// refusal says why a call is not run at all, nil when it is.
func (c *connection) refusal(k *call) *protocol.Error {
	switch {
	case k.invalid != "":
		return protocolError(protocol.CodeInvalidRequest, "", "the message is not a request: %s", k.invalid)
	case k.method == nil:
		e := protocolError(protocol.CodeMethodNotFound, "rpc.discover lists the methods", "there is no method %q", clip(k.name))
		e.Data.Ref = clip(k.name)
		return e
	case k.over:
		return limitError(true, "wait for replies before sending more", "more than %d requests, or %d bytes of them, are in flight",
			c.srv.limits.InFlight, 2*c.srv.limits.MessageBytes)
	}
	switch phase := c.session.current(); {
	case phase == fresh && !k.method.Early:
		return protocolError(protocol.CodeNotInitialized, "call initialize first", "the connection has not been initialized")
	case phase == ending:
		return protocolError(protocol.CodeInvalidRequest, "open a new connection", "the connection has been shut down")
	}
	return nil
}

// enter lets a call into the rooms, if it needs them, and reports whether it may
// begin. schedule.mu is held.
func (k *call) enter() bool {
	if k.method.Roomless {
		return true
	}
	k.rooms = k.conn.srv.door.enter(k.conn)
	return k.rooms != nil
}

// leave is called when the handler of a call that has entered is done.
func (k *call) leave() {
	if k.rooms != nil {
		k.conn.srv.door.leave()
	}
}

// queueRead lets a read start when every earlier mutation is done and a place
// in the pool is free.
func (c *connection) queueRead(k *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k.after = c.accepted
	c.reads = append(c.reads, k)
	if c.srv.door.shut() {
		c.overtake()
	}
	c.startReads()
}

// overtake has the reads run that need no rooms: while the door is shut, those
// before them may wait for long. mu is held.
func (c *connection) overtake() {
	c.reads = slices.DeleteFunc(c.reads, func(k *call) bool {
		if k.state == dropped || !k.method.Roomless {
			return false
		}
		k.state = running
		c.reading++
		c.srv.run(func() { c.runRead(k) })
		return true
	})
}

// startReads has a read start when one may. mu is held. Later reads wait for no
// fewer mutations than earlier ones, so only the first has to be looked at. A
// connection whose reads are short has one of them run at once; all others wait
// for a turn at the gate.
func (c *connection) startReads() {
	if c.inLine || c.reading >= c.srv.limits.Concurrency || len(c.reads) == 0 {
		return
	}
	if k := c.reads[0]; k.state != dropped && k.after > c.done {
		return
	}
	if c.reading == 0 && c.short.brief() {
		if k := c.nextRead(); k != nil {
			c.reading++
			c.srv.run(func() { c.runRead(k) })
		}
		return
	}
	c.inLine = true
	c.srv.gate.enter(c)
}

// nextRead takes the next read that may run out of the queue. mu is held.
func (c *connection) nextRead() *call {
	for len(c.reads) > 0 {
		k := c.reads[0]
		if k.state != dropped && (k.after > c.done || !k.enter()) {
			return nil
		}
		c.reads[0] = nil
		c.reads = c.reads[1:]
		if k.state != dropped {
			k.state = running
			return k
		}
	}
	c.reads = nil
	return nil
}

// turn runs one read.
func (c *connection) turn() {
	c.mu.Lock()
	c.inLine = false
	k := c.nextRead()
	if k != nil {
		c.reading++
		c.startReads()
	}
	c.mu.Unlock()
	if k != nil {
		c.runRead(k)
	}
}

// runRead runs a read that has been counted.
func (c *connection) runRead(k *call) {
	ctx, cancel := context.WithTimeout(c.ctx, c.srv.limits.ReadTimeout)
	defer cancel()
	c.mu.Lock()
	k.cancel = cancel
	c.mu.Unlock()
	began := time.Now()
	if !k.claimed.Load() {
		c.execute(ctx, k)
	}
	k.leave()
	c.short.took(time.Since(began))
	c.mu.Lock()
	c.reading--
	c.startReads()
	c.mu.Unlock()
}

// queueMutation lets a mutation run after the earlier ones.
func (c *connection) queueMutation(k *call) {
	if k.method.Name == "shutdown" {
		c.session.enter(active, ending)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.accepted++
	c.mutations = append(c.mutations, k)
	c.startMutations()
}

// startMutations has the queue emptied. mu is held.
func (c *connection) startMutations() {
	if !c.mutating && len(c.mutations) > 0 {
		c.mutating = true
		c.srv.run(c.runMutations)
	}
}

// runMutations empties the queue, or stops where the rooms are needed and the
// door is shut. Nothing that a client does ends the context that a mutation runs
// with: what was accepted completes, also when its connection is gone.
func (c *connection) runMutations() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.mutations) > 0 {
		k := c.mutations[0]
		if k.state != dropped && !k.enter() {
			c.mutating = false
			return
		}
		c.mutations[0] = nil
		c.mutations = c.mutations[1:]
		if k.state != dropped {
			k.state = running
			c.mu.Unlock()
			c.execute(context.WithoutCancel(c.ctx), k)
			k.leave()
			c.mu.Lock()
		}
		c.done++
		c.startReads()
	}
	c.mutations = nil
	c.mutating = false
}

// queueJob lets a job run beside everything else.
func (c *connection) queueJob(k *call) {
	c.mu.Lock()
	full := c.jobs >= c.srv.limits.Jobs
	if !full {
		c.jobs++
		c.pending = append(c.pending, k)
		c.startJobs()
	}
	c.mu.Unlock()
	if full {
		c.finish(k, nil, limitError(true, "wait for a job to end", "more than %d jobs run", c.srv.limits.Jobs))
	}
}

// startJobs starts the jobs that need not wait for the rooms. mu is held.
func (c *connection) startJobs() {
	c.pending = slices.DeleteFunc(c.pending, func(k *call) bool {
		begins := k.enter()
		if begins {
			c.startJob(k)
		}
		return begins
	})
}

// startJob starts a job. It goes on when its connection is gone, like a mutation,
// but can be withdrawn. mu is held.
func (c *connection) startJob(k *call) {
	ctx := context.WithoutCancel(c.ctx)
	var cancel context.CancelCauseFunc
	if k.rooms != nil {
		ctx, cancel = c.srv.door.tenancy(ctx)
	} else {
		ctx, cancel = context.WithCancelCause(ctx)
	}
	k.state, k.cancel = running, func() { cancel(nil) }
	c.srv.runningJobs.Add(1)
	c.srv.run(func() {
		c.execute(ctx, k)
		cancel(nil)
		k.leave()
		c.srv.runningJobs.Add(-1)
		c.mu.Lock()
		c.jobs--
		c.mu.Unlock()
	})
}

// withdraw cancels the calls of an id. Reads are answered at once, whatever
// their handlers do about it; a job answers when it has stopped.
func (c *connection) withdraw(id []byte) {
	var gone []*call
	c.mu.Lock()
	for _, k := range c.calls {
		if k.id == nil || !sameID(k.id, id) || k.method == nil {
			continue
		}
		if k.peer == nil && k.here == nil {
			continue // it stands behind the cancellation in the same batch
		}
		mode := k.method.Mode
		switch {
		case k.state == queued && mode != protocol.Control:
			k.state = dropped
			gone = append(gone, k)
		case k.state == running && mode == protocol.Read:
			gone = append(gone, k)
			fallthrough
		case k.state == running && mode == protocol.Job:
			if k.cancel != nil {
				k.cancel()
			}
		}
	}
	c.forgetDropped()
	c.mu.Unlock()
	for _, k := range gone {
		c.finish(k, nil, cancelledError())
	}
}

// forgetDropped takes withdrawn reads and jobs out of their queues, where they
// would stay for as long as those before them. Mutations stay, because reads
// count them. mu is held.
func (c *connection) forgetDropped() {
	withdrawn := func(k *call) bool { return k.state == dropped }
	c.reads = slices.DeleteFunc(c.reads, withdrawn)
	waiting := len(c.pending)
	c.pending = slices.DeleteFunc(c.pending, withdrawn)
	c.jobs -= waiting - len(c.pending)
}

// execute runs a call and replies.
func (c *connection) execute(ctx context.Context, k *call) {
	start := time.Now()
	var enc *encoder
	var e *protocol.Error
	if k.batch != nil && k.method.Mode == protocol.Read && k.batch.full.Load() {
		e = batchTooLarge()
	} else {
		enc, e = c.compute(ctx, k)
	}
	took := time.Since(start)
	k.method.observe(start.Sub(k.arrived), took, e != nil)
	k.method.took(took)
	if c.srv.log.Enabled(ctx, slog.LevelDebug) {
		code := 0
		if e != nil {
			code = e.Code
		}
		c.srv.log.LogAttrs(ctx, slog.LevelDebug, "call", slog.Uint64("conn", c.session.id), slog.Uint64("call", k.slot),
			slog.String("method", k.method.Name), slog.Int("code", code), slog.Int("bytes", len(k.params)), slog.Duration("took", took))
	}
	if e != nil {
		c.finish(k, nil, e)
		return
	}
	c.finish(k, enc.bytes(), nil)
	enc.release()
}

// compute runs the handler of a call and encodes what it returns. A panic ends
// this call and nothing else.
func (c *connection) compute(ctx context.Context, k *call) (enc *encoder, e *protocol.Error) {
	name := k.method.Name
	defer func() {
		if thrown := recover(); thrown != nil {
			enc, e = nil, panicked(ctx, c.srv.log, name, thrown)
		}
	}()
	result, err := k.method.run(ctx, k)
	if err == nil {
		enc, err = encode(result)
	}
	if err != nil {
		err = evicted(ctx, err)
		if k.method.writes() && fault.KindOf(err) == fault.Unavailable {
			c.srv.events.suspectHealth() // the reason may concern every other call
		}
		return nil, toWire(ctx, c.srv.log, name, err)
	}
	if n := int64(len(enc.bytes())); n > c.srv.limits.OutboundBytes-(1<<10) {
		enc.release()
		return nil, limitError(false, "ask for less: with limit, cursor or filters", "the result has %d bytes, more than the connection takes", n)
	}
	return enc, nil
}

// finish replies to a call, unless somebody has. result is used until it
// returns.
func (c *connection) finish(k *call, result []byte, e *protocol.Error) {
	if !k.claimed.CompareAndSwap(false, true) {
		return
	}
	if k.id == nil {
		c.release(k)
		return
	}
	k.failed = e
	if e != nil {
		c.failures.Add(1)
	}
	if k.here != nil {
		c.reply(k, result)
	} else {
		c.respond(k, result, e)
	}
}

// respond has the library reply to a call.
func (c *connection) respond(k *call, result []byte, e *protocol.Error) {
	resp := jsonrpc2.Response{ID: jsonrpc2.ID{Num: k.slot}, Result: (*rawMessage)(&result)}
	if e != nil {
		resp.Error = &jsonrpc2.Error{Code: int64(e.Code), Message: e.Message}
	}
	if k.peer.SendResponse(c.ctx, &resp) != nil {
		c.release(k) // the connection is gone
	}
}

// checkDrained notes the moment when the input has ended and nothing is left
// to be answered or written.
func (c *connection) checkDrained() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inputEnd && !c.finished && len(c.calls) == 0 && c.out.idle() {
		c.finished = true
		close(c.drained)
	}
}

// linger is called when nothing more will be read. A client that has closed its
// half only still gets its replies.
func (c *connection) linger(why error) {
	if !errors.Is(why, io.EOF) && !errors.Is(why, io.ErrUnexpectedEOF) &&
		!errors.As(why, new(*headerError)) && !errors.Is(why, errNesting) {
		return
	}
	c.mu.Lock()
	c.inputEnd = true
	c.mu.Unlock()
	c.checkDrained()
	select {
	case <-c.drained:
		return
	default:
	}
	if c.out.raw != nil {
		c.srv.work.Add(1)
		go func() {
			defer c.srv.work.Done()
			if awaitHangup(c.out.raw) {
				c.cut("")
			}
		}()
	}
	select {
	case <-c.drained:
	case <-c.hangup:
	}
}

// cut ends the connection without waiting for anything. An empty reason is a
// client that went away, which nobody need be told of.
func (c *connection) cut(reason string) {
	c.mu.Lock()
	again := c.ended
	c.ended = true
	for _, k := range c.reads {
		k.state = dropped
	}
	c.room.Broadcast()
	c.mu.Unlock()
	if again {
		return
	}
	if reason != "" {
		c.srv.closing(c, reason)
	}
	close(c.hangup)
	c.cancel()
	c.out.close()
	c.held.close(&c.srv.unfinished)
	_ = c.socket.Close()
}

// end is cut for a connection that the library has closed.
func (c *connection) end() { c.cut("") }

// rejected makes an error that toWire shows with a code of the protocol.
func rejected(e *protocol.Error) error { return (*wireError)(e) }
