package jsonrpc

import (
	"cmp"
	"fmt"
	"net"
	"sync/atomic"
	"time"
)

// Nobody is locked out by connections that others keep open. A client has to introduce
// itself in time. When as many connections are open as may be, an idle one gives way to
// a new one, and those of a client that has very many go before those of others. So a
// new client is refused only when it has opened all the others itself, and there is no
// need to keep connections back for anybody, whom nobody could tell from the rest
// before it has spoken.

const (
	// greedyShare is which part of all connections a client may have before its own give
	// way first.
	greedyShare = 16
	// greedyPause is how often a client that has more than its share may have one of its own
	// idle connections closed for a new one; in between it is refused, which costs less.
	greedyPause = 10 * time.Millisecond
	// leavingAtOnce is how many connections that gave way may still be ending.
	leavingAtOnce = 512
)

// standing says how ready a connection is to give way; the least gives way first.
type standing int

const (
	uninitialized standing = iota // nobody has introduced himself
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

// standing says how ready the connection is to give way.
func (c *Conn) standing() standing {
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

// whoGivesWay returns the connection that is to make room for a new one of a process,
// nil when that one is to be refused: nobody takes the place of a client that has no
// more connections than he, nor of one of his own that he needs. mu is held.
func (s *Server) whoGivesWay(pid int) *Conn {
	newcomer := s.processes[pid] // nil for one that has none, or is not known
	if newcomer != nil && s.greedy(newcomer) {
		now := time.Now()
		if now.Sub(newcomer.lastWay) < greedyPause {
			return nil
		}
		newcomer.lastWay = now
	}
	var best *Conn
	var bestStanding standing
	for _, c := range s.conns {
		if c.gaveWay {
			continue
		}
		st := c.standing()
		own := newcomer != nil && c.process == newcomer
		if own && st >= following || !own && newcomer != nil && newcomer.open >= c.process.open {
			continue
		}
		if best == nil || s.sooner(c, st, best, bestStanding) {
			best, bestStanding = c, st
		}
	}
	return best
}

// sooner reports whether a connection is to give way before another. mu is held.
func (s *Server) sooner(c *Conn, st standing, other *Conn, otherSt standing) bool {
	greedy, otherGreedy := s.greedy(c.process), s.greedy(other.process)
	if greedy != otherGreedy {
		return greedy
	}
	return cmp.Or(
		cmp.Compare(st, otherSt),
		cmp.Compare(other.process.open, c.process.open),
		cmp.Compare(c.lastUsed.Load(), other.lastUsed.Load()),
		cmp.Compare(c.id, other.id),
	) < 0
}

// greedy reports whether a client has more than its share of all connections. mu is
// held.
func (s *Server) greedy(p *process) bool {
	return p.open > 1 && greedyShare*p.open > s.limits.Connections
}

// makeWay ends a connection so that a new one has room.
func (s *Server) makeWay(c *Conn) {
	n := s.madeWay.Add(1)
	if s.lastWay.due() {
		s.log.Warn("too many connections are open: the one that is needed least gives way", "conn", c.id, "gaveWay", n)
	}
	c.cut("")
}

// refuse closes a connection that there is no room for.
func (s *Server) refuse(conn net.Conn) {
	refused := s.refused.Add(1)
	if s.lastRefusal.due() {
		s.log.Warn("connections are refused: too many are open", "open", len(s.connections()), "refused", refused)
	}
	_ = conn.Close()
}

// onceASecond keeps what happens in storms from filling the log.
type onceASecond struct{ last atomic.Int64 } // Unix nanoseconds

// due reports whether a line may be written now.
func (o *onceASecond) due() bool {
	now := time.Now().UnixNano()
	last := o.last.Load()
	return now-last > int64(time.Second) && o.last.CompareAndSwap(last, now)
}
