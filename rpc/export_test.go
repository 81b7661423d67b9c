package rpc

import (
	"strconv"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// SetHealth replaces what the daemon finds out about itself, unless it is nil, and
// how often it looks. Call it before anybody subscribes.
func (s *Server) SetHealth(round time.Duration, health func() protocol.Health) {
	s.events.round = round
	if health != nil {
		s.events.assess = func(audience.Reader) protocol.Health { return health() }
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
		h.add(&event{topic: protocol.NotesTopic, kind: protocol.ChangePut, ids: []string{strconv.Itoa(i)}, seq: uint64(i)})
	}
	return len(h.kinds[protocol.NotesTopic])
}

// Subscribers returns how many connections have a topic.
func (s *Server) Subscribers() int {
	s.events.mu.Lock()
	defer s.events.mu.Unlock()
	return len(s.events.subs)
}

// Rooms returns the rooms that calls are let in to; nil while there are none.
func (s *Server) Rooms() *Rooms {
	r := s.rooms()
	if r == nil || r.refused != nil {
		return nil
	}
	return r
}

// Encode returns the JSON of a result.
func Encode(v any) (string, error) {
	e, err := encoder.Encode(v)
	if err != nil {
		return "", err
	}
	defer e.Release()
	return string(e.Bytes()), nil
}

// JoinProgress is how reports that wait are joined.
var JoinProgress = joinProgress

// RecordTopics are the topics whose events come from commits.
func RecordTopics() (list []protocol.TopicNumber) {
	for _, t := range recordTopics {
		list = append(list, t.topic)
	}
	return list
}
