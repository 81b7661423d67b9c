package kv

import (
	"context"
	"strconv"

	"github.com/ctxd/ctxd/entities/fault"
)

// formatKey holds the format of the records, written by the transaction that
// brought them into it. No collection can have a name like that.
const formatKey = "!format"

// stampFormat adds the format to the writes of a transaction when the store
// is not marked with it yet. Called with the writer lock held.
func (s *Store) stampFormat(writes []write) []write {
	if s.format == s.opts.Format {
		return writes
	}
	old, had := s.latest(formatKey)
	return append(writes, write{key: formatKey, raw: strconv.Itoa(s.opts.Format), old: old, had: had})
}

// checkFormat refuses a store whose records are newer than the program.
func (s *Store) checkFormat() error {
	raw, ok := s.latest(formatKey)
	if !ok {
		return nil
	}
	format, err := strconv.Atoi(raw)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "the store does not say which format it has")
	}
	if format > s.opts.Format {
		return fault.New(fault.Unavailable, "the store has records of format %d, this program knows formats up to %d",
			format, s.opts.Format).WithHint("install the newer version of ctxd that wrote it")
	}
	s.format = format
	return nil
}

// upgrade brings the records of an older store into the program's format.
func (s *Store) upgrade() error {
	from := s.format
	if s.opts.Upgrade == nil || s.seq.Load() == 0 || from == s.opts.Format {
		return nil
	}
	return s.Update(context.Background(), func(tx *Tx) error {
		tx.upgrades = true
		return s.opts.Upgrade(tx, from)
	})
}
