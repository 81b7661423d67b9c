package connect

import (
	"context"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// FindMemory returns the memory of an id, a handle or a number.
func FindMemory(ctx context.Context, cl *client.Client, ref string) (*record.Memory, error) {
	var m record.Memory
	err := cl.Call(ctx, "memory.get", protocol.MemoryRef{Ref: ref}, &m)
	if fault.KindOf(err) == fault.NotFound {
		return nil, term.NotFound("memory", ref).
			WithHint("give an id, a handle or a number, as listed by ctxd memory list")
	}
	return &m, err
}

// FindContext returns the context that a ref means, as contexts.get takes it.
func FindContext(ctx context.Context, cl *client.Client, ref string) (*protocol.ContextFull, error) {
	var c protocol.ContextFull
	err := cl.Call(ctx, "contexts.get", protocol.ContextRef{Ref: ref}, &c)
	if fault.KindOf(err) == fault.NotFound {
		return nil, term.NotFound("context", ref).WithHint("give an id, a handle or a name, as listed by ctxd contexts list --tree")
	}
	return &c, err
}
