package shared

import (
	"context"

	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// Attend does what is due twice a minute.
func (r *Replica) Attend(ctx context.Context) error { return r.maintain(ctx) }

// AppendNothing appends an entry without transactions, as a machine does that reserves a turn.
func (r *Replica) AppendNothing(ctx context.Context, format int) error {
	at, _ := r.store().Replica()
	_, err := r.log.Append(ctx, at.Position, (&outbox.Entry{ID: outbox.NewWriterID().NewID(), Format: format}).Encode())
	return err
}

// FailedState notes what came of a snapshot, nil: it was written.
func (r *Replica) FailedState(ctx context.Context, err error) { r.triedState(ctx, err) }
