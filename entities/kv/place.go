package kv

import (
	"github.com/tidwall/buntdb"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/commitlog"
	"github.com/ctxd/ctxd/entities/kv/disk"
	"github.com/ctxd/ctxd/entities/kv/replicate"
)

// Kept returns the position from which a start would go on now: that of the newest entry that
// holds transactions. Replica tells of the others, too. It is zero without a log.
func (s *Store) Kept() (at Position) {
	_ = s.db.View(func(b *buntdb.Tx) error { // a closed store has none
		raw, err := b.Get(logKey)
		if err != nil {
			return err
		}
		place, err := commitlog.ParsePlace(raw)
		at = place.Position
		return err
	})
	return at
}

// settle has an upgrade begin with everything of the older format that is in the log. Where it
// can't be used, the upgrade begins with what is here.
func (s *Store) settle(tx *Tx, from int) error {
	raw, known := s.latest(logKey)
	at, err := commitlog.ParsePlace(raw)
	if s.opts.Log == nil || s.opts.Leave || !known || err != nil {
		return nil //nolint:nilerr // openReplica says what is wrong
	}
	at, err = replicate.Settle(s.opts.Log, at, from, s.opts.Format, func(w commitlog.Write) error {
		if isLocal(disk.Pair{Key: w.Key}) {
			return fault.New(fault.Unavailable, "another machine wrote a record that this one can't have")
		}
		return tx.write(w.Key, w.Value, w.Deleted, nil)
	})
	at.Unmarked = err != nil
	if at.Unmarked {
		s.log.Warn("kv: the records are brought into a newer format without all that other machines have written", "err", err)
	}
	return tx.put(logKey, at.String(), nil)
}
