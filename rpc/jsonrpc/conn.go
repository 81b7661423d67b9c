package jsonrpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/socket"
)

// phase is where a connection stands in its life.
type phase = uint32

const (
	fresh  phase = iota // before initialize
	active              // after it
	ending              // after the call that is its last
)

// Conn is one client. It is the stream under the JSON-RPC library and the handler
// above it. Its exported methods may be called concurrently.
type Conn struct {
	srv     *Server
	id      uint64
	process *process // at the other end
	socket  net.Conn
	data    any // what Options.Attach returned
	in      *Reader
	out     *outbound
	held    inbound
	ctx     context.Context // ends with the connection
	cancel  context.CancelFunc
	hangup  chan struct{} // closed when the connection is cut
	drained chan struct{} // closed when the input has ended and every reply is out

	phase     atomic.Uint32
	beginning *time.Timer  // ends the connection when its client does not introduce itself
	lastUsed  atomic.Int64 // when the last message came, in Unix nanoseconds
	evicted   bool         // it is being closed for a new one; under Server.mu

	client atomic.Pointer[string] // the name that Begin was told; nil before

	incoming chan *Call           // from whoever reads to the library; closed at the end of the input
	inline   atomic.Pointer[Call] // that the reader is running; nil while it reads
	leaving  atomic.Bool          // exit has come
	inputErr error                // why nothing more is read; set before incoming is closed

	current *Call              // what Handle is about; of the library's goroutine
	sending *jsonrpc2.Response // of whoever holds the library's send lock

	deltas deltaReceivers

	traffic
	schedule
}

var _ jsonrpc2.ObjectStream = (*Conn)(nil)

// ID returns the number of the connection, unique while the server runs.
func (c *Conn) ID() uint64 { return c.id }

// Data returns what Options.Attach returned for the connection.
func (c *Conn) Data() any { return c.data }

// Context returns a context that ends with the connection.
func (c *Conn) Context() context.Context { return c.ctx }

// Begin is called when the client has introduced itself: from now on it may call
// every method. It reports false when it has done so before.
func (c *Conn) Begin(client string) bool {
	if !c.phase.CompareAndSwap(fresh, active) {
		return false
	}
	c.client.Store(&client)
	c.beginning.Stop()
	return true
}

// Begun reports whether Begin was called.
func (c *Conn) Begun() bool { return c.phase.Load() != fresh }

// Active reports whether the client may call every method.
func (c *Conn) Active() bool { return c.phase.Load() == active }

// Framing names the framing of the connection. It is called by a Control call.
func (c *Conn) Framing() string {
	if c.in.ByNewline() {
		return protocol.FramingNewline
	}
	return protocol.FramingContentLength
}

// Backlog returns how many bytes wait for the client to read them.
func (c *Conn) Backlog() int64 {
	waiting, _ := c.out.backlog()
	return waiting
}

// ReadObject gives the library the next request that is not over yet, as a message
// that is made up: a slot number in place of the id, and nothing of the params.
// The library decodes every message itself into a type that it does not export,
// which took six times as long for a real message of 20 kB (BenchmarkRoundTrip),
// and closes the connection over ids and batches that JSON-RPC allows. What it is
// kept for, who is asked what and when a connection is over, needs the number only.
func (c *Conn) ReadObject(v any) error {
	if c.leaving.Load() {
		c.linger(io.EOF)
		return io.EOF
	}
	k := fence
	for k == fence {
		select {
		case k = <-c.incoming:
		case <-c.hangup:
			return io.EOF
		}
	}
	if k == nil {
		c.linger(c.inputErr)
		return io.EOF
	}
	c.current = k
	msg := []byte(`{"method":""}`)
	if k.id != nil {
		msg = strconv.AppendUint([]byte(`{"method":"","id":`), k.slot, 10)
		msg = append(msg, '}')
	}
	return v.(json.Unmarshaler).UnmarshalJSON(msg)
}

// onSend is called by the library right before WriteObject, under its send lock,
// with what WriteObject can't look into.
func (c *Conn) onSend(_ *jsonrpc2.Request, resp *jsonrpc2.Response) { c.sending = resp }

// WriteObject sends the reply that the library was given, with the id of its call
// again in place of the slot.
func (c *Conn) WriteObject(any) error {
	resp := c.sending
	c.sending = nil
	k := c.slot(resp.ID.Num)
	if k == nil {
		return nil
	}
	c.reply(k, *resp.Result)
	return nil
}

// Close is called by the library, once, when the connection is over.
func (c *Conn) Close() error {
	c.cut("")
	c.abandon()
	c.srv.forget(c)
	return nil
}

// read reads the connection until its input ends or another goroutine has been
// told to read on. What is no request is answered here, what is short runs inline,
// and all else goes to the library.
func (c *Conn) read() {
	for {
		frame, err := c.in.Next()
		if err == nil {
			var on bool
			on, err = c.message(frame)
			if !on {
				return
			}
		} else {
			err = c.unreadable(err)
		}
		if err != nil {
			c.inputErr = err
			close(c.incoming)
			return
		}
	}
}

// unreadable answers what can be answered to a message that was not read whole. An
// error ends the connection.
func (c *Conn) unreadable(err error) error {
	var large *TooLargeError
	var malformed *HeaderError
	switch {
	case errors.As(err, &large):
		c.requests.Add(1)
		if id := large.ID(); id != nil {
			c.reject(id, LimitError(false, "send less at a time", "%s", large.Error()))
		}
		return nil
	case errors.As(err, &malformed):
		c.reject(nullID, NewError(protocol.CodeParse, "the connection is closed, since nothing after this can be read", "%s", malformed.Error()))
		c.srv.offended(c, "malformed header")
	case errors.Is(err, errReadTimeout):
		c.cut(errReadTimeout.Error())
	}
	return err
}

// fence is received by the library when it is through with what came before.
var fence = new(Call)

// pass gives calls to the library. What runs as soon as it is handled, such as
// initialize, has run before anything else is read. It reports whether the
// connection lives.
func (c *Conn) pass(calls []*Call) bool {
	for _, k := range calls {
		immediate := k.method == nil || k.method.Mode == protocol.Control
		if !c.queue(k) || immediate && !c.queue(fence) {
			return false
		}
	}
	return true
}

func (c *Conn) queue(k *Call) bool {
	select {
	case c.incoming <- k:
		return true
	case <-c.hangup:
		return false
	}
}

// message takes a whole message apart and sees to its requests. It reports whether
// this goroutine is to read on; an error ends the connection.
func (c *Conn) message(frame []byte) (on bool, err error) {
	if !ValidUTF8(frame) {
		c.reject(nullID, NewError(protocol.CodeParse, "", "the message is not valid UTF-8"))
		return true, nil
	}
	limits := &c.srv.limits
	s := NewScanner(frame, limits.Nesting)
	s.Space()
	var one [1]Envelope
	list := one[:]
	isBatch := s.Peek() == '['
	if isBatch {
		list, err = readBatch(&s, limits.Batch)
	} else {
		one[0], err = ReadEnvelope(&s)
	}
	if err == nil {
		err = s.End()
	}
	switch {
	case errors.Is(err, errNesting):
		c.reject(nullID, LimitError(false, "the connection is closed", "the message is nested deeper than %d", limits.Nesting))
		c.srv.offended(c, "nested too deeply")
		return true, err
	case err != nil:
		c.reject(nullID, NewError(protocol.CodeParse, "", "%s", err.Error()))
	case isBatch && len(list) == 0:
		c.reject(nullID, NewError(protocol.CodeInvalidRequest, "", "the batch is empty"))
	case len(list) > limits.Batch:
		c.reject(nullID, LimitError(false, "send several batches", "the batch has more than %d requests", limits.Batch))
	case isBatch:
		return c.admit(list, new(batch)), nil
	default:
		return c.admit(list, nil), nil
	}
	return true, nil
}

// admit makes calls of the requests of a message and has them run. It reports
// whether this goroutine is to read on.
func (c *Conn) admit(list []Envelope, b *batch) bool {
	arrived := time.Now()
	c.lastUsed.Store(arrived.UnixNano())
	c.requests.Add(uint64(len(list)))
	var calls []*Call
	for i := range list {
		e := &list[i]
		if e.Reply || e.Invalid == "" && e.Method == nil {
			continue // an answer to a request that we never sent
		}
		k := &Call{conn: c, id: e.ID, params: e.Params, batch: b, arrived: arrived}
		k.place.Init(&c.places)
		if e.Invalid == "" {
			k.find(e.Method)
		} else {
			k.invalid = e.Invalid
			if k.id == nil {
				k.id = nullID
			}
		}
		if b == nil && c.bookInline(k) {
			return c.runInline(k)
		}
		if k.id != nil && b != nil {
			k.part = b.left
			b.left++
		}
		calls = append(calls, k)
	}
	if b != nil {
		b.parts = make([][]byte, b.left)
	}
	c.own(calls)
	return c.pass(c.book(calls))
}

// own makes calls independent of the buffer that they were read into.
func (c *Conn) own(calls []*Call) {
	size := 0
	for _, k := range calls {
		size += len(k.params)
	}
	if size > smallBuffer {
		c.in.Detach()
		return
	}
	for _, k := range calls {
		k.id, k.params = bytes.Clone(k.id), bytes.Clone(k.params)
	}
}

// emptied is called when everything that waited for the client has gone out.
func (c *Conn) emptied() {
	c.checkDrained()
	c.deltas.flush()
	if c.srv.onDrained != nil {
		c.srv.onDrained(c)
	}
}

// checkDrained notes the moment when the input has ended and nothing is left to be
// answered or written.
func (c *Conn) checkDrained() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inputEnd && !c.finished && len(c.calls) == 0 && c.out.idle() {
		c.finished = true
		close(c.drained)
	}
}

// linger is called when nothing more will be read. A client that has closed its
// half only still gets its replies.
func (c *Conn) linger(why error) {
	if !errors.Is(why, io.EOF) && !errors.Is(why, io.ErrUnexpectedEOF) &&
		!errors.As(why, new(*HeaderError)) && !errors.Is(why, errNesting) {
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
			if socket.AwaitHangup(c.out.raw) {
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
func (c *Conn) cut(reason string) {
	c.mu.Lock()
	repeated := c.ended
	c.ended = true
	for _, k := range c.reads {
		k.state = dropped
		c.uncount(k) // it will never be answered
	}
	c.room.Broadcast()
	c.mu.Unlock()
	if repeated {
		return
	}
	if reason != "" {
		c.srv.offended(c, reason)
	}
	close(c.hangup)
	c.beginning.Stop()
	c.cancel()
	c.out.close()
	c.held.close(&c.srv.unfinished)
	c.srv.memory.wake()
	_ = c.socket.Close()
}

// stopReading ends the input of a connection as if its client had closed its half.
// A connection that can't be closed by halves is cut.
func (c *Conn) stopReading() {
	half, ok := c.socket.(interface{ CloseRead() error })
	if !ok || half.CloseRead() != nil {
		c.cut("")
	}
}
