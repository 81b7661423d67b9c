package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// envelope is a request as it stands in its message.
type envelope struct {
	version bool   // "jsonrpc": "2.0" is there
	id      []byte // nil for a notification
	method  []byte // with its quotes; nil when missing
	params  []byte // nil when missing
	reply   bool   // it is an answer to somebody
	wrong   string // why it is no request, "" when it is one
}

// envelope walks over one element of a message and finds the members of a
// request.
func (s *scanner) envelope() (e envelope, err error) {
	if s.peek() != '{' {
		e.wrong = "a request is an object"
		return e, s.value()
	}
	var seen uint8
	err = s.object(func(key []byte) error {
		start := s.pos
		if err := s.value(); err != nil {
			return err
		}
		value := s.data[start:s.pos]
		if bytes.IndexByte(key, '\\') >= 0 {
			key = appendText(nil, unquote(key))
		}
		var bit uint8
		switch string(key) {
		case `"jsonrpc"`:
			bit, e.version = 1, string(value) == `"2.0"`
		case `"id"`:
			bit, e.id = 2, value
		case `"method"`:
			bit, e.method = 4, value
		case `"params"`:
			bit, e.params = 8, value
		case `"result"`, `"error"`:
			e.reply = true
		}
		if seen&bit != 0 {
			e.wrong = "a member is given twice: " + string(key)
		}
		seen |= bit
		return nil
	})
	if err == nil && e.wrong == "" {
		e.wrong = e.check()
	}
	if e.id != nil && !validID(e.id) {
		e.id = nil
	}
	e.reply = e.reply && e.method == nil
	return e, err
}

func (e *envelope) check() string {
	switch {
	case e.id != nil && !validID(e.id):
		return "an id is a text, a number or null"
	case !e.version:
		return `the member "jsonrpc" is not "2.0"`
	case e.method == nil:
		return "the method is missing"
	case e.method[0] != '"':
		return "the method is not a text"
	}
	if e.params != nil {
		if c := e.params[0]; c != '{' && c != '[' && c != 'n' {
			return "the params are neither an object nor a list"
		}
	}
	return ""
}

func validID(id []byte) bool {
	c := id[0]
	return c == '"' || c == 'n' || c == '-' || c >= '0' && c <= '9'
}

// sameID reports whether two ids are the same value. Texts may be escaped in
// different ways.
func sameID(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	return a[0] == '"' && b[0] == '"' && unquote(a) == unquote(b)
}

// batch collects the replies to a list of requests.
type batch struct {
	full atomic.Bool // further replies would not fit

	mu    sync.Mutex // guards what follows
	parts [][]byte
	left  int
	size  int64
}

// connection is one client. It is the stream under the JSON-RPC library and the
// handler above it.
type connection struct {
	srv     *Server
	socket  net.Conn
	session *Session
	in      *frames
	out     *outbound
	held    inbound
	ctx     context.Context // ends with the connection
	cancel  context.CancelFunc
	hangup  chan struct{} // closed when the connection is cut
	drained chan struct{} // closed when the input has ended and every reply is out

	heard   chan *call           // from whoever reads to the library; closed at the end of the input
	busy    atomic.Pointer[call] // that the reader is running; nil while it reads
	leaving atomic.Bool          // exit has come
	why     error                // why nothing more is read; set before heard is closed

	current *call              // what Handle is about; of the library's goroutine
	sending *jsonrpc2.Response // of whoever holds the library's send lock

	traffic
	schedule
}

var _ jsonrpc2.ObjectStream = (*connection)(nil)

// ReadObject gives the library the next request that is not over yet: a slot
// number instead of the id, and nothing else of it.
func (c *connection) ReadObject(v any) error {
	if c.leaving.Load() {
		c.linger(io.EOF)
		return io.EOF
	}
	k := fence
	for k == fence {
		select {
		case k = <-c.heard:
		case <-c.hangup:
			return io.EOF
		}
	}
	if k == nil {
		c.linger(c.why)
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

// lead reads the connection until its input ends or another goroutine has been
// told to read on. What is no request is answered here, what is brief is run
// here, and all else goes to the library.
func (c *connection) lead() {
	for {
		frame, err := c.in.next()
		if err == nil {
			var on bool
			if on, err = c.message(frame); !on {
				return
			}
		} else {
			err = c.mishap(err)
		}
		if err != nil {
			c.why = err
			close(c.heard)
			return
		}
	}
}

// mishap answers what can be answered to a message that was not read whole. An
// error ends the connection.
func (c *connection) mishap(err error) error {
	var large *largeError
	var malformed *headerError
	switch {
	case errors.As(err, &large):
		c.requests.Add(1)
		if id := large.gist.id(); id != nil {
			c.refuse(id, limitError(false, "send less at a time", "%s", large.Error()))
		}
		return nil
	case errors.As(err, &malformed):
		c.refuse([]byte("null"), protocolError(protocol.CodeParse, "the connection is closed: nothing after it can be understood", "%s", malformed.msg))
		c.srv.closing(c, "malformed header")
	case errors.Is(err, errFrameTimeout):
		c.cut(errFrameTimeout.Error())
	}
	return err
}

// fence is received by the library when it is through with what came before.
var fence = new(call)

// pass gives calls to the library. What runs as soon as it is handled, such as
// initialize, has run before anything else is read. It reports whether the
// connection lives.
func (c *connection) pass(calls []*call) bool {
	for _, k := range calls {
		atOnce := k.method == nil || k.method.Mode == protocol.Control
		if !c.hear(k) || atOnce && !c.hear(fence) {
			return false
		}
	}
	return true
}

func (c *connection) hear(k *call) bool {
	select {
	case c.heard <- k:
		return true
	case <-c.hangup:
		return false
	}
}

// message takes a whole message apart and sees to its requests. It reports
// whether this goroutine is to read on; an error ends the connection.
func (c *connection) message(frame []byte) (on bool, err error) {
	null := []byte("null")
	if !validText(frame) {
		c.refuse(null, protocolError(protocol.CodeParse, "", "the message is not valid UTF-8"))
		return true, nil
	}
	s := scanner{data: frame, limit: c.srv.limits.Nesting}
	s.space()
	var one [1]envelope
	list := one[:]
	isBatch := s.peek() == '['
	if isBatch {
		list, err = s.batch(c.srv.limits.Batch)
	} else {
		one[0], err = s.envelope()
	}
	if err == nil {
		err = s.end()
	}
	switch {
	case errors.Is(err, errNesting):
		c.refuse(null, limitError(false, "the connection is closed", "the message is nested deeper than %d", c.srv.limits.Nesting))
		c.srv.closing(c, "nested too deeply")
		return true, err
	case err != nil:
		c.refuse(null, protocolError(protocol.CodeParse, "", "%s", err.Error()))
	case isBatch && len(list) == 0:
		c.refuse(null, protocolError(protocol.CodeInvalidRequest, "", "the batch is empty"))
	case len(list) > c.srv.limits.Batch:
		c.refuse(null, limitError(false, "send several batches", "the batch has more than %d requests", c.srv.limits.Batch))
	case isBatch:
		return c.admit(list, new(batch)), nil
	default:
		return c.admit(list, nil), nil
	}
	return true, nil
}

// batch takes the elements of a list apart. Of a list that is too long only the
// count is of interest.
func (s *scanner) batch(limit int) (list []envelope, err error) {
	err = s.array(func() error {
		e, err := s.envelope()
		if len(list) <= limit {
			list = append(list, e)
		}
		return err
	})
	return list, err
}

// admit makes calls of the requests of a message and has them run. It reports
// whether this goroutine is to read on.
func (c *connection) admit(list []envelope, b *batch) bool {
	arrived := time.Now()
	c.requests.Add(uint64(len(list)))
	var calls []*call
	for i := range list {
		e := &list[i]
		if e.reply || e.wrong == "" && e.method == nil {
			continue // an answer to a request that we never sent
		}
		k := &call{conn: c, id: e.id, params: e.params, batch: b, arrived: arrived}
		if e.wrong == "" {
			k.find(e.method)
		} else {
			k.invalid = e.wrong
			if k.id == nil {
				k.id = []byte("null")
			}
		}
		if b == nil && c.runsHere(k) {
			return c.runHere(k)
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
func (c *connection) own(calls []*call) {
	size := 0
	for _, k := range calls {
		size += len(k.params)
	}
	if size > smallBuffer {
		c.in.detach()
		return
	}
	for _, k := range calls {
		k.id, k.params = bytes.Clone(k.id), bytes.Clone(k.params)
	}
}

// refuse answers a message that no call can be made of.
func (c *connection) refuse(id []byte, e *protocol.Error) {
	c.failures.Add(1)
	c.emit(func(b []byte) []byte { return appendReply(b, id, nil, e) })
}

const (
	headRoom     = 32       // of "Content-Length: N", its line ends included
	pooledBuffer = 64 << 10 // larger buffers are left to the collector
)

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// emit sends one message in the framing of the connection.
func (c *connection) emit(write func([]byte) []byte) {
	buf := buffers.Get().(*[]byte)
	b := write(append((*buf)[:0], make([]byte, headRoom)...))
	frame := b[headRoom:]
	if c.in.mode == byNewline {
		b = append(b, '\n')
		frame = b[headRoom:]
	} else {
		var head [headRoom]byte
		h := append(head[:0], "Content-Length: "...)
		h = strconv.AppendInt(h, int64(len(frame)), 10)
		h = append(h, "\r\n\r\n"...)
		frame = b[headRoom-len(h):]
		copy(frame, h)
	}
	*buf = b
	if c.out.send(frame) && cap(b) <= pooledBuffer {
		buffers.Put(buf)
	}
}

// appendReply appends a whole reply: e when it is not nil, else result as it
// stands.
func appendReply(b, id, result []byte, e *protocol.Error) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	if e == nil {
		b = append(b, `,"result":`...)
		b = append(b, result...)
		return append(b, '}')
	}
	b = append(b, `,"error":{"code":`...)
	b = strconv.AppendInt(b, int64(e.Code), 10)
	b = append(b, `,"message":`...)
	b = appendText(b, e.Message)
	if e.Data != nil {
		if enc, err := encode(e.Data); err == nil {
			b = append(b, `,"data":`...)
			b = append(b, enc.bytes()...)
			enc.release()
		}
	}
	return append(b, "}}"...)
}

// onSend is called by the library right before WriteObject, under its send
// lock, with what WriteObject can't look into.
func (c *connection) onSend(_ *jsonrpc2.Request, resp *jsonrpc2.Response) { c.sending = resp }

// WriteObject sends the reply that the library was given, with the id of its
// call again in place of the slot.
func (c *connection) WriteObject(any) error {
	resp := c.sending
	c.sending = nil
	k := c.slot(resp.ID.Num)
	if k == nil {
		return nil
	}
	c.reply(k, *resp.Result)
	return nil
}

// reply sends the reply to a call, or keeps it for its batch, and forgets the
// call.
func (c *connection) reply(k *call, result []byte) {
	c.settle(k)
	write := func(b []byte) []byte { return appendReply(b, k.id, result, k.failed) }
	if k.batch == nil {
		c.emit(write)
	} else if parts := k.batch.add(k, write, c.srv.limits.OutboundBytes); parts != nil {
		c.emit(func(b []byte) []byte {
			b = append(b, '[')
			b = append(b, bytes.Join(parts, []byte{','})...)
			return append(b, ']')
		})
	}
	c.release(k)
}

// add keeps the reply of one call and returns all replies once they are whole.
// A reply that makes the batch too large for the socket is replaced.
func (b *batch) add(k *call, write func([]byte) []byte, limit int64) [][]byte {
	part := write(nil)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.size+int64(len(part)) > limit {
		b.full.Store(true)
		part = appendReply(nil, k.id, nil, batchTooLarge())
	}
	b.size += int64(len(part))
	b.parts[k.part] = part
	if b.left--; b.left > 0 {
		return nil
	}
	return b.parts
}

func batchTooLarge() *protocol.Error {
	return limitError(false, "send fewer requests in a batch", "the replies of the batch are too large")
}

// notify sends a notification.
func (c *connection) notify(method string, params any) error {
	enc, err := encode(params)
	if err != nil {
		return err
	}
	defer enc.release()
	c.push(method, enc.bytes())
	return nil
}

// Close is called by the library, once, when the connection is over.
func (c *connection) Close() error {
	c.end()
	c.srv.forget(c)
	return nil
}
