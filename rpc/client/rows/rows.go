package rows

import (
	"context"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql/columns"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Call calls a method of the daemon.
type Call func(ctx context.Context, method string, params, result any) error

// NewReader makes a Reader for the types that there are. call may be nil for one that only looks fields up.
func NewReader(types []protocol.TypeCount, call Call) *columns.Reader {
	list := make([]*record.Type, len(types))
	for i := range types {
		list[i] = &types[i].Type
	}
	return columns.NewReader(list, func(ctx context.Context, id string) (*columns.Entity, error) {
		var e protocol.EntityFull
		if err := call(ctx, "entities.get", protocol.EntityGet{Ref: id, Resolve: 1}, &e); err != nil {
			return nil, err
		}
		return Entity(&e), nil
	})
}

// Entity is an entity of the daemon as a Reader has it.
func Entity(e *protocol.EntityFull) *columns.Entity {
	return &columns.Entity{Entity: &e.Entity, TypeVault: e.TypeVault, Fields: e.Fields}
}
