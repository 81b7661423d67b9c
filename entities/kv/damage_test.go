package kv_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// sample returns a disk with a small store of n transactions, and its states.
// Closed or killed; with a snapshot after the given transactions.
func sample(t testing.TB, n int, closed bool, snapshots ...int) (*disk, *states) {
	t.Helper()
	d := newDisk()
	s, err := kv.Open(dir, kv.Options{FS: d, SnapshotAfter: -1})
	if err != nil {
		t.Fatal(err)
	}
	history := follow(s)
	for i := range n {
		err := s.Update(ctx, func(tx *kv.Tx) error {
			return errors.Join(
				notes.Put(tx, "last", &record{Text: fmt.Sprint(i)}),
				notes.Put(tx, fmt.Sprint(i), &record{Text: "x"}),
				notes.Delete(tx, fmt.Sprint(i-2)))
		})
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(snapshots, i+1) {
			if err := s.Snapshot(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	if closed {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	} else {
		killed := d.restart()
		_ = s.Close()
		d = killed
	}
	return d, history
}

// openDamaged opens a store whose files were damaged, checks that it holds
// the exact state after some transaction, that it opens the same once more,
// and returns which transaction and the report.
func openDamaged(t *testing.T, d *disk, h *states) (uint64, kv.Recovery) {
	t.Helper()
	s, err := kv.Open(dir, kv.Options{FS: d})
	if err != nil {
		t.Fatal(err)
	}
	seq, report := s.Seq(), s.Status().Recovered
	if diff := cmp.Diff(h.at[seq], dump(t, s)); diff != "" {
		t.Fatalf("not the state after transaction %d (-want +got):\n%s", seq, diff)
	}
	for _, name := range report.Damaged {
		if !slices.Contains(d.list(), name) {
			t.Fatalf("%s was not kept", name)
		}
	}
	again, err := kv.Open(dir, kv.Options{FS: d.restart()}) // killed right away
	if err != nil {
		t.Fatal(err)
	}
	if r := again.Status().Recovered; again.Seq() != seq || r.Lost != 0 || r.TornBytes != 0 || r.Damaged != nil {
		t.Fatalf("opened again: transaction %d, %+v", again.Seq(), r)
	}
	put(t, s, "more", "1")
	want := dump(t, s)
	if err := errors.Join(again.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	s, err = kv.Open(dir, kv.Options{FS: d})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if r := s.Status().Recovered; s.Seq() != seq+1 || !r.Clean {
		t.Fatalf("after one more transaction: %d, %+v", s.Seq(), r)
	}
	if diff := cmp.Diff(want, dump(t, s)); diff != "" {
		t.Fatal(diff)
	}
	return seq, report
}

func TestREL4_EveryTruncation(t *testing.T) {
	const n = 8
	for _, closed := range []bool{false, true} {
		for _, snapshots := range [][]int{nil, {5}} {
			t.Run(fmt.Sprintf("closed=%v/snapshots=%v", closed, snapshots), func(t *testing.T) {
				d, h := sample(t, n, closed, snapshots...)
				name, node := d.file("journal-") // the last segment
				base := uint64(0)
				if snapshots != nil {
					base = 5
				}
				prev := base
				for size := 0; size <= len(node.data); size++ {
					c := d.restart()
					c.names[name].data = c.names[name].data[:size]
					seq, r := openDamaged(t, c, h)
					if seq < prev || seq > prev+1 || seq < base {
						t.Fatalf("cut at %d: transaction %d after %d", size, seq, prev)
					}
					prev = seq
					switch {
					case closed && r.Lost != n-seq:
						t.Fatalf("cut at %d: %d transactions left, %d reported lost", size, seq, r.Lost)
					case closed && seq < n && r.Clean:
						t.Fatalf("cut at %d: called clean", size)
					case !closed && (r.Lost != 0 || r.Damaged != nil || r.Clean):
						t.Fatalf("cut at %d: a torn tail reported as %+v", size, r)
					}
				}
				if prev != n {
					t.Fatalf("the whole journal has %d transactions", prev)
				}
			})
		}
	}
}

func TestREL4_EveryBitFlip(t *testing.T) {
	const n = 5
	for _, closed := range []bool{false, true} {
		for _, prefix := range []string{"journal-", "snapshot-"} {
			t.Run(fmt.Sprintf("%sclosed=%v", prefix, closed), func(t *testing.T) {
				snapshots := []int{}
				if prefix == "snapshot-" {
					snapshots = []int{2, 4}
				}
				d, h := sample(t, n, closed, snapshots...)
				name, node := d.file(prefix) // the newest
				for bit := range 8 * len(node.data) {
					c := d.restart()
					c.names[name].data[bit/8] ^= 1 << (bit % 8)
					seq, r := openDamaged(t, c, h)
					if seq > n || r.TornBytes == 0 && len(r.Damaged) == 0 {
						t.Fatalf("bit %d: not noticed, %d transactions, %+v", bit, seq, r)
					}
					if closed && r.Lost != n-seq {
						t.Fatalf("bit %d: %d transactions left, %d reported lost", bit, seq, r.Lost)
					}
					if prefix == "snapshot-" && seq != n {
						t.Fatalf("bit %d: the older generation leads to %d transactions", bit, seq)
					}
					if last := n - 1; !closed && seq < uint64(last) && r.Lost == 0 {
						// Later records tell that this one had been
						// acknowledged.
						t.Fatalf("bit %d: %d transactions left, no loss reported: %+v", bit, seq, r)
					}
					if r.Lost > 1 && r.Aside == 0 && seq+1 < n {
						t.Fatalf("bit %d: intact records behind the damage were not found: %+v", bit, r)
					}
				}
			})
		}
	}
}

// A value that looks like journal records does not confuse the search for
// records behind damage.
func TestREL4_JournalInANote(t *testing.T) {
	inner, _ := sample(t, 4, true)
	_, stolen := inner.file("journal-")
	d := newDisk()
	s, err := kv.Open(dir, kv.Options{FS: d})
	if err != nil {
		t.Fatal(err)
	}
	raw := kv.NewCollection("raw", kv.Codec[string]{
		Encode: func(v *string) (string, error) { return *v, nil },
		Decode: func(s string) (*string, error) { return &s, nil },
	})
	v := string(stolen.data)
	if err := s.Update(ctx, func(tx *kv.Tx) error { return raw.Put(tx, "a", &v) }); err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	_, node := d.file("journal-")
	node.data[32+5] ^= 1 // in the record's header
	s = open(t, d, kv.Options{})
	if r := s.Status().Recovered; s.Seq() != 0 || r.Lost != 1 || r.Aside != 0 {
		t.Errorf("transaction %d, %+v", s.Seq(), r)
	}
}

func TestREL4_MissingFiles(t *testing.T) {
	const n = 9
	full, h := sample(t, n, true, 3, 6, 8) // generations 6 and 8; segments from 7, 9
	segments := func(d *disk) (out []string) {
		for _, name := range d.list() {
			if strings.HasPrefix(name, "journal-") || strings.HasPrefix(name, "snapshot-") {
				out = append(out, name)
			}
		}
		return out
	}
	names := segments(full)
	if len(names) != 4 {
		t.Fatalf("files %q", names)
	}
	for _, tc := range []struct {
		missing []int // indexes in names
		seq     uint64
		refused bool
	}{
		{missing: []int{0}, seq: 9},
		{missing: []int{1}, seq: 8},
		{missing: []int{0, 1}, seq: 8},
		{missing: []int{3}, seq: 9},
		{missing: []int{2}, seq: 9},
		{missing: []int{0, 3}, seq: 6},
		{missing: []int{2, 3}, refused: true},
		{missing: []int{0, 1, 2, 3}, refused: true},
	} {
		t.Run(fmt.Sprint(tc.missing), func(t *testing.T) {
			d := full.restart()
			for _, i := range tc.missing {
				delete(d.names, filepath.Join(dir, names[i]))
			}
			before := segments(d)
			if tc.refused {
				_, err := kv.Open(dir, kv.Options{FS: d})
				wantKind(t, err, fault.Unavailable)
				if !slices.Equal(before, segments(d)) {
					t.Error("a refused store was changed")
				}
				return
			}
			seq, r := openDamaged(t, d, h)
			if seq != tc.seq || r.Lost != n-tc.seq {
				t.Errorf("transaction %d, %+v; want %d", seq, r, tc.seq)
			}
		})
	}
}

// The first snapshot does not make the journal before it superfluous.
func TestREL4_OnlySnapshotDamaged(t *testing.T) {
	d, h := sample(t, 5, true, 3)
	_, node := d.file("snapshot-")
	node.data = node.data[:len(node.data)/2]
	seq, r := openDamaged(t, d, h)
	if seq != 5 || r.Lost != 0 || len(r.Damaged) != 1 {
		t.Errorf("transaction %d, %+v", seq, r)
	}
}

// Both the file layout and the format of the records can be too new.
func TestREL13_NewerLayout(t *testing.T) {
	for _, prefix := range []string{"journal-", "snapshot-"} {
		d, _ := sample(t, 4, true, 2)
		_, node := d.file(prefix)
		binary.LittleEndian.PutUint32(node.data[8:], 2)
		binary.LittleEndian.PutUint32(node.data[28:], crc(node.data[:28]))
		before := bytes.Clone(node.data)
		_, err := kv.Open(dir, kv.Options{FS: d})
		e := wantKind(t, err, fault.Unavailable)
		if !strings.Contains(e.Msg, "layout 2") || !strings.Contains(e.Msg, "up to 1") {
			t.Errorf("message %q", e.Msg)
		}
		if !bytes.Equal(before, node.data) {
			t.Error("the file was changed")
		}
	}
}

// An error while reading is not damage: nothing is cut or moved.
func TestREL3_ReadErrorsAreNotDamage(t *testing.T) {
	d, _ := sample(t, 6, true, 3)
	s := open(t, d, kv.Options{SnapshotAfter: -1})
	put(t, s, "long", strings.Repeat("x", 3<<20)) // more than is read ahead
	put(t, s, "short", "x")
	_ = s.Close()
	before := d.list()
	for n := 1; ; n++ {
		seen, failed := 0, false
		c := d.restart()
		c.setHook(func(op, _ string) error {
			if op != "read" {
				return nil
			}
			if seen++; seen == n {
				failed = true
				return errDisk
			}
			return nil
		})
		s, err := kv.Open(dir, kv.Options{FS: c})
		if !failed {
			_ = s.Close()
			break
		}
		if err == nil {
			t.Fatalf("read %d failed and the store opened", n)
		}
		if n > 100 {
			t.Fatal("no end of reads")
		}
		wantKind(t, err, fault.Unavailable)
		for _, name := range before {
			if !slices.Contains(c.list(), name) {
				t.Fatalf("read %d failed and %s is gone", n, name)
			}
		}
	}
}
