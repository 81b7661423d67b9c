package kv

import (
	"errors"
	"strings"

	"github.com/tidwall/buntdb"

	"github.com/ctxd/ctxd/entities/kv/disk"
)

// queueWrites has writers see what p wrote.
func (s *Store) queueWrites(p *pending) {
	s.overlay.Add(p.seq, len(p.writes), func(i int) (key, raw string, deleted bool) {
		w := &p.writes[i]
		return w.key, w.raw, w.deleted
	})
}

// latest returns what the key holds after every accepted transaction. Called
// with the writer lock held.
func (s *Store) latest(key string) (string, bool) {
	if q, ok := s.overlay.Get(key); ok {
		return q.Raw, !q.Deleted
	}
	b, err := s.db.Begin(false)
	if err != nil {
		return "", false // closed, which the writer lock rules out
	}
	defer b.Rollback()
	raw, err := b.Get(key)
	return raw, err == nil
}

// latestRange appends to chunk what keys with the prefix, from the given one
// on, hold after every accepted transaction. last says that the prefix is
// exhausted; otherwise to is the first key not looked at. Called with the
// writer lock held.
func (s *Store) latestRange(chunk []disk.Pair, from, prefix string) (_ []disk.Pair, to string, last bool) {
	return s.overlay.Range(from, prefix, func() (_ []disk.Pair, to string, last bool) {
		b, err := s.db.Begin(false)
		if err != nil {
			return chunk, "", true
		}
		defer b.Rollback()
		last = true
		// Ascending through one's own transaction fails only when it is over.
		_ = b.AscendGreaterOrEqual("", from, func(key, raw string) bool {
			if !strings.HasPrefix(key, prefix) {
				return false
			}
			if len(chunk) == scanChunk {
				to, last = key, false
				return false
			}
			chunk = append(chunk, disk.Pair{Key: key, Value: raw})
			return true
		})
		return chunk, to, last
	})
}

// set brings the committed store to the state after one write and returns
// what was there before.
func set(b *buntdb.Tx, key, raw string, deleted bool) (old string, had bool, err error) {
	if !deleted {
		return b.Set(key, raw, nil)
	}
	old, err = b.Delete(key)
	if errors.Is(err, buntdb.ErrNotFound) {
		return "", false, nil
	}
	return old, err == nil, err
}

// batch puts writes into the memory store without a transaction for each.
func (s *Store) batch() *putBatch {
	return &putBatch{Insert: func(list []pendingPut) error {
		return s.db.Update(func(b *buntdb.Tx) error {
			for i := range list {
				if _, _, err := set(b, list[i].Key, list[i].Value, list[i].Deleted); err != nil {
					return err
				}
			}
			return nil
		})
	}}
}
