package rpc

import (
	"context"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/found"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// memoryRecaller finds what answers a question, for the reader of a View.
type memoryRecaller interface {
	Search(ctx context.Context, v *audience.View, req recall.Request) (*recall.Result, error)
	Match(ctx context.Context, v *audience.View, text string) (id string, err error)
}

func (c scope) memorySearch(ctx context.Context, _ *Session, p protocol.MemorySearch) (out protocol.MemoryFound, err error) {
	res, err := c.recall.Search(ctx, c.view, found.Asked(&p))
	if err != nil {
		return out, err
	}
	return found.Memories(res), nil
}

// meantMemory returns the id of the memory that a call names by its id or by a text.
func (c scope) meantMemory(ctx context.Context, id, match string) (string, error) {
	switch {
	case (id == "") == (match == ""):
		return "", fault.Field("id", "give either id or match").WithHint("match says which memory is meant, in words")
	case match != "":
		return c.recall.Match(ctx, c.view, match)
	}
	return id, nil
}
