package rpc

import (
	"context"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// SetHealth replaces what the daemon finds out about itself, unless it is nil, and
// how often it looks. Call it before anybody subscribes.
func (s *Server) SetHealth(round time.Duration, health func() protocol.Health) {
	s.events.Round = round
	if health != nil {
		s.events.Health = func(audience.Reader) protocol.Health { return health() }
	}
}

// Subscribers returns how many connections have a topic.
func (s *Server) Subscribers() int { return s.events.Subscribers() }

// Rooms returns the Deps that calls are let in to; nil while there are none.
func (s *Server) Rooms() *Deps {
	r := s.rooms()
	if r == nil || r.refused != nil {
		return nil
	}
	return r.Deps
}

// Replace exchanges the rooms as admin.restore and admin.check do.
func (s *Server) Replace(ctx context.Context, phase string, change func(old *Deps) (*Deps, error)) error {
	return s.replace(ctx, phase, func(old *rooms) (*Deps, error) { return change(old.Deps) })
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
