package notes_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// TestPERF10_WritersOfManyNotesMeet has several writers put, rename and delete the
// same notes at once, many in one transaction, so that what a large commit works out
// before its turn is of a state that others change, and compares with rooms that load
// all of it.
func TestPERF10_WritersOfManyNotesMeet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		db, err := kv.Open(kv.InMemory, kv.Options{})
		must(t, err)
		t.Cleanup(func() { db.Close() })
		h := newHouse(t, db)
		if rapid.Bool().Draw(t, "opened anew") {
			for range rapid.IntRange(0, 20).Draw(t, "notes") {
				change(t, h)
			}
			h = h.reopened(t)
		}
		for range rapid.IntRange(1, 4).Draw(t, "rounds") {
			var writers sync.WaitGroup
			var broken atomic.Pointer[error]
			for range rapid.IntRange(1, 3).Draw(t, "writers") {
				var some []notes.Draft
				var gone []bool
				for range rapid.IntRange(1, 25).Draw(t, "changes") {
					some, gone = append(some, drawDraft(t)), append(gone, rapid.IntRange(0, 3).Draw(t, "gone") == 0)
				}
				writers.Go(func() {
					err := h.db.Update(ctx, func(tx *kv.Tx) error {
						for i, d := range some {
							if gone[i] {
								if err := h.ns.DeleteTx(tx, d.ID); err != nil {
									return err
								}
							} else if _, err := h.ns.PutTx(tx, d, nil, nil); err != nil {
								continue // refused for its path; nothing of it is there
							}
						}
						return nil
					})
					if err != nil {
						broken.Store(&err)
					}
				})
			}
			writers.Wait()
			if err := broken.Load(); err != nil {
				t.Fatal(*err)
			}
			if diff := cmp.Diff(shown(h.reopened(t)), shown(h)); diff != "" {
				t.Fatalf("notes changed by several show another thing than loaded:\n%s", diff)
			}
		}
	})
}
