package kv_test

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

func upgradeAll(tx *kv.Tx, _ int) error {
	for id, r := range notes.All(tx, "") {
		if err := notes.Put(tx, id, &record{Text: r.Text + "+"}); err != nil {
			return err
		}
	}
	return tx.Err()
}

// Whichever operation on the disk fails during an upgrade, and wherever the
// power goes, the store opens in the old format or in the new one, as a whole.
func TestREL13_UpgradeIsWholeOrNot(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	from := newDisk()
	s := open(t, from, kv.Options{Format: 1, SnapshotAfter: -1})
	put(t, s, "a", "1")
	put(t, s, "b", "2")
	if err := s.Snapshot(ctx); err != nil {
		t.Fatal(err)
	}
	put(t, s, "c", "3")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	old := map[string]string{"a": "1", "b": "2", "c": "3"}
	upgraded := map[string]string{"a": "1+", "b": "2+", "c": "3+"}
	opts := func(d *disk, format int) kv.Options {
		return kv.Options{FS: d, Format: format, Upgrade: upgradeAll, SnapshotAfter: -1}
	}
	rng := rand.New(rand.NewPCG(7, 7))
	for _, op := range []string{"write", "sync", "rename", "open", "remove", "syncdir", "read"} {
		for n := 1; ; n++ {
			d, seen, failed := from.restart(), 0, false
			var cuts []*disk
			d.setHook(func(o, _ string) error {
				cuts = append(cuts, d.powerCut(rng))
				if o != op {
					return nil
				}
				seen++
				if seen == n {
					failed = true
					return errDisk
				}
				return nil
			})
			s, err := kv.Open(dir, opts(d, 2))
			d.setHook(nil)
			switch {
			case err != nil && fault.KindOf(err) != fault.Unavailable:
				t.Fatalf("%s %d: %v", op, n, err)
			case err == nil:
				wantState(t, s, upgraded)
				put(t, s, "after", "1")
				_ = s.Close()
			}
			s = open(t, d, opts(d, 2))
			after := dump(t, s)
			delete(after, "after")
			if diff(after, upgraded) {
				t.Fatalf("%s %d: %v", op, n, after)
			}
			for i, c := range cuts {
				s, err := kv.Open(dir, opts(c, 1))
				want := old
				if fault.KindOf(err) == fault.Unavailable { // it is the newer one
					s, err = kv.Open(dir, opts(c, 2))
					want = upgraded
				}
				if err != nil {
					t.Fatalf("%s %d, cut %d: %v", op, n, i, err)
				}
				wantState(t, s, want)
				_ = s.Close()
			}
			if !failed {
				break
			}
		}
	}
}

func TestREL13_OldStateIsKept(t *testing.T) {
	d := newDisk()
	s := open(t, d, kv.Options{Format: 1})
	put(t, s, "a", "1")
	_ = s.Close()
	s = open(t, d, kv.Options{Format: 2, Upgrade: upgradeAll})
	wantState(t, s, map[string]string{"a": "1+"})
	kept := "before-format-2.ctxdbackup"
	if !slices.Contains(d.list(), kept) {
		t.Fatalf("files %q", d.list())
	}
	older := open(t, newDisk().with(filepath.Join(dir, kept), d), kv.Options{Format: 1})
	if _, err := older.Restore(ctx, filepath.Join(dir, kept), kv.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	// A backup of an old format can be restored by a newer program.
	if _, err := s.Restore(ctx, filepath.Join(dir, kept), kv.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	upgrades := 0
	s = open(t, d, kv.Options{Format: 2, Upgrade: func(tx *kv.Tx, from int) error {
		upgrades = from
		return upgradeAll(tx, from)
	}})
	wantState(t, s, map[string]string{"a": "1+"})
	if upgrades != 1 {
		t.Errorf("upgraded from %d", upgrades)
	}
}
