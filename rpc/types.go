package rpc

import (
	"context"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func (c scope) typesPut(ctx context.Context, _ *Session, p protocol.TypePut) (*protocol.TypePutResult, error) {
	t, found, err := c.entities.PutType(ctx, entities.Type{Name: p.Name, Fields: p.Fields}, p.IfVersion, p.Force)
	if err != nil {
		return nil, err
	}
	if found == nil {
		found = []entities.Diagnostic{}
	}
	return &protocol.TypePutResult{Type: *t, Diagnostics: found}, nil
}

func (c scope) typesGet(_ context.Context, _ *Session, p protocol.TypeGet) (*entities.Type, error) {
	return c.view.FindType(p.Ref, p.Vault)
}

func noType(name string) error {
	return fault.New(fault.NotFound, "there is no type %q", name).
		WithRef(name).WithHint("types.list shows the declared types")
}

func (c scope) typesList(context.Context, *Session, protocol.ReadAll) (protocol.TypeList, error) {
	out := protocol.TypeList{Types: []protocol.TypeCount{}}
	for _, t := range c.view.Types() {
		out.Types = append(out.Types, protocol.TypeCount{Type: *t, Count: c.view.Count(t)})
	}
	return out, nil
}

func (c scope) typesDelete(ctx context.Context, _ *Session, p protocol.TypeDelete) (protocol.TypeName, error) {
	t, err := c.entities.DeleteType(ctx, p.Name, p.Vault, p.Force)
	if err != nil {
		return protocol.TypeName{}, err
	}
	return protocol.TypeName{Name: t.Name, Vault: t.Vault}, nil
}
