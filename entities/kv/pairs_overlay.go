package kv

// pairs_*.go are what lies beside the ordered set of keys and values of a store: a writeOverlay of
// writes that are accepted and not yet applied, a snapshotCapture of what writes replace while a
// snapshot is written, a putBatch of writes on their way into it, and the merging and changing of
// lists in key order. They know neither the set nor transactions, and have no errors of their own.
//
// A writeOverlay has a lock of its own; a snapshotCapture and a putBatch are for one goroutine, or
// guarded by whoever owns them. Looking up is O(1), a range of an overlay O(writes in it), a range
// of a capture O(log n + keys in it).

import (
	"slices"
	"strings"
	"sync"

	"github.com/ctxd/ctxd/entities/kv/disk"
)

// writeOverlay holds the writes of transactions that are accepted but not yet
// durable. Only writers look at it, which is why a View never sees them.
//
// A transaction leaves the overlay after its writes are in the committed
// store, so a writer that looks here first and there second misses nothing.
type writeOverlay struct {
	mu sync.RWMutex
	m  map[string]queuedState
}

// queuedState is the newest state of a key.
type queuedState struct {
	Raw     string
	Deleted bool
	Seq     uint64 // of the transaction that wrote it
}

// manyOverlayWrites is from where on the room of a transaction's writes is given back.
const manyOverlayWrites = 8

// Add takes in the n writes of a transaction.
func (o *writeOverlay) Add(seq uint64, n int, write func(i int) (key, raw string, deleted bool)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.m == nil {
		o.m = make(map[string]queuedState)
	}
	for i := range n {
		key, raw, deleted := write(i)
		o.m[key] = queuedState{raw, deleted, seq}
	}
}

// Remove forgets the n writes of a transaction, except where a later one wrote
// again.
func (o *writeOverlay) Remove(seq uint64, n int, key func(i int) string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range n {
		k := key(i)
		if q, ok := o.m[k]; ok && q.Seq == seq {
			delete(o.m, k)
		}
	}
	if len(o.m) == 0 && n > manyOverlayWrites {
		o.m = nil // a map keeps the room that it once had
	}
}

// Clear forgets everything.
func (o *writeOverlay) Clear() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.m = nil
}

// Get returns what is queued for a key.
func (o *writeOverlay) Get(key string) (queuedState, bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	q, ok := o.m[key]
	return q, ok
}

// Range returns what committed returns, keys that begin with prefix, from the given one on
// and before to, or up to the end of the prefix when last is set, as they are with what is
// queued.
//
// The overlay is held still while the committed store is read: a
// transaction that moves over in between is then seen in both, never in
// neither.
func (o *writeOverlay) Range(from, prefix string,
	committed func() (chunk []disk.Pair, to string, last bool),
) (_ []disk.Pair, to string, last bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	chunk, to, last := committed()
	var over []disk.Pair
	gone := make(map[string]bool)
	for key, q := range o.m {
		switch {
		case key < from || !last && key >= to || !strings.HasPrefix(key, prefix):
		case q.Deleted:
			gone[key] = true
		default:
			over = append(over, disk.Pair{Key: key, Value: q.Raw})
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

// applyPuts returns a list in key order with writes made, of each key one. It may change the list.
func applyPuts(list []disk.Pair, writes []pendingPut) []disk.Pair {
	var put []disk.Pair
	gone := make(map[string]bool)
	for _, w := range writes {
		if w.Deleted {
			gone[w.Key] = true
		} else {
			put = append(put, w.Pair)
		}
	}
	slices.SortFunc(put, func(a, b disk.Pair) int { return strings.Compare(a.Key, b.Key) })
	return mergePairs(slices.DeleteFunc(list, func(p disk.Pair) bool { return gone[p.Key] }), put)
}

// substitutePairs yields the pairs of next, in key order, with a list in the place of those that drop
// is true for. Neither is kept in memory as a whole but the list.
func substitutePairs(next func([]disk.Pair) ([]disk.Pair, bool, error), drop func(disk.Pair) bool, list []disk.Pair,
) func([]disk.Pair) ([]disk.Pair, bool, error) {
	return func(chunk []disk.Pair) ([]disk.Pair, bool, error) {
		chunk, more, err := next(chunk)
		upTo := len(list)
		if more && len(chunk) > 0 {
			last := chunk[len(chunk)-1].Key
			upTo, _ = slices.BinarySearchFunc(list, last, func(p disk.Pair, key string) int { return strings.Compare(p.Key, key) })
		}
		chunk = mergePairs(slices.DeleteFunc(chunk, drop), list[:upTo])
		list = list[upTo:]
		return chunk, more, err
	}
}
