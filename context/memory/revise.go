package memory

import (
	"cmp"
	"context"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// Revise runs a transaction in which ReviseTx, CountTx and Adding.Add may be called. fn may run again, from the
// beginning. Behind it, what memoryBank has no room for is archived, none of written.
func (s *Store) Revise(ctx context.Context, fn func(tx *kv.Tx) (written []string, err error)) error {
	var written []string
	err := s.update(ctx, func(tx *kv.Tx) (err error) {
		written, err = fn(tx)
		return err
	})
	if err != nil {
		return err
	}
	return s.keepCap(ctx, written)
}

// ReviseTx changes a memory for the daemon itself, whoever may see it, and returns it as it was and as it is. fn
// replaces lists and does not write into them. A silent change makes no version and leaves UpdatedAt. What a private
// memory is merged into, and what supersedes one, becomes private with what stands on it. The error is NotFound.
func (s *Store) ReviseTx(tx *kv.Tx, id string, silent bool, fn func(m *Record, now time.Time) error) (was, m *Record, err error) {
	return s.reviseTx(tx, nil, id, silent, fn)
}

// ReviseAsTx is ReviseTx for what a reader asked for, who changes the memory as he sees it.
func (s *Store) ReviseAsTx(tx *kv.Tx, v *audience.View, id string, fn func(m *Record, now time.Time) error) (was, m *Record, err error) {
	return s.reviseTx(tx, v, id, false, fn)
}

func (s *Store) reviseTx(tx *kv.Tx, v *audience.View, id string, silent bool,
	fn func(m *Record, now time.Time) error,
) (was, m *Record, err error) {
	if m, err = Records.Get(tx, id); err != nil || m == nil {
		return nil, nil, cmp.Or[error](err, fault.Missing("memory", id))
	}
	now := s.now(tx)
	was, m, err = s.revisedAs(tx, v, m, now, func(m *Record) error { return fn(m, now) })
	if err != nil {
		return nil, nil, err
	}
	if !m.Private {
		if m.Private, err = s.anyPrivate(tx, m.Supersedes); err != nil {
			return nil, nil, err
		}
	}
	if silent && m.Private == was.Private {
		err = s.write(tx, was, m)
	} else {
		err = s.next(tx, was, m, now)
	}
	if err != nil {
		return nil, nil, err
	}
	if m.Private && !was.Private {
		if err := s.hideStanding(tx, []string{id}); err != nil {
			return nil, nil, err
		}
	}
	return was, m, s.passOn(tx, m)
}

// passOn makes private what stands for a private memory: what it was merged into, and what supersedes it.
func (s *Store) passOn(tx *kv.Tx, m *Record) error {
	private, err := s.anyPrivate(tx, []string{m.ID})
	if err != nil || !private {
		return err
	}
	for _, id := range m.Heirs() {
		to, err := Records.Get(tx, id)
		if err != nil {
			return err
		}
		if to == nil || to.Private {
			continue
		}
		if _, _, err := s.ReviseTx(tx, id, false, func(m *Record, _ time.Time) error { m.Private = true; return nil }); err != nil {
			return err
		}
	}
	return nil
}

// anyPrivate reports whether one of some memories is private, or comes from something private.
func (s *Store) anyPrivate(tx *kv.Tx, ids []string) (bool, error) {
	for _, id := range ids {
		m, err := Records.Get(tx, id)
		if err != nil {
			return false, err
		}
		if m == nil {
			continue
		}
		private, err := s.fromPrivate(tx, &m.Source)
		if err != nil || private || m.Private {
			return err == nil, err
		}
	}
	return false, nil
}

// CountTx changes the counters of a memory, which leaves the memory as it is. The error is NotFound.
func (s *Store) CountTx(tx *kv.Tx, id string, fn func(*Use)) error {
	if has, err := Records.Has(tx, id); err != nil || !has {
		return cmp.Or[error](err, fault.Missing("memory", id))
	}
	return s.count(tx, id, fn)
}

// FindTx returns a memory as a reader sees it and its counters, in a transaction; whoever may see it for a nil View. The
// error is NotFound.
func (s *Store) FindTx(tx *kv.Tx, v *audience.View, id string) (*Record, Use, error) {
	m, err := Records.Get(tx, id)
	if v != nil && err == nil {
		m, err = s.findTx(tx, v, id)
	}
	if err != nil || m == nil {
		return nil, Use{}, cmp.Or[error](err, fault.Missing("memory", id))
	}
	if m, _, err = s.faceTx(tx, v, m); err != nil {
		return nil, Use{}, err
	}
	u, err := uses.Get(tx, id)
	if u == nil {
		u = &Use{}
	}
	return m, *u, err
}

// Counters returns the counters of a memory as they are stored. O(1).
func (s *Store) Counters(id string) Use {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if u := s.use[id]; u != nil {
		return *u
	}
	return Use{}
}
