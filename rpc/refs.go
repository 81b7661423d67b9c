package rpc

import (
	"context"

	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func refsParse(_ context.Context, _ *Session, p protocol.RefsParse) (*refs.Result, error) {
	return refs.Parse(p.Text, refs.Unit(p.Unit))
}
