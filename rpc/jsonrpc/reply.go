package jsonrpc

import (
	"bytes"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/ctxd/ctxd/rpc/protocol"
)

const (
	headRoom     = 32              // of "Content-Length: N", its line ends included
	pooledBuffer = maxPooledBuffer // larger buffers are left to the collector
)

var (
	buffers = sync.Pool{New: func() any { return new([]byte) }}
	encoder Encoder // of what is not a result: errors and notifications
	nullID  = []byte("null")
)

// emit sends one message in the framing of the connection.
func (c *Conn) emit(write func([]byte) []byte) {
	buf := buffers.Get().(*[]byte)
	b := write(append((*buf)[:0], make([]byte, headRoom)...))
	frame := b[headRoom:]
	if c.in.ByNewline() {
		b = append(b, '\n')
		frame = b[headRoom:]
	} else {
		var head [headRoom]byte
		h := appendHeader(head[:0], len(frame))
		frame = b[headRoom-len(h):]
		copy(frame, h)
	}
	*buf = b
	if c.out.send(frame) && cap(b) <= pooledBuffer {
		buffers.Put(buf)
	}
}

// emitLong sends the reply to a call without a copy of its result, which belongs to the
// outbound from now on. A buffer that has grown is copied by emit instead: what it has to
// spare would wait with it for a slow reader.
func (c *Conn) emitLong(k *Call, result []byte) {
	head := appendResultHead(nil, k.id)
	if c.in.ByNewline() {
		c.out.send(head, result, []byte("}\n"))
		return
	}
	size := len(head) + len(result) + len("}")
	c.out.send(append(appendHeader(nil, size), head...), result, []byte("}"))
}

// appendHeader appends the header of a message of so many bytes.
func appendHeader(b []byte, size int) []byte {
	b = append(b, "Content-Length: "...)
	b = strconv.AppendInt(b, int64(size), 10)
	return append(b, "\r\n\r\n"...)
}

func appendResultHead(b, id []byte) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	return append(b, `,"result":`...)
}

// appendReply appends a whole reply: e when it is not nil, else result as it
// stands.
func appendReply(b, id, result []byte, e *protocol.Error) []byte {
	if e == nil {
		b = append(appendResultHead(b, id), result...)
		return append(b, '}')
	}
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	b = append(b, `,"error":{"code":`...)
	b = strconv.AppendInt(b, int64(e.Code), 10)
	b = append(b, `,"message":`...)
	b = AppendString(b, e.Message)
	if e.Data != nil {
		data, err := encoder.Encode(e.Data)
		if err == nil {
			b = append(b, `,"data":`...)
			b = append(b, data.Bytes()...)
			data.Release()
		}
	}
	return append(b, "}}"...)
}

// reject answers a message that no call can be made of.
func (c *Conn) reject(id []byte, e *protocol.Error) {
	c.failures.Add(1)
	c.emit(func(b []byte) []byte { return appendReply(b, id, nil, e) })
}

// reply sends the reply to a call, or keeps it for its batch, and forgets the
// call.
func (c *Conn) reply(k *Call, result []byte) {
	c.settle(k)
	write := func(b []byte) []byte { return appendReply(b, k.id, result, k.failed) }
	spare := cap(result) - len(result)
	if k.batch == nil {
		if k.failed == nil && len(result) > pooledBuffer && spare < len(result)/8 {
			c.emitLong(k, result)
		} else {
			c.emit(write)
		}
	} else if parts := k.batch.add(k, write, c.srv.limits.OutboundBytes); parts != nil {
		c.emit(func(b []byte) []byte {
			b = append(b, '[')
			b = append(b, bytes.Join(parts, []byte{','})...)
			return append(b, ']')
		})
	}
	c.release(k)
}

// batch collects the replies to a list of requests.
type batch struct {
	full atomic.Bool // further replies would not fit

	mu    sync.Mutex // guards what follows
	parts [][]byte
	left  int
	size  int64
}

// add keeps the reply of one call and returns all replies once they are whole.
// A reply that makes the batch too large for the socket is replaced.
func (b *batch) add(k *Call, write func([]byte) []byte, limit int64) [][]byte {
	part := write(nil)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.size+int64(len(part)) > limit {
		b.full.Store(true)
		part = appendReply(nil, k.id, nil, batchTooLarge())
	}
	b.size += int64(len(part))
	b.parts[k.part] = part
	b.left--
	if b.left > 0 {
		return nil
	}
	return b.parts
}

func batchTooLarge() *protocol.Error {
	return LimitError(false, "send fewer requests in a batch", "the replies of the batch are too large")
}

// Notify sends a notification. It does not wait for the client to read it. The
// error is that of encoding params.
func (c *Conn) Notify(method string, params any) error {
	data, err := encoder.Encode(params)
	if err != nil {
		return err
	}
	defer data.Release()
	c.Push(method, data.Bytes())
	return nil
}

// Push is Notify for params that are JSON already.
func (c *Conn) Push(method string, params []byte) {
	c.emit(func(b []byte) []byte {
		b = append(b, `{"jsonrpc":"2.0","method":`...)
		b = AppendString(b, method)
		b = append(b, `,"params":`...)
		b = append(b, params...)
		return append(b, '}')
	})
}
