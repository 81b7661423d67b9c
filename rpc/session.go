package rpc

import (
	"sync"
	"sync/atomic"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/rpc/jsonrpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Session is what handlers know of the connection that a call came on. It may
// be used concurrently.
type Session struct {
	srv  *Server
	conn *jsonrpc.Conn

	mu        sync.Mutex // guards what follows
	client    protocol.PeerInfo
	processID int
	framing   string

	remote atomic.Bool // private records do not exist for the client

	events *eventSubscription
}

// sessionOf returns the session of a connection.
func sessionOf(c *jsonrpc.Conn) *Session { return c.Data().(*Session) }

// ID returns the number of the connection, unique while the daemon runs.
func (s *Session) ID() uint64 { return s.conn.ID() }

// Client returns the program at the other end as it named itself, the zero
// value before initialize.
func (s *Session) Client() protocol.PeerInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client
}

// Reader returns who reads what the connection is answered. Before initialize nobody
// has said, and a client is local.
func (s *Session) Reader() audience.Reader {
	if s.remote.Load() {
		return audience.Remote
	}
	return audience.Local
}

// ProcessID returns the client's process, 0 when it did not say.
func (s *Session) ProcessID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.processID
}

// describe fills in what the client said of itself and subscribed to.
func (s *Session) describe(out *protocol.Connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out.Client, out.PID, out.Framing = s.client, s.processID, s.framing
	out.Topics = s.events.Topics()
	if out.PID == 0 {
		out.PID = s.conn.PeerPID()
	}
}

// Done is closed when the connection ends.
func (s *Session) Done() <-chan struct{} { return s.conn.Context().Done() }

// Notify sends a notification to the client. It does not wait for the client
// to read it, and drops it when the connection has not been initialized or has
// ended. The error is that of encoding params.
func (s *Session) Notify(method string, params any) error {
	if !s.conn.Begun() {
		return nil
	}
	return s.conn.Notify(method, params)
}
