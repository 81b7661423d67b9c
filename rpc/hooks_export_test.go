package rpc

import (
	"strconv"
	"time"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// SetHealth replaces what the daemon finds out about itself, unless it is nil, and
// how often it looks. Call it before anybody subscribes.
func (s *Server) SetHealth(round time.Duration, health func() protocol.Health) {
	if s.events.round = round; health != nil {
		s.events.assess = health
	}
}

// Bounds of what is kept for a subscriber that does not read.
const (
	HeldBytes = heldBytes
	ListedIDs = listedIDs
)

// HeldAfter returns how many ids are kept for a subscriber that does not read
// after so many changes of a note each.
func HeldAfter(changes int) int {
	h := newHeld()
	for i := range changes {
		h.add(&event{topic: notesBit, kind: protocol.ChangePut, ids: []string{strconv.Itoa(i)}, seq: uint64(i)})
	}
	return len(h.kinds[notesBit])
}

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

// PollUntil is how a process is watched where the system does not tell.
var PollUntil = pollUntil

// Subscribers returns how many connections have a topic.
func (s *Server) Subscribers() int {
	s.events.mu.Lock()
	defer s.events.mu.Unlock()
	return len(s.events.subs)
}

// Rooms returns the rooms that calls are let in to; nil while there are none.
func (s *Server) Rooms() *Rooms {
	if r := s.door.rooms.Load(); r != nil && r.refused == nil {
		return r
	}
	return nil
}
