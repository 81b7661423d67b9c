package kv

import (
	"github.com/tidwall/btree"

	"github.com/ctxd/ctxd/entities/kv/disk"
)

// snapshotCapture keeps, while a snapshot is written in steps, what transactions
// replace in the part not yet written. So the file is the state at one
// transaction, though nobody was stopped for it. Keys up to the cursor are
// written.
type snapshotCapture struct {
	Seq    uint64 // the transaction whose state is captured
	Format int    // of the records then
	Cursor string

	before btree.Map[string, image]
}

// image is what a key held when the snapshot began.
type image struct {
	raw string
	had bool
}

// Keep notes what a key held that is written.
func (c *snapshotCapture) Keep(key, old string, had bool) {
	if key <= c.Cursor {
		return
	}
	if _, ok := c.before.Get(key); !ok {
		c.before.Set(key, image{old, had})
	}
}

// Restore puts into a chunk that reaches to the given key, or to the end,
// what its keys held when the snapshot began.
func (c *snapshotCapture) Restore(chunk []disk.Pair, to string, more bool) []disk.Pair {
	var old, taken []disk.Pair
	c.before.Scan(func(key string, im image) bool {
		if more && key > to {
			return false
		}
		taken = append(taken, disk.Pair{Key: key})
		if im.had {
			old = append(old, disk.Pair{Key: key, Value: im.raw})
		}
		return true
	})
	if len(taken) == 0 {
		return chunk
	}
	kept := chunk[:0]
	for _, p := range chunk {
		if _, ok := c.before.Get(p.Key); !ok {
			kept = append(kept, p)
		}
	}
	for _, p := range taken {
		c.before.Delete(p.Key)
	}
	return mergePairs(kept, old)
}
