package jsonrpc

import (
	"cmp"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/socket"
)

// traffic counts what goes over a connection, or went over those that are
// closed.
type traffic struct {
	opened            time.Time
	requests          atomic.Uint64 // calls and notifications
	failures          atomic.Uint64 // answers that were errors
	bytesIn, bytesOut atomic.Int64
}

// add counts the traffic of a connection that is over.
func (t *traffic) add(of *traffic) {
	t.requests.Add(of.requests.Load())
	t.failures.Add(of.failures.Load())
	t.bytesIn.Add(of.bytesIn.Load())
	t.bytesOut.Add(of.bytesOut.Load())
}

// addTo counts it in the figures that a client sees.
func (t *traffic) addTo(out *protocol.ConnStats) {
	out.Requests += t.requests.Load()
	out.Errors += t.failures.Load()
	out.BytesIn += t.bytesIn.Load()
	out.BytesOut += t.bytesOut.Load()
}

// meter is a connection that counts what is read from it.
type meter struct {
	net.Conn
	count *atomic.Int64
}

func (m meter) Read(p []byte) (int, error) {
	n, err := m.Conn.Read(p)
	m.count.Add(int64(n))
	return n, err
}

// ConnStats counts the connections.
func (s *Server) ConnStats() protocol.ConnStats {
	open := s.connections()
	out := protocol.ConnStats{
		Open: len(open), Accepted: s.accepted.Load(), Refused: s.refused.Load(), Cut: s.cuts.Load(),
		OutboundBytes: s.waiting.bytes.Load(), Evicted: s.evicted.Load(),
	}
	places := s.places.Figures()
	out.ReadsRunning, out.ReadsLong, out.ReadsWaiting = places.Running, places.Long, places.Waiting
	s.memory.addTo(&out)
	s.closed.addTo(&out)
	clients := map[*process]bool{}
	for _, c := range open {
		clients[c.process] = true
		if !c.Begun() {
			out.Uninitialized++
		}
		c.traffic.addTo(&out)
		inFlight, calls := c.snapshot(time.Time{})
		out.InFlight += inFlight
		out.Queued += queuedOf(calls)
	}
	out.Clients = len(clients)
	return out
}

func queuedOf(calls []protocol.ConnCall) (n int) {
	for _, k := range calls {
		if k.State == protocol.CallQueued {
			n++
		}
	}
	return n
}

// snapshot returns the calls in progress, oldest first.
func (c *Conn) snapshot(now time.Time) (inFlight int, calls []protocol.ConnCall) {
	c.mu.Lock()
	inFlight = c.inFlight
	calls = make([]protocol.ConnCall, 0, len(c.calls)+1)
	for _, k := range c.calls {
		if k.method != nil && k.state != dropped {
			calls = k.show(calls, now, k.state == running || k.method.Mode == protocol.Control)
		}
	}
	c.mu.Unlock()
	// A call that the reader runs stands in no list until it has run for long.
	if k := c.inline.Load(); k != nil && !slices.ContainsFunc(calls, func(other protocol.ConnCall) bool { return other.Call == k.slot }) {
		calls = k.show(calls, now, true)
	}
	slices.SortFunc(calls, func(a, b protocol.ConnCall) int { return cmp.Compare(a.Call, b.Call) })
	return inFlight, calls
}

// show adds a call to those shown, unless it is being answered.
func (k *Call) show(list []protocol.ConnCall, now time.Time, begun bool) []protocol.ConnCall {
	if k.claimed.Load() {
		return list
	}
	state := protocol.CallQueued
	if begun {
		state = protocol.CallRunning
	}
	return append(list, protocol.ConnCall{
		Call: k.slot, Method: k.method.Name, State: state, ForMS: max(0, now.Sub(k.arrived).Milliseconds()),
	})
}

// Describe returns what is known here of a connection: all but what its client said
// and subscribed to.
func (c *Conn) Describe(now time.Time) protocol.Connection {
	inFlight, calls := c.snapshot(now)
	return protocol.Connection{
		ID: c.id, OpenedAt: c.opened.UTC(), Requests: c.requests.Load(), Errors: c.failures.Load(),
		InFlight: inFlight, Queued: queuedOf(calls), BytesIn: c.bytesIn.Load(), BytesOut: c.bytesOut.Load(),
		WaitingBytes: c.Backlog(), Calls: calls,
	}
}

// PeerPID returns the process at the other end as the system knows it, 0 when it
// does not say.
func (c *Conn) PeerPID() int { return socket.PeerPID(c.socket) }
