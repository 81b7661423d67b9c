package rpc

import (
	"context"

	"github.com/ctxd/ctxd/chat/tools"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func toolsList(_ context.Context, _ *Session, p protocol.ToolsList) (protocol.Tools, error) {
	return protocol.Tools{Tools: tools.List(p.Write)}, nil
}

func (c scope) toolsCall(ctx context.Context, _ *Session, p protocol.ToolCall) (*record.ToolResult, error) {
	return c.tools.Call(ctx, tools.CallEnv{View: c.view, MaxText: p.MaxChars}, p.Name, p.Arguments)
}
