package jsonrpc

import (
	"io"
	"time"
)

// IdleWatch is the clock of OnIdle.
type IdleWatch struct{ w idleWatch }

// NewIdleWatch starts the clock.
func NewIdleWatch(after time.Duration, notify func(), busy func() bool) *IdleWatch {
	i := &IdleWatch{idleWatch{after: after, notify: notify, busy: busy}}
	i.w.begin()
	return i
}

// Enter, Leave and Stop are what the server does.
func (i *IdleWatch) Enter() { i.w.enter() }
func (i *IdleWatch) Leave() { i.w.leave() }
func (i *IdleWatch) Stop()  { i.w.stop() }

// BeThrifty is beThrifty.
var BeThrifty = beThrifty

// Places are the figures of the places for reads.
func (s *Server) Places() PoolStats { return s.places.Figures() }

// Processes is how many clients are known by their process.
func (s *Server) Processes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.processes)
}

// SetSpare says how the descriptor is opened that is kept for when there is no other.
func (s *Server) SetSpare(open func() (io.Closer, error)) { s.openSpare = open }

// Replies are how many bytes of long replies are booked, and how many replies wait.
func (s *Server) Replies() (making int64, waiting int) {
	s.replies.mu.Lock()
	defer s.replies.mu.Unlock()
	return s.replies.making, len(s.replies.queue)
}
