package rpc

import (
	"context"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// callReader is for whom a call reads and writes.
type callReader struct {
	View   *audience.View
	Client string // the name that the program gave at initialize

	Queue *CallQueue // of calls that wait for the other machines of a shared store; nil: none waits
}

// Begin begins a call that may wait for the other machines. params are those of the handler.
func (r callReader) Begin(ctx context.Context, method string, params any) (context.Context, *DeferrableCall) {
	return r.Queue.Begin(ctx, method, r.View.Reader(), r.Client, params)
}

// Waits says of a record whether it waits.
func (r callReader) Waits(id string) record.Waits {
	return record.Waits{Pending: r.Queue.Pending()[id]}
}

// chosenIDError is what a remote reader is told who chooses the id of a new record: whether a private one has it shall not show.
func chosenIDError(what, id, field string) error {
	if err := entities.CheckID(field, id); err != nil {
		return err
	}
	err := fault.New(fault.NotFound, "no %s with id %q, and a remote connection cannot choose the id of a new one", what, id).
		WithRef(id).
		WithHint("leave out the id, and the record gets one")
	err.Field = field
	return err
}
