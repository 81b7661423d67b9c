package connect

import (
	"context"
	"strings"

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

// FindContext returns the context of an id or a handle, or of a name that only one context has.
func FindContext(ctx context.Context, cl *client.Client, ref string) (*protocol.ContextFull, error) {
	var c protocol.ContextFull
	err := cl.Call(ctx, "contexts.get", protocol.ContextRef{Ref: ref}, &c)
	if fault.KindOf(err) != fault.NotFound {
		return &c, err
	}
	var all protocol.ContextList
	if err := cl.Call(ctx, "contexts.list", protocol.ContextFilter{Tree: true}, &all); err != nil {
		return nil, err
	}
	var named []fault.Candidate
	for _, c := range all.Contexts {
		if strings.EqualFold(c.Name, ref) {
			named = append(named, fault.Candidate{ID: c.ID, Name: c.Name})
		}
	}
	switch len(named) {
	case 0:
		return nil, term.NotFound("context", ref).WithHint("give an id, a handle or a name, as listed by ctxd contexts tree")
	case 1:
		return &c, cl.Call(ctx, "contexts.get", protocol.ContextRef{Ref: named[0].ID}, &c)
	}
	return nil, fault.New(fault.Conflict, "%d contexts are called %q", len(named), ref).
		WithHint("give the id of one of them").WithCandidates(named)
}
