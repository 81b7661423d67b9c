package rpc

import (
	"context"

	"github.com/ctxd/ctxd/rpc/protocol"
)

func eventsSubscribe(_ context.Context, s *Session, p protocol.EventTopics) (protocol.EventTopics, error) {
	return s.events.Subscribe(p)
}

func eventsUnsubscribe(_ context.Context, s *Session, p protocol.EventTopics) (protocol.EventTopics, error) {
	return s.events.Unsubscribe(p)
}

// HealthChanged has those who subscribed to health.changed told soon, if the
// health is another than they know. It may be called at any time, and waits for
// nothing.
func (s *Server) HealthChanged() { s.events.SuspectHealth() }
