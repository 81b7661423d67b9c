package kv

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/buntdb"

	"github.com/ctxd/ctxd/entities/kv/disk"
)

// overlay holds the writes of transactions that are accepted but not yet
// durable. Only writers look at it, which is why a View never sees them.
//
// A transaction leaves the overlay after its writes are in the committed
// store, so a writer that looks here first and there second misses nothing.
type overlay struct {
	mu sync.RWMutex
	m  map[string]queued
}

type queued struct {
	raw     string
	deleted bool
	seq     uint64
}

func (o *overlay) add(p *pending) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.m == nil {
		o.m = make(map[string]queued)
	}
	for i := range p.writes {
		w := &p.writes[i]
		o.m[w.key] = queued{w.raw, w.deleted, p.seq}
	}
}

// remove forgets the writes of p, except where a later transaction wrote
// again.
func (o *overlay) remove(p *pending) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range p.writes {
		key := p.writes[i].key
		if q, ok := o.m[key]; ok && q.seq == p.seq {
			delete(o.m, key)
		}
	}
	if len(o.m) == 0 && len(p.writes) > manyWrites {
		o.m = nil // a map keeps the room that it once had
	}
}

func (o *overlay) clear() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.m = nil
}

func (o *overlay) get(key string) (queued, bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	q, ok := o.m[key]
	return q, ok
}

// latest returns what the key holds after every accepted transaction. Called
// with the writer lock held.
func (s *Store) latest(key string) (string, bool) {
	if q, ok := s.overlay.get(key); ok {
		return q.raw, !q.deleted
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
	// The overlay is held still while the committed store is read: a
	// transaction that moves over in between is then seen in both, never in
	// neither.
	s.overlay.mu.RLock()
	defer s.overlay.mu.RUnlock()
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
	var over []disk.Pair
	gone := make(map[string]bool)
	for key, q := range s.overlay.m {
		switch {
		case key < from || !last && key >= to || !strings.HasPrefix(key, prefix):
		case q.deleted:
			gone[key] = true
		default:
			over = append(over, disk.Pair{Key: key, Value: q.raw})
		}
	}
	slices.SortFunc(over, func(a, b disk.Pair) int { return strings.Compare(a.Key, b.Key) })
	if len(gone) > 0 {
		kept := chunk[:0]
		for _, p := range chunk {
			if !gone[p.Key] {
				kept = append(kept, p)
			}
		}
		chunk = kept
	}
	return mergePairs(chunk, over), to, last
}

// mergePairs merges two lists in key order; on the same key that of b stays.
func mergePairs(a, b []disk.Pair) []disk.Pair {
	if len(b) == 0 {
		return a
	}
	out := make([]disk.Pair, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].Key < b[0].Key:
			out, a = append(out, a[0]), a[1:]
		case a[0].Key > b[0].Key:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, b[0]), a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
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
