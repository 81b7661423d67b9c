package rpc

import (
	"context"
	"time"

	"github.com/ctxd/ctxd/rpc/protocol"
)

func adminConnections(_ context.Context, s *Session, _ protocol.Empty) (protocol.Connections, error) {
	now := time.Now()
	out := protocol.Connections{Connections: []protocol.Connection{}, Totals: s.srv.ConnStats()}
	for _, session := range s.srv.Sessions() {
		c := session.conn.Describe(now)
		session.describe(&c)
		out.Connections = append(out.Connections, c)
	}
	return out, nil
}
