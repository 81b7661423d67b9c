package jsonrpc

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ctxd/ctxd/rpc/socket"
)

// outbound writes the replies of one connection. Nobody waits for its reader:
// a reply goes into the socket at once when it fits, else it waits in a queue
// that a goroutine of its own empties. A queue that grows too long or does not
// move ends the connection.
type outbound struct {
	conn  net.Conn
	raw   syscall.RawConn   // nil: every write goes through the queue
	now   *socket.TryWriter // of raw; used under mu
	limit int64
	stall time.Duration
	total *ledger
	sent  *atomic.Int64       // bytes that went out or wait
	cut   func(reason string) // ends the connection; called without mu held
	empty func()              // the queue ran empty; called without mu held

	mu       sync.Mutex // guards everything below
	queue    [][]byte
	writing  bool // the goroutine runs
	closed   bool
	waiting  int64     // bytes in the queue
	progress time.Time // when the last byte went out
}

func newOutbound(conn net.Conn, l Limits, total *ledger) *outbound {
	o := &outbound{conn: conn, limit: l.OutboundBytes, stall: l.WriteStall, total: total}
	if sc, ok := conn.(syscall.Conn); ok {
		if raw, err := sc.SyscallConn(); err == nil {
			o.raw, o.now = raw, socket.NewTryWriter(raw)
		}
	}
	return o
}

// send writes a frame, which may come in parts, or queues it. It does not block. The
// bytes belong to the outbound from now on, unless it reports that they are written.
func (o *outbound) send(parts ...[]byte) (written bool) {
	o.mu.Lock()
	if o.closed {
		o.mu.Unlock()
		return true
	}
	n := int64(0)
	for _, rest := range parts {
		o.sent.Add(int64(len(rest)))
		if !o.writing {
			rest = rest[o.now.Try(rest):]
			if len(rest) == 0 {
				continue
			}
			o.writing = true
			o.progress = time.Now()
			go o.drain()
		}
		o.queue = append(o.queue, rest)
		n += int64(len(rest))
	}
	if n == 0 {
		o.mu.Unlock()
		return true
	}
	o.waiting += n
	own, all := o.waiting > o.limit, o.total.add(n)
	o.mu.Unlock()
	if own {
		o.cut("replies wait for a slow reader beyond the limit of a connection")
	} else if all {
		o.total.exceeded()
	}
	return false
}

// drain empties the queue and ends.
func (o *outbound) drain() {
	for {
		o.mu.Lock()
		if len(o.queue) == 0 || o.closed {
			o.writing = false
			o.queue = nil
			o.mu.Unlock()
			o.empty()
			return
		}
		frame := o.queue[0]
		o.queue[0] = nil
		o.queue = o.queue[1:]
		o.mu.Unlock()
		if err := o.write(frame); err != nil {
			return
		}
	}
}

// write writes frame whole. It looks for progress several times within the
// stall limit, so that a reader that stopped is cut by the limit and not long
// after it, and one that is slow but reads is not cut.
func (o *outbound) write(frame []byte) error {
	step := o.stall / 8
	for len(frame) > 0 {
		_ = o.conn.SetWriteDeadline(time.Now().Add(step))
		n, err := o.conn.Write(frame)
		frame = frame[n:]
		now := time.Now()
		stalled := o.moved(n, now)
		if err == nil {
			continue
		}
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() {
			o.cut("")
			return err
		}
		if stalled > o.stall-step {
			o.cut("no progress on a write")
			return err
		}
	}
	// A TryWriter fails on a deadline that has passed.
	return o.conn.SetWriteDeadline(time.Time{})
}

// moved books n bytes that went out and returns for how long none has.
func (o *outbound) moved(n int, now time.Time) (stalled time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n > 0 {
		o.progress = now
		if o.closed {
			o.sent.Add(int64(n)) // close took it for dropped
		} else {
			o.waiting -= int64(n)
			o.total.add(-int64(n))
		}
	}
	return now.Sub(o.progress)
}

// backlog returns how many bytes wait and since when none has gone out.
func (o *outbound) backlog() (waiting int64, progress time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.waiting, o.progress
}

// idle reports whether nothing waits to be written.
func (o *outbound) idle() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.writing
}

// close drops what waits. The connection is closed by the caller.
func (o *outbound) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.queue = nil
	o.total.add(-o.waiting)
	o.sent.Add(-o.waiting)
	o.waiting = 0
}

// book counts what still goes out, or turns out not to, elsewhere: the figures
// of the connection have been taken, by the function, at this moment.
func (o *outbound) book(taken func() *atomic.Int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sent = taken()
}

// ledger adds up what waits in all outbounds of a server.
type ledger struct {
	limit    int64
	exceeded func() // ends connections until the limit holds; called without locks held
	bytes    atomic.Int64

	thrift thrift // while a quarter of the limit waits
}

// add books n bytes and reports whether that passed the limit.
func (l *ledger) add(n int64) bool {
	now := l.bytes.Add(n)
	l.thrift.set(now > l.limit/4)
	return now > l.limit && n > 0
}
