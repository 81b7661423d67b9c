package kv

import (
	"github.com/tidwall/buntdb"

	"github.com/ctxd/ctxd/entities/kv/commitlog"
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
