package kv_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/ctxd/ctxd/entities/kv"
)

// After a failed fsync the pages stay in memory, marked as written, and another
// fsync does nothing for them. The next start reads them. What it shows must be
// made durable by writing it again, or the next power cut takes it away.
func TestREL3_StartAfterFailedSync(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for _, snapshots := range []bool{false, true} {
		for cut := range 40 {
			d := newDisk()
			s := open(t, d, kv.Options{SnapshotAfter: -1})
			put(t, s, "a", "1")
			if snapshots {
				if err := s.Snapshot(ctx); err != nil {
					t.Fatal(err)
				}
			}
			put(t, s, "b", "2")
			d.setHook(func(op, _ string) error {
				if op == "sync" {
					return errDisk
				}
				return nil
			})
			err := s.Update(ctx, func(tx *kv.Tx) error {
				return errors.Join(notes.Put(tx, "c", &record{Text: "3"}), notes.Put(tx, "d", &record{Text: "3"}))
			})
			if err == nil {
				t.Fatal("acknowledged")
			}
			d.setHook(nil)
			_ = s.Close()

			d = d.restart()
			s = open(t, d, kv.Options{SnapshotAfter: -1})
			shown, seq := dump(t, s), s.Seq()
			acked := shown
			if cut%2 == 1 { // with one more transaction behind it
				put(t, s, "e", "4")
				acked = dump(t, s)
			}
			after := open(t, d.powerCut(rng), kv.Options{SnapshotAfter: -1})
			if r := after.Status().Recovered; !maps.Equal(acked, dump(t, after)) || r.Lost != 0 {
				t.Fatalf("cut %d: transaction %d was shown, then the power failed: %v became %v, %+v", cut, seq, acked, dump(t, after), r)
			}
		}
	}
}
