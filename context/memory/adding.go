package memory

import (
	"context"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/kv"
)

// Adding is a memory that is to be written down in a transaction that another room begins.
type Adding struct {
	store  *Store
	view   *audience.View
	draft  *Draft
	record *Record
	says   TierStatement
	tx     *kv.Tx // the last one that it was added in

	id   string // of the memory
	same bool   // it was there
}

// Adding checks a draft. The errors are those of Add that need no transaction.
func (s *Store) Adding(v *audience.View, d Draft) (*Adding, error) {
	a, err := s.adding(v, &d)
	if err == nil && inBank(a.record) {
		err = s.roomInBank(1)
	}
	return a, err
}

func (s *Store) adding(v *audience.View, d *Draft) (*Adding, error) {
	m, err := d.Record()
	if err != nil {
		return nil, err
	}
	if d.EntityIDs == nil {
		m.EntityIDs = NamedEntities(v, m.Statement)
	}
	return &Adding{store: s, view: v, draft: d, record: (*Record)(m), says: NewTierStatement(&m.MemoryRecord)}, nil
}

// addTx adds it in a transaction of update, which may call this again, from the beginning.
func (a *Adding) addTx(tx *kv.Tx) (err error) {
	m := *a.record
	a.same, err = a.store.addTx(tx, a.view, a.draft, &m, a.says)
	a.id = m.ID
	return err
}

// Add adds it in a transaction, and in another one when that is tried again. The errors are the others of Store.Add.
// Ended must be called when the transaction has ended, in whatever way.
func (a *Adding) Add(tx *kv.Tx) error {
	a.store.taken.End(a.tx)
	a.tx = tx
	return a.addTx(tx)
}

// Added is the id of the memory, and whether it was there before.
func (a *Adding) Added() (id string, same bool) { return a.id, a.same }

// Ended archives what is worth least when there are too many memories with this one.
func (a *Adding) Ended(ctx context.Context) error {
	a.store.taken.End(a.tx)
	return a.store.keepCap(ctx, []string{a.id})
}
