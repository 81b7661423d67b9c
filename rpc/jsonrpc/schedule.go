package jsonrpc

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ctxd/ctxd/entities/yield"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// callState is where a call stands. It changes under schedule.mu.
type callState uint8

const (
	queued callState = iota
	running
	dropped // withdrawn before it ran
)

// Call is one request or notification from its arrival to its reply.
type Call struct {
	conn    *Conn
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
	rejected bool        // too many are in flight
	noRoom   bool        // too much is held for all connections; it is rejected then
	counted  bool        // it counts as in flight
	released bool        // it has been replied to and forgotten

	state             callState
	extra             bool               // a read: it counts among those that its client runs without a place
	waitsForMutations uint64             // a read: how many mutations must be done before it
	entered           *storage           // what is behind the gate that it entered; nil when it needs none
	cancel            context.CancelFunc // a running read or job
	failed            *protocol.Error    // the reply, when it is an error
	inlineContext     *inlineContext     // of an inline call; nil for others
	inlineStorage     inlineContext      // what inlineContext points to

	work  work     // of a mutation, under memory.mu
	reply int64    // bytes that are booked for the reply, under replies.mu
	place poolRead // of a read

	streams atomic.Pointer[callStreams] // nil for a call that has opened none
}

// find looks the method up by its quoted name.
func (k *Call) find(quoted []byte) {
	table := k.conn.srv.methods
	k.method = table[string(quoted[1:len(quoted)-1])]
	if k.method == nil {
		k.name = Unquote(quoted)
		k.method = table[k.name]
	}
}

// schedule decides when the calls of a connection run.
type schedule struct {
	mu       sync.Mutex // guards everything below
	room     sync.Cond  // a call is done, or the connection is
	calls    map[uint64]*Call
	lastSlot uint64
	inFlight int
	underWay int  // bytes of the params of those in flight
	ended    bool // nothing more is read or written
	inputEnd bool // nothing more is read
	finished bool // drained is closed

	reads   []*Call // that wait, in the order of arrival
	reading int
	places  poolConn
	inPool  bool             // in a line for a place
	jobs    map[*jobKind]int // that run or wait for the gate, by kind; nil for none
	pending []*Call          // jobs that wait for the gate

	mutations []*Call // that wait
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
func (c *Conn) book(calls []*Call) []*Call {
	noReply := func(k *Call) bool { return k.id == nil && k.method != nil }
	if slices.ContainsFunc(calls, noReply) {
		c.srv.memory.await(c)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	limit := c.srv.limits.InFlight
	full := c.crowded(limit, 0, 0)
	own, ownBytes := 0, 0 // of this message: they make no room while they are waited for here
	for _, k := range calls {
		if noReply(k) {
			for full && c.crowded(heldBack*limit, own, ownBytes) && !c.ended {
				c.room.Wait()
			}
		}
		c.lastSlot++
		k.slot = c.lastSlot
		k.noRoom = len(k.params) > smallWork/Expansion && c.srv.memory.full()
		k.rejected = (full || k.noRoom) && k.id != nil
		k.counted = !k.rejected && !c.ended // nobody would give it back for what comes after the end
		if k.counted {
			c.inFlight++
			c.underWay += len(k.params)
			c.srv.memory.hold(len(k.params))
			own++
			ownBytes += len(k.params)
		}
		if k.rejected {
			k.params = nil
		}
		c.calls[k.slot] = k
	}
	return calls
}

// crowded reports whether there are limit calls in flight, or they hold more
// than two messages of the largest size. The caller's own calls and their bytes
// are not counted. mu is held.
func (c *Conn) crowded(limit, own, ownBytes int) bool {
	return c.inFlight-own >= limit || c.underWay-ownBytes > 2*c.srv.limits.MessageBytes
}

func (c *Conn) slot(n uint64) *Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[n]
}

// settle makes room for another call: this one is about to be answered. It
// comes before the reply, so that a client that has read it finds the room.
func (c *Conn) settle(k *Call) {
	c.mu.Lock()
	c.uncount(k)
	c.mu.Unlock()
}

// uncount takes a call out of those in flight, once. mu is held.
func (c *Conn) uncount(k *Call) {
	if k.counted {
		k.counted = false
		c.inFlight--
		c.underWay -= len(k.params)
		c.srv.memory.hold(-len(k.params))
		c.room.Signal()
	}
}

// abandon gives back what is held for calls that were read and will never be run: the
// connection has ended before they were handled. It is called when none is any more.
func (c *Conn) abandon() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.calls {
		if k.peer == nil && k.inlineContext == nil {
			c.uncount(k)
		}
	}
}

// release forgets a call whose reply is on its way.
func (c *Conn) release(k *Call) {
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
func (c *Conn) Handle(_ context.Context, peer *jsonrpc2.Conn, _ *jsonrpc2.Request) {
	k := c.current
	c.current = nil
	k.peer = peer
	if k.id == nil && k.method == nil && k.invalid == "" {
		c.notified(k)
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

// notified takes the notifications of the protocol; any other that names no
// method means nothing.
func (c *Conn) notified(k *Call) {
	switch k.name {
	case protocol.NotifyExit:
		c.leaving.Store(true)
	case protocol.NotifyCancel:
		var id []byte
		s := NewScanner(k.params, c.srv.limits.Nesting)
		if s.Peek() != '{' {
			return
		}
		// The params were checked with their message.
		_ = s.Object(func(key []byte) error {
			start := s.Pos()
			err := s.Value()
			if string(key) == `"id"` {
				id = s.Since(start)
			}
			return err
		})
		if id != nil && validID(id) {
			c.withdraw(id)
		}
	}
}

// refusal says why a call is not run at all, nil when it is.
func (c *Conn) refusal(k *Call) *protocol.Error {
	switch {
	case k.invalid != "":
		return NewError(protocol.CodeInvalidRequest, "", "the message is not a request: %s", k.invalid)
	case k.method == nil:
		e := NewError(protocol.CodeMethodNotFound, c.srv.unknown(k.name), "there is no method %q", ClipName(k.name))
		e.Data.Ref = ClipName(k.name)
		return e
	case k.rejected && k.noRoom:
		return LimitError(true, "call again in a moment", "the waiting calls of all connections hold more than %d bytes",
			c.srv.limits.MemoryTotal)
	case k.rejected:
		return LimitError(true, "wait for replies before sending more", "more than %d requests, or %d bytes of them, are unanswered",
			c.srv.limits.InFlight, 2*c.srv.limits.MessageBytes)
	}
	phase := c.phase.Load()
	switch {
	case phase == fresh && !k.method.Early:
		return NewError(protocol.CodeNotInitialized, "call initialize first", "the connection has not been initialized")
	case phase == ending:
		return NewError(protocol.CodeInvalidRequest, "open a new connection", "the connection has been shut down")
	}
	return nil
}

// enter lets a call through the gate, if it needs the store, and reports whether it
// may begin. schedule.mu is held.
func (k *Call) enter() bool {
	if k.method.Storeless {
		return true
	}
	k.entered = k.conn.srv.gate.enter(k.conn)
	return k.entered != nil
}

// leave is called when the handler of a call that has entered is done.
func (k *Call) leave() {
	if k.entered != nil {
		k.conn.srv.gate.Leave()
	}
}

// queueRead lets a read start when every earlier mutation is done and a place
// in the pool is free.
func (c *Conn) queueRead(k *Call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k.waitsForMutations = c.accepted
	c.reads = append(c.reads, k)
	if k.method.Storeless || c.srv.gate.Closed() {
		c.runStoreless()
	}
	c.startReads()
}

// runStoreless has the reads run that need no store: what is before them, or in the
// places, may take long. While the gate is closed they don't wait for
// earlier mutations either. mu is held.
func (c *Conn) runStoreless() {
	closed := c.srv.gate.Closed()
	c.reads = slices.DeleteFunc(c.reads, func(k *Call) bool {
		if k.state == dropped || !k.method.Storeless || !closed && k.waitsForMutations > c.done {
			return false
		}
		k.extra = c.process.addExtra()
		if !k.extra && !closed {
			return false
		}
		c.runAtOnce(k)
		return true
	})
}

// runAtOnce runs a read without a place. mu is held.
func (c *Conn) runAtOnce(k *Call) {
	k.state = running
	c.reading++
	c.srv.run(func() {
		placed := c.runRead(k)
		if placed {
			c.srv.places.Leave()
		}
		c.process.endExtra(k)
	})
}

// startReads has a read start when one may. mu is held. Later reads wait for no
// fewer mutations than earlier ones, so only the first has to be looked at. A
// connection whose reads are short has one of them run at once, of which a client has
// a limited number; all others wait for a place.
func (c *Conn) startReads() {
	if c.inPool || c.reading >= c.srv.limits.Concurrency || len(c.reads) == 0 || c.process.waitingReplies.Load() > 0 {
		return
	}
	first := c.reads[0]
	if first.state != dropped && first.waitsForMutations > c.done {
		return
	}
	if c.reading == 0 && c.places.Short() && c.process.addExtra() {
		k := c.nextRead()
		if k == nil {
			c.process.extra.Add(-1)
			return
		}
		k.extra = true
		c.runAtOnce(k)
		return
	}
	c.inPool = true
	c.places.Enter()
}

// nextRead takes the next read that may run out of the queue. mu is held.
func (c *Conn) nextRead() *Call {
	for len(c.reads) > 0 && c.process.waitingReplies.Load() == 0 {
		k := c.reads[0]
		if k.state != dropped && (k.waitsForMutations > c.done || !k.enter()) {
			return nil
		}
		c.reads[0] = nil
		c.reads = c.reads[1:]
		if k.state != dropped {
			return k
		}
	}
	if len(c.reads) == 0 {
		c.reads = nil
	}
	return nil
}

// turn runs one read on a place that the connection is given, and reports whether the
// place is the caller's again.
func (c *Conn) turn(line poolLine) (placed bool) {
	c.mu.Lock()
	c.inPool = false
	k := c.nextRead()
	if k == nil {
		c.mu.Unlock()
		c.places.Unused(line)
		return true
	}
	k.state = running
	c.reading++
	c.places.Begin(&k.place, line)
	c.startReads()
	c.mu.Unlock()
	return c.runRead(k)
}

// runRead runs a read that has been counted, and reports whether it has a place that it
// no longer needs.
func (c *Conn) runRead(k *Call) (placed bool) {
	ctx, cancel := context.WithTimeout(context.WithValue(c.ctx, yield.Key{}, &k.place), c.srv.limits.ReadTimeout)
	defer cancel()
	c.mu.Lock()
	k.cancel = cancel
	c.mu.Unlock()
	began := time.Now()
	k.place.Start(began)
	if !k.claimed.Load() {
		c.execute(ctx, k)
	}
	k.leave()
	c.tookRead(k, began)
	placed = k.place.End()
	c.mu.Lock()
	c.reading--
	c.startReads()
	c.mu.Unlock()
	return placed
}

// tookRead notes for how long a read has computed.
func (c *Conn) tookRead(k *Call, began time.Time) {
	c.places.Took(time.Since(began) - k.place.Waited())
}

// queueMutation lets a mutation run after the earlier ones.
func (c *Conn) queueMutation(k *Call) {
	if k.method.Last {
		c.phase.CompareAndSwap(active, ending)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.accepted++
	c.mutations = append(c.mutations, k)
	c.startMutations()
}

// startMutations has the queue emptied. mu is held.
func (c *Conn) startMutations() {
	if !c.mutating && len(c.mutations) > 0 {
		c.mutating = true
		c.srv.run(c.runMutations)
	}
}

// resumeMutations is called when the memory that the first mutation takes up was booked.
func (c *Conn) resumeMutations() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.startMutations()
}

// runMutations runs the queued mutations one after the other. It returns when the queue
// is empty, when the first mutation has to wait for memory, or when that one needs the
// store and the gate is closed. A mutation runs with a context that no client can end:
// what was accepted completes, also when its connection is gone.
func (c *Conn) runMutations() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.mutations) > 0 {
		k := c.mutations[0]
		if k.state != dropped && (!c.srv.memory.begin(k) || !k.enter()) {
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
			c.srv.memory.end(k)
			c.mu.Lock()
		}
		c.done++
		c.runStoreless()
		c.startReads()
	}
	c.mutations = nil
	c.mutating = false
}

// withdraw cancels the calls of an id. Reads and interactive jobs are answered at
// once, whatever their handlers do about it; other jobs answer when they have
// stopped.
func (c *Conn) withdraw(id []byte) {
	var gone []*Call
	c.mu.Lock()
	for _, k := range c.calls {
		if k.id == nil || !sameID(k.id, id) || k.method == nil {
			continue
		}
		if k.peer == nil && k.inlineContext == nil {
			continue // it stands behind the cancellation in the same batch
		}
		mode := k.method.Mode
		answerNow := mode == protocol.Read || mode == protocol.Job && k.method.kind.Interactive
		switch {
		case k.state == queued && mode != protocol.Control:
			k.state = dropped
			gone = append(gone, k)
			waited := mode == protocol.Mutation && c.srv.memory.end(k)
			if waited {
				c.startMutations() // which it held up
			}
		case k.state == running && (mode == protocol.Read || mode == protocol.Job):
			if answerNow {
				gone = append(gone, k)
			}
			if k.cancel != nil {
				k.cancel()
			}
		}
	}
	c.forgetDropped()
	c.mu.Unlock()
	for _, k := range gone {
		c.finish(k, nil, Cancelled())
	}
}

// forgetDropped takes withdrawn reads and jobs out of their queues, where they
// would stay for as long as those before them. Mutations stay, because reads
// count them. mu is held.
func (c *Conn) forgetDropped() {
	withdrawn := func(k *Call) bool { return k.state == dropped }
	c.reads = slices.DeleteFunc(c.reads, withdrawn)
	c.pending = slices.DeleteFunc(c.pending, func(k *Call) bool {
		if withdrawn(k) {
			k.method.kind.unbook(c)
		}
		return withdrawn(k)
	})
}

// execute runs a call and replies.
func (c *Conn) execute(ctx context.Context, k *Call) {
	defer c.srv.replies.end(k)
	start := time.Now()
	var result *Buffer
	var e *protocol.Error
	if k.batch != nil && k.method.Mode == protocol.Read && k.batch.full.Load() {
		e = batchTooLarge()
	} else {
		result, e = c.compute(ctx, k)
	}
	if k.method.Mode == protocol.Job {
		c.mu.Lock()
		k.method.kind.unbook(c)
		c.mu.Unlock()
	}
	waited := k.place.Waited()
	took := time.Since(start) - waited
	k.method.observe(start.Sub(k.arrived)+waited, took, e != nil)
	k.method.took(took)
	if c.srv.log.Enabled(ctx, slog.LevelDebug) {
		code := 0
		if e != nil {
			code = e.Code
		}
		c.srv.log.LogAttrs(ctx, slog.LevelDebug, "call", slog.Uint64("conn", c.id), slog.Uint64("call", k.slot),
			slog.String("method", k.method.Name), slog.Int("code", code), slog.Int("bytes", len(k.params)), slog.Duration("took", took))
	}
	if e != nil {
		c.finish(k, nil, e)
		return
	}
	c.finish(k, result.Bytes(), nil)
	result.Release()
}

// compute runs the handler of a call. A panic ends this call and nothing else.
func (c *Conn) compute(ctx context.Context, k *Call) (result *Buffer, e *protocol.Error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			result, e = nil, c.srv.panicked(ctx, &k.method.Method, thrown)
		}
	}()
	result, err := k.method.Run(ctx, k)
	if err != nil {
		return nil, c.srv.failed(ctx, &k.method.Method, err)
	}
	if n := int64(len(result.Bytes())); n > c.srv.limits.OutboundBytes-(1<<10) {
		result.Release()
		return nil, LimitError(false, "ask for less, with limit, cursor or filters", "the result has %d bytes, over the limit of the connection", n)
	}
	return result, nil
}

// finish replies to a call, unless somebody has. result is used until it
// returns.
func (c *Conn) finish(k *Call, result []byte, e *protocol.Error) {
	if !k.claimed.CompareAndSwap(false, true) {
		return
	}
	if k.id == nil {
		c.release(k)
		return
	}
	k.endStreams()
	k.failed = e
	if e != nil {
		c.failures.Add(1)
	}
	if k.inlineContext != nil {
		c.reply(k, result)
	} else {
		c.respond(k, result, e)
	}
}

// respond has the library reply to a call.
func (c *Conn) respond(k *Call, result []byte, e *protocol.Error) {
	resp := jsonrpc2.Response{ID: jsonrpc2.ID{Num: k.slot}, Result: (*json.RawMessage)(&result)}
	if e != nil {
		resp.Error = &jsonrpc2.Error{Code: int64(e.Code), Message: e.Message}
	}
	if k.peer.SendResponse(c.ctx, &resp) != nil {
		c.release(k) // the connection is gone
	}
}
