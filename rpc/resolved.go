package rpc

// This file and resolved_*.go answer refs.resolve: one reference, or several of which each has its own error. They
// find the record that refs.rename is to give another handle. [unresolvedNames] says which names in the fields of
// entities lead to no record. Nothing is kept, and all functions may be called concurrently.

import (
	"context"
	"errors"
	"fmt"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// maxResolvedRefs is how many references one call may have.
const maxResolvedRefs = 100

// resolveReferences says what the ref or each of the refs leads to. toWire writes the error of one of several.
func resolveReferences(ctx context.Context, v *audience.View, r *gather.Resolver, p protocol.RefsResolve,
	toWire func(error) *protocol.Error,
) (*protocol.RefsResolved, error) {
	switch {
	case (p.Ref == "") == (len(p.Refs) == 0):
		return nil, fault.Field("ref", "there is no reference, or ref beside refs").WithHint("give ref, or refs")
	case len(p.Refs) > maxResolvedRefs:
		return nil, fault.TooLarge("refs", len(p.Refs), maxResolvedRefs, "items")
	case p.Ref != "":
		found, err := r.Resolve(ctx, v, p.Ref, p.Limit)
		if err != nil {
			return nil, err
		}
		return &protocol.RefsResolved{Resolved: found}, nil
	}
	out := &protocol.RefsResolved{Results: make([]protocol.RefResult, len(p.Refs))}
	for i, ref := range p.Refs {
		found, err := r.Resolve(ctx, v, ref, p.Limit)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		out.Results[i] = protocol.RefResult{Ref: ref, Resolved: found}
		if err != nil {
			out.Results[i].Error = toWire(ofItem(err, i))
		}
	}
	return out, nil
}

// ofItem has an error name the reference of several that it is about.
func ofItem(err error, i int) error {
	var e *fault.Error
	if !errors.As(err, &e) || e.Field != "ref" {
		return err
	}
	named := *e
	named.Field = fmt.Sprintf("refs[%d]", i)
	return &named
}
