package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

func inBank(m *Record) bool { return m.Tier == record.TierBank && m.Status == record.MemoryActive }

// keepCap archives of the active memories of the tier memoryBank those that are worth least, until
// there are no more than may be. What was just written stays, and so does what is pinned or always
// injected. It runs behind the write, whose transaction cannot see what others are about to write.
func (s *Store) keepCap(ctx context.Context, written []string) error {
	over, excess := s.overCap(written)
	if excess <= 0 {
		return nil
	}
	return s.archiveAll(ctx, over[:min(excess, len(over))], inBank)
}

// roomInBank refuses more active memories of the tier memoryBank than can be there beside those that
// may not be archived.
func (s *Store) roomInBank(more int) error {
	if more == 0 {
		return nil
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	n := s.kept + more
	if most := s.opts.Limits.Bank; n > most {
		return fault.TooLarge("tier", n, most, "active memories of the tier memoryBank").
			WithHint("those that are pinned or always injected are never archived: unpin or archive one of them")
	}
	return nil
}

// overCap returns what may be archived of the bank, what is worth least first, and how many have to be.
func (s *Store) overCap(written []string) (list []string, excess int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	excess = s.bank - s.opts.Limits.Bank
	if excess <= 0 {
		return nil, 0
	}
	var all []*Record
	for _, m := range s.byID {
		if inBank(m) && !m.Pinned && !m.AlwaysInject && !slices.Contains(written, m.ID) {
			all = append(all, m)
		}
	}
	worth := func(m *Record) Use {
		if u := s.use[m.ID]; u != nil {
			return *u
		}
		return Use{}
	}
	at := func(t *time.Time) time.Time {
		if t == nil {
			return time.Time{}
		}
		return *t
	}
	now := s.opts.Now()
	slices.SortFunc(all, func(a, b *Record) int {
		ua, ub := worth(a), worth(b)
		return cmp.Or(cmp.Compare(qualityAt(a, now), qualityAt(b, now)),
			cmp.Compare(wilson(&ua), wilson(&ub)),
			at(ua.LastUsedAt).Compare(at(ub.LastUsedAt)), cmp.Compare(a.Number, b.Number))
	})
	for _, m := range all {
		list = append(list, m.ID)
	}
	return list, excess
}

// Expire archives memories whose time in their tier is over. It returns how many.
func (s *Store) Expire(ctx context.Context) (int, error) {
	now := s.opts.Now()
	list, err := s.ended(ctx, now)
	if err != nil {
		return 0, err
	}
	for group := range slices.Chunk(list, forgetGroup) {
		err := s.archiveAll(ctx, group, func(m *Record) bool { return s.expired(m, now) })
		if err != nil {
			return 0, err
		}
	}
	return len(list), nil
}

// ended returns the memories whose time in their tier is over. A memory was not written before one with a smaller
// number: that of a clock which stood in the past, and was set right since, is counted from the latest of those.
func (s *Store) ended(ctx context.Context, now time.Time) (list []string, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var over []*Record
	for _, m := range s.byID {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		bare, _ := m.without(func(string) bool { return true })
		if (s.expired(m, now) || s.expired(bare, now)) && !lastsBeyondHistory(&m.MemoryRecord, s.use[m.ID]) {
			over = append(over, m)
		}
	}
	if len(over) == 0 {
		return nil, nil
	}
	log := newWriteTimes(now, len(s.byID))
	for _, m := range s.byID {
		log.Add(m.Number, m.CreatedAt)
	}
	latest := log.Latest()
	for _, m := range over {
		if since := latest(m.Number); since.After(m.TierSince) {
			later := *m
			later.TierSince = since
			bare, _ := later.without(func(string) bool { return true })
			if !s.expired(&later, now) && !s.expired(bare, now) {
				continue
			}
		}
		list = append(list, m.ID)
	}
	slices.Sort(list)
	return list, nil
}

func (s *Store) expired(m *Record, now time.Time) bool {
	if !m.Current() && m.Status != record.MemoryDeprecated || m.Pinned || m.AlwaysInject {
		return false
	}
	switch m.Tier {
	case record.TierWorking:
		return !now.Before(m.TierSince.Add(s.opts.Limits.Working))
	case record.TierHistory:
		return !now.Before(m.TierSince.Add(s.opts.Limits.History))
	}
	return false
}

// archiveAll archives memories that are still what made them be chosen.
func (s *Store) archiveAll(ctx context.Context, list []string, still func(*Record) bool) error {
	return s.db.Update(ctx, func(tx *kv.Tx) error {
		now := s.now(tx)
		for _, id := range list {
			m, err := Records.Get(tx, id)
			if err != nil {
				return err
			}
			if m == nil {
				continue
			}
			was := *m
			if still(m) {
				m.Status = record.MemoryArchived
			} else if m, err = s.archivedAs(tx, m, still, now); err != nil || m == nil {
				if err != nil {
					return err
				}
				continue
			}
			if err := s.next(tx, &was, m, now); err != nil {
				return err
			}
		}
		return nil
	})
}
