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
	"time"
	"unicode/utf8"

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

// guessID finds the id in the beginning of a message that is too large, so that
// its caller need not wait for an answer that never comes. null when it does not
// stand there.
func guessID(prefix []byte) []byte {
	s := scanner{data: prefix, limit: 128}
	var id []byte
	if s.space(); s.peek() == '{' {
		// The text ends in the middle: the error is the end of the search.
		_ = s.object(func(key []byte) error {
			start := s.pos
			if err := s.value(); err != nil {
				return err
			}
			if string(key) == `"id"` && validID(s.data[start:s.pos]) && s.pos < len(s.data) {
				id = s.data[start:s.pos]
			}
			return nil
		})
	}
	if id == nil {
		return []byte("null")
	}
	return id
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
	ctx     context.Context // ends with the connection
	cancel  context.CancelFunc
	hangup  chan struct{} // closed when the connection is cut
	drained chan struct{} // closed when the input has ended and every reply is out

	// Of the goroutine that reads.
	backlog []*call // requests of a batch that the library has not seen yet
	current *call   // what Handle is about

	leaving bool // exit has come

	sending *jsonrpc2.Response // of whoever holds the library's send lock

	schedule
}

var _ jsonrpc2.ObjectStream = (*connection)(nil)

// ReadObject gives the library its next request: a slot number instead of the
// id, and nothing else of it. What is no request is answered here.
func (c *connection) ReadObject(v any) error {
	for len(c.backlog) == 0 {
		if c.leaving {
			c.linger(io.EOF)
			return io.EOF
		}
		frame, err := c.in.next()
		var large *largeError
		var malformed *headerError
		switch {
		case err == nil:
			err = c.message(frame)
		case errors.As(err, &large):
			c.refuse(guessID(large.prefix), limitError(false, "send less at a time", "%s", large.Error()))
			err = nil
		case errors.As(err, &malformed):
			c.refuse([]byte("null"), protocolError(protocol.CodeParse, "the connection is closed: nothing after it can be understood", "%s", malformed.msg))
			c.srv.closing(c, "malformed header")
		case errors.Is(err, errFrameTimeout):
			c.cut(errFrameTimeout.Error())
		}
		if err != nil {
			c.linger(err)
			return io.EOF
		}
	}
	k := c.backlog[0]
	c.backlog[0] = nil
	c.backlog = c.backlog[1:]
	c.current = k
	msg := []byte(`{"method":""}`)
	if k.id != nil {
		msg = strconv.AppendUint([]byte(`{"method":"","id":`), k.slot, 10)
		msg = append(msg, '}')
	}
	return v.(json.Unmarshaler).UnmarshalJSON(msg)
}

// message takes a whole message apart: its requests go to the backlog.
func (c *connection) message(frame []byte) error {
	if !utf8.Valid(frame) {
		c.refuse([]byte("null"), protocolError(protocol.CodeParse, "", "the message is not valid UTF-8"))
		return nil
	}
	s := scanner{data: frame, limit: c.srv.limits.Nesting}
	s.space()
	var list []envelope
	var err error
	isBatch := s.peek() == '['
	if isBatch {
		err = s.array(func() error {
			e, err := s.envelope()
			// Of a batch that is too long only the count is of interest.
			if len(list) <= c.srv.limits.Batch {
				list = append(list, e)
			}
			return err
		})
	} else {
		list = make([]envelope, 1)
		list[0], err = s.envelope()
	}
	if err == nil {
		err = s.end()
	}
	null := []byte("null")
	switch {
	case errors.Is(err, errNesting):
		c.refuse(null, limitError(false, "the connection is closed", "the message is nested deeper than %d", c.srv.limits.Nesting))
		c.srv.closing(c, "nested too deeply")
		return err
	case err != nil:
		c.refuse(null, protocolError(protocol.CodeParse, "", "%s", err.Error()))
	case isBatch && len(list) == 0:
		c.refuse(null, protocolError(protocol.CodeInvalidRequest, "", "the batch is empty"))
	case len(list) > c.srv.limits.Batch:
		c.refuse(null, limitError(false, "send several batches", "the batch has more than %d requests", c.srv.limits.Batch))
	case isBatch:
		c.admit(list, new(batch))
	default:
		c.admit(list, nil)
	}
	return nil
}

// admit makes calls of the requests of a message and answers what is none.
func (c *connection) admit(list []envelope, b *batch) {
	arrived := time.Now()
	calls := make([]*call, 0, len(list))
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
		if k.id != nil && b != nil {
			k.part = b.left
			b.left++
		}
		calls = append(calls, k)
	}
	if b != nil {
		b.parts = make([][]byte, b.left)
	}
	c.backlog = c.book(calls)
}

// refuse answers a message that no call can be made of.
func (c *connection) refuse(id []byte, e *protocol.Error) {
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
	c.settle(k)
	write := func(b []byte) []byte { return appendReply(b, k.id, *resp.Result, k.failed) }
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
	return nil
}

// add keeps the reply of one call and returns all replies once they are whole.
// A reply that makes the batch too large for the socket is replaced.
func (b *batch) add(k *call, write func([]byte) []byte, limit int64) [][]byte {
	part := write(nil)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.size+int64(len(part)) > limit {
		part = appendReply(nil, k.id, nil, limitError(false, "send fewer requests in a batch", "the replies of the batch are too large"))
	}
	b.size += int64(len(part))
	b.parts[k.part] = part
	if b.left--; b.left > 0 {
		return nil
	}
	return b.parts
}

// notify sends a notification.
func (c *connection) notify(method string, params any) error {
	enc, err := encode(params)
	if err != nil {
		return err
	}
	defer enc.release()
	c.emit(func(b []byte) []byte {
		b = append(b, `{"jsonrpc":"2.0","method":`...)
		b = appendText(b, method)
		b = append(b, `,"params":`...)
		b = append(b, enc.bytes()...)
		return append(b, '}')
	})
	return nil
}

// Close is called by the library when the connection is over.
func (c *connection) Close() error {
	c.end()
	return nil
}
