package learn

import (
	"context"
	"errors"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/kv"
)

// Stores are the rooms of learning over one store.
type Stores struct {
	Events   *EventLog
	Outcomes *Scorer
	Owner    *Promoter
	Pace     PromotionPace
	// AskInChat has models ask users how the last answer went, until somebody has told.
	AskInChat bool
	Upkeep    *Keeper // nil: nobody keeps facts in order

	noPromotion, noUpkeep bool
	now                   func() time.Time
}

// Options are what the rooms need from elsewhere. The zero value works.
type Options struct {
	Outcomes  ScorerOptions
	AskInChat bool
	Upkeep    *Keeper // over the indexes; nil: nobody keeps facts in order
	// NoPromotion and NoUpkeep have Keep leave these out. Who asks for one of them gets it all the same.
	NoPromotion, NoUpkeep bool
}

// Open opens the rooms.
func Open(db *kv.Store, mem *memory.Store, opts Options) (*Stores, error) {
	scored, err := OpenScorer(db, mem, opts.Outcomes)
	if err != nil {
		return nil, err
	}
	now := opts.Outcomes.Now
	if now == nil {
		now = time.Now
	}
	return &Stores{
		Events: &EventLog{DB: db, Store: mem}, Outcomes: scored, Owner: &Promoter{Memories: mem, Now: now},
		AskInChat: opts.AskInChat, Upkeep: opts.Upkeep, noPromotion: opts.NoPromotion, noUpkeep: opts.NoUpkeep, now: now,
	}, nil
}

// Keep does what is due at the time. idle is how long nobody has called.
func (r *Stores) Keep(ctx context.Context, v *audience.View, idle time.Duration) error {
	if !r.noPromotion && r.Pace.Due(r.now()) {
		if _, err := r.Owner.Run(ctx, v, false); err != nil {
			return err
		}
	}
	if r.noUpkeep || r.Upkeep == nil {
		return nil
	}
	due, err := r.Upkeep.Due(ctx, idle)
	if err != nil || !due {
		return err
	}
	_, err = r.Upkeep.Run(ctx, UpkeepRequest{})
	return err
}

// Flush writes what is not written yet, before the store is closed.
func (r *Stores) Flush(ctx context.Context) { r.Outcomes.Flush(ctx) }

// Forget takes memories that are deleted out of all records of the rooms, in the transaction that deletes them.
func Forget(tx *kv.Tx, ids []string) error {
	return errors.Join(ForgetInEvents(tx, ids), ForgetInOutcomes(tx, ids), ForgetInPairs(tx, ids))
}

// Check tells what does not fit together in the records of the rooms.
func Check(tx *kv.Tx) (problems []string, err error) {
	for _, check := range []func(*kv.Tx) ([]string, error){CheckEvents, CheckOutcomes, CheckPairs} {
		list, err := check(tx)
		problems = append(problems, list...)
		if err != nil {
			return problems, err
		}
	}
	return problems, nil
}

// Mend has the records fit those of the other rooms, in a store that has lost transactions. conversation reports whether
// there is one.
func Mend(tx *kv.Tx, conversation func(tx *kv.Tx, id string) (bool, error)) error {
	return errors.Join(MendEvents(tx), mendOutcomes(tx, conversation), MendPairs(tx))
}
