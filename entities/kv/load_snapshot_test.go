package kv_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/kv"
)

// pieces returns the records of a snapshot file, each with its header.
func pieces(file []byte) (list [][]byte) {
	for at := 32; at < len(file); {
		end := at + 44 + int(binary.LittleEndian.Uint32(file[at+32:]))
		list = append(list, file[at:end])
		at = end
	}
	return list
}

// TestREL4_PiecesOfASnapshot takes a snapshot of small and large pieces, each of
// which is in order, and puts it together in another way. That is not what was
// written: the store is loaded from what else there is, and says so.
func TestREL4_PiecesOfASnapshot(t *testing.T) {
	d := newDisk()
	s := open(t, d, kv.Options{SnapshotAfter: -1})
	want := map[string]string{}
	err := s.Update(ctx, func(tx *kv.Tx) error {
		for i := range 1500 {
			id, text := fmt.Sprintf("%04d", i), fmt.Sprintf("text %d", i)
			if i%700 == 350 {
				text = strings.Repeat(text+" ", 70_000) // larger than what is read at a time
			}
			want[id] = text
			if err := notes.Put(tx, id, &record{Text: text}); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = s.Snapshot(ctx)
	}
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	whole := open(t, d.restart(), kv.Options{})
	wantState(t, whole, want)
	if r := whole.Status().Recovered; !r.Clean || r.Replayed != 0 {
		t.Fatalf("the snapshot was not what was loaded: %+v", r)
	}
	for name, change := range map[string]func(list [][]byte) [][]byte{
		"without the first piece":   func(l [][]byte) [][]byte { return l[1:] },
		"without one in the middle": func(l [][]byte) [][]byte { return slices.Delete(l, 7, 8) },
		"without the last piece":    func(l [][]byte) [][]byte { return slices.Delete(l, len(l)-2, len(l)-1) },
		"without its end":           func(l [][]byte) [][]byte { return l[:len(l)-1] },
		"without anything":          func([][]byte) [][]byte { return nil },
		"with one piece twice":      func(l [][]byte) [][]byte { return slices.Insert(l, 3, l[2]) },
		"with two in other places":  func(l [][]byte) [][]byte { l[7], l[8] = l[8], l[7]; return l },
		"with its end twice":        func(l [][]byte) [][]byte { return append(l, l[len(l)-1]) },
		"with a byte behind it":     func(l [][]byte) [][]byte { return append(l, []byte{0}) },
		"with a header behind it":   func(l [][]byte) [][]byte { return append(l, l[0][:44]) },
	} {
		t.Run(name, func(t *testing.T) {
			d := d.restart()
			file, _ := d.file("snapshot-")
			d.damage(file, func(b []byte) []byte {
				return slices.Concat(append([][]byte{b[:32]}, change(pieces(slices.Clone(b)))...)...)
			})
			s := open(t, d, kv.Options{})
			wantState(t, s, want)
			if r := s.Status().Recovered; r.Clean || len(r.Damaged) != 1 || !strings.Contains(r.Damaged[0], "snapshot-") {
				t.Errorf("the store says %+v", r)
			}
		})
	}
}

// TestPERF9_ASnapshotOfManySegments loads more than is kept as one piece of memory,
// with pieces across the end of each, and one that is larger than all of that.
func TestPERF9_ASnapshotOfManySegments(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	d := newDisk()
	s := open(t, d, kv.Options{SnapshotAfter: -1})
	want := map[string]string{}
	for from := 0; from < 1500; from += 500 {
		err := s.Update(ctx, func(tx *kv.Tx) error {
			for i := from; i < from+500; i++ {
				id, text := fmt.Sprintf("%04d", i), strings.Repeat(fmt.Sprintf("text %d ", i), 2300)
				if i == 700 {
					text = strings.Repeat(text, 900) // 18 MB and more
				}
				want[id] = text
				if err := notes.Put(tx, id, &record{Text: text}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.Snapshot(ctx), s.Close()); err != nil {
		t.Fatal(err)
	}
	whole := open(t, d.restart(), kv.Options{})
	wantState(t, whole, want)
	if r := whole.Status().Recovered; !r.Clean || r.Replayed != 0 {
		t.Fatalf("the snapshot was not what was loaded: %+v", r)
	}
}
