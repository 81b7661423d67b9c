package jsonrpc

import (
	"cmp"
	"fmt"
	"net"
	"sync/atomic"
	"time"
)

// Nobody is locked out by connections that others keep open. A client has to introduce
// itself in time. When as many connections are open as may be, a new one evicts one that
// is open: the least active, and first of all one of the client that has most, when that
// is more than its share. So a new client is refused only when it has opened all the others itself. No
// connections are kept in reserve: before a client has spoken, nobody could tell for
// whom.

const (
	// clientShare is which part of all connections a client may have before its own are
	// evicted first: one sixteenth.
	clientShare = 16
	// ownEvictionPause is how often a client that has more than its share, and most of all,
	// may evict one of its own for a new one; in between it is refused, which costs less.
	ownEvictionPause = 10 * time.Millisecond
	// maxEvictedOpen is how many evicted connections may still be ending.
	maxEvictedOpen = 512
)

// activity says how much a connection is used; the least active is evicted first.
type activity int

const (
	uninitialized activity = iota // its client has not introduced itself
	idle                          // nothing is under way
	following                     // its client waits for events or deltas
	busy                          // calls are under way, or replies
)

// notBegun is called when the client has had its time to introduce itself.
func (c *Conn) notBegun() {
	if c.phase.CompareAndSwap(fresh, ending) {
		c.cut(fmt.Sprintf("not initialized within %v", c.srv.limits.InitializeTimeout))
	}
}

// activity says how much the connection is used now.
func (c *Conn) activity() activity {
	c.mu.Lock()
	under := c.inFlight > 0 || len(c.calls) > 0 || c.mutating
	c.mu.Unlock()
	switch {
	case under || !c.out.idle():
		return busy
	case c.phase.Load() == fresh:
		return uninitialized
	case c.srv.follows(c) || c.deltas.any():
		return following
	}
	return idle
}

// toEvict returns the connection that is to be closed for a new one of a process, nil
// when the new one is to be refused: a client evicts no connection of a client that has
// no more of them than itself, nor one of its own that is in use. most is how many can be
// open. mu is held.
func (s *Server) toEvict(pid, most int) *Conn {
	asking := s.processes[pid] // nil for one that has none, or is not known
	// Of who has fewer than another, some may have ended and not be forgotten yet: where
	// all else is busy that takes longer than the pause.
	if asking != nil && asking.overShare(most) && s.hasMost(asking) {
		now := time.Now()
		if now.Sub(asking.lastOwnEviction) < ownEvictionPause {
			return nil
		}
		asking.lastOwnEviction = now
	}
	var least *Conn
	var leastActivity activity
	for _, c := range s.conns {
		if c.evicted {
			continue
		}
		a := c.activity()
		own := asking != nil && c.process == asking
		if own && a >= following || !own && asking != nil && asking.open >= c.process.open {
			continue
		}
		if least == nil || sooner(c, a, least, leastActivity, most) {
			least, leastActivity = c, a
		}
	}
	return least
}

// sooner reports whether a connection is to be evicted before another. mu is held.
func sooner(c *Conn, a activity, other *Conn, otherActivity activity, most int) bool {
	over, otherOver := c.process.overShare(most), other.process.overShare(most)
	if over != otherOver {
		return over
	}
	if over && c.process.open != other.process.open {
		return c.process.open > other.process.open
	}
	return cmp.Or(
		cmp.Compare(a, otherActivity),
		cmp.Compare(other.process.open, c.process.open),
		cmp.Compare(c.lastUsed.Load(), other.lastUsed.Load()),
		cmp.Compare(c.id, other.id),
	) < 0
}

// overShare reports whether a client has more than its share of the connections that can
// be open. Server.mu is held.
func (p *process) overShare(most int) bool {
	return p.open > 1 && clientShare*p.open > most
}

// hasMost reports whether no client has more connections. mu is held.
func (s *Server) hasMost(p *process) bool {
	for _, other := range s.processes {
		if other.open > p.open {
			return false
		}
	}
	return true
}

// evict closes a connection for a new one.
func (s *Server) evict(c *Conn) {
	n := s.evicted.Add(1)
	if s.lastEviction.due() {
		s.log.Warn("too many connections are open: the least active one is closed", "conn", c.id, "evicted", n)
	}
	c.cut("")
}

// refuse closes a connection that is one too many.
func (s *Server) refuse(conn net.Conn) {
	refused := s.refused.Add(1)
	if s.lastRefusal.due() {
		s.log.Warn("connections are refused: too many are open", "open", len(s.connections()), "refused", refused)
	}
	_ = conn.Close()
}

// onceASecond keeps what happens in storms from filling the log.
type onceASecond struct{ last atomic.Pointer[time.Time] } // nil: never

// due reports whether a line may be written now.
func (o *onceASecond) due() bool {
	last := o.last.Load()
	if last != nil && time.Since(*last) <= time.Second {
		return false
	}
	now := time.Now()
	return o.last.CompareAndSwap(last, &now)
}
