package jsonrpc

import (
	"sync"
	"sync/atomic"
	"time"
)

// inbound is what the buffer of one connection holds of a message that has not
// come to its end. Small buffers are not counted: every connection has one.
type inbound struct {
	mu     sync.Mutex // guards what follows
	bytes  int64
	since  time.Time // when the message outgrew the small buffer
	closed bool
}

// unfinished adds up the inbounds of all connections.
type unfinished struct {
	limit int64
	bytes atomic.Int64
}

// hold books that the buffer of a connection has grown, or shrunk, by n bytes.
// Whoever takes the sum over the limit has the oldest unfinished messages cut.
func (s *Server) hold(c *Conn, n int) {
	in := &c.held
	in.mu.Lock()
	if in.closed {
		in.mu.Unlock()
		return
	}
	if in.bytes == 0 {
		in.since = time.Now()
	}
	in.bytes += int64(n)
	over := s.unfinished.bytes.Add(int64(n)) > s.unfinished.limit && n > 0
	in.mu.Unlock()
	if over {
		s.shedUnfinished()
	}
}

// close lets go of what is held.
func (in *inbound) close(all *unfinished) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.closed = true
	all.bytes.Add(-in.bytes)
	in.bytes = 0
}

// oldest returns since when something is held.
func (in *inbound) oldest() (since time.Time, held bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.since, in.bytes > 0
}

// shedUnfinished ends the connections whose unfinished messages began first,
// until the rest is under the limit.
func (s *Server) shedUnfinished() {
	s.shed(func() bool { return s.unfinished.bytes.Load() > s.unfinished.limit },
		func(c *Conn) (time.Time, bool) { return c.held.oldest() },
		"unfinished messages are beyond the limit of the daemon, and this is the oldest")
}
