package rpc

import (
	"context"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func (r *Rooms) typesPut(ctx context.Context, _ *Session, p protocol.TypePut) (*protocol.TypePutResult, error) {
	t, found, err := r.Entities.PutType(ctx, entities.Type{Name: p.Name, Fields: p.Fields}, p.IfVersion, p.Force)
	if err != nil {
		return nil, err
	}
	if found == nil {
		found = []entities.Diagnostic{}
	}
	return &protocol.TypePutResult{Type: *t, Diagnostics: found}, nil
}

func (r *Rooms) typesGet(_ context.Context, _ *Session, p protocol.TypeName) (*entities.Type, error) {
	if t := r.Entities.Type(p.Name); t != nil {
		return t, nil
	}
	return nil, fault.New(fault.NotFound, "there is no type %q", p.Name).
		WithRef(p.Name).WithHint("types.list shows the declared types")
}

func (r *Rooms) typesList(context.Context, *Session, protocol.Empty) (protocol.TypeList, error) {
	out := protocol.TypeList{Types: []protocol.TypeCount{}}
	for _, t := range r.Entities.Types() {
		out.Types = append(out.Types, protocol.TypeCount{Type: *t, Count: r.Entities.Count(t.Name)})
	}
	return out, nil
}

func (r *Rooms) typesDelete(ctx context.Context, _ *Session, p protocol.TypeDelete) (protocol.TypeName, error) {
	t, err := r.Entities.DeleteType(ctx, p.Name, p.Force)
	if err != nil {
		return protocol.TypeName{}, err
	}
	return protocol.TypeName{Name: t.Name}, nil
}
