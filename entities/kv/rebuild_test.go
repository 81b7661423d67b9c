package kv_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// manyPieces returns a disk with a store whose two snapshots have several pieces
// each, and its state.
func manyPieces(t *testing.T) (*disk, map[string]string) {
	t.Helper()
	d := newDisk()
	s := open(t, d, kv.Options{SnapshotAfter: -1})
	add := func(from, to int, text string) {
		t.Helper()
		err := s.Update(ctx, func(tx *kv.Tx) error {
			for i := from; i < to; i++ {
				if err := notes.Put(tx, fmt.Sprintf("%04d", i), &record{Text: text}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	add(0, 1600, "first")
	if err := s.Snapshot(ctx); err != nil {
		t.Fatal(err)
	}
	add(700, 720, "second")
	err := s.Update(ctx, func(tx *kv.Tx) error { return notes.Delete(tx, "0730") })
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Snapshot(ctx); err != nil {
		t.Fatal(err)
	}
	add(740, 750, "third")
	state := dump(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return d, state
}

// With both snapshots damaged a start refuses; what is intact can be put
// together, and is everything when no piece is damaged in both.
func TestREL4_Rebuild(t *testing.T) {
	for _, tc := range []struct {
		name   string
		damage func(older, newer []byte) (_, _ []byte)
		lost   func(id string) bool // may be missing
	}{
		{name: "other pieces", damage: func(a, b []byte) (_, _ []byte) { a[len(a)/2] ^= 1; b[200] ^= 1; return a, b }},
		{name: "ends", damage: func(a, b []byte) (_, _ []byte) { return a[:len(a)-1], b[:len(b)-1] }},
		{name: "headers", damage: func(a, b []byte) (_, _ []byte) { a[3] ^= 1; b[3] ^= 1; return a, b }},
		{
			name:   "the same piece",
			damage: func(a, b []byte) (_, _ []byte) { a[200] ^= 1; b[200] ^= 1; return a, b },
			lost:   func(id string) bool { return id < "0500" },
		},
		{
			name:   "nothing of the older",
			damage: func(a, b []byte) (_, _ []byte) { clear(a); b[200] ^= 1; return a, b },
			lost:   func(id string) bool { return id < "0500" },
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, state := manyPieces(t)
			names := d.starting("snapshot-")
			if len(names) != 2 {
				t.Fatalf("snapshots %q", names)
			}
			older, newer := filepath.Join(dir, names[0]), filepath.Join(dir, names[1])
			a, b := tc.damage(slices.Clone(d.names[older].data), slices.Clone(d.names[newer].data))
			d.damage(older, func([]byte) []byte { return a })
			d.damage(newer, func([]byte) []byte { return b })
			_, err := kv.Open(dir, kv.Options{FS: d})
			if e := wantKind(t, err, fault.Unavailable); !strings.Contains(e.Hint, "--salvage") {
				t.Errorf("hint %q", e.Hint)
			}
			s, err := kv.Open(dir, kv.Options{FS: d, Salvage: true})
			if err != nil {
				t.Fatal(err)
			}
			got := dump(t, s)
			for id, want := range state {
				if text, ok := got[id]; text != want && (tc.lost == nil || !tc.lost(id) || ok) {
					t.Fatalf("%s is %q, want %q", id, text, want)
				}
			}
			for id := range got {
				if _, ok := state[id]; !ok {
					t.Fatalf("%s is back", id)
				}
			}
			r := s.Status().Recovered
			if len(r.Damaged) != 2 || (r.LostPieces == 0) != (tc.name == "headers") || r.Clean {
				t.Errorf("report %+v", r)
			}
			put(t, s, "goes", "on")
			got = dump(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			wantState(t, open(t, d, kv.Options{}), got)
		})
	}
}

// starting returns the sorted base names with that beginning.
func (d *disk) starting(prefix string) (out []string) {
	for _, name := range d.list() {
		if strings.HasPrefix(name, prefix) {
			out = append(out, name)
		}
	}
	return out
}

func TestREL4_Inspect(t *testing.T) {
	inspect := func(d *disk) *kv.Inspection {
		t.Helper()
		before := d.list()
		in, err := kv.Inspect(ctx, dir, kv.Options{FS: d})
		if err != nil {
			t.Fatal(err)
		}
		if after := d.list(); fmt.Sprint(before) != fmt.Sprint(after) {
			t.Errorf("files %q, were %q", after, before)
		}
		return in
	}
	d, _ := manyPieces(t)
	in := inspect(d)
	if in.Condition != kv.Whole || !in.Start.Clean || in.Records != 1599 || in.Collections["note"] != 1599 || in.Seq != 4 || in.Start.Replayed != 1 {
		t.Errorf("whole: %+v", in)
	}
	for _, f := range in.Files {
		if f.Condition != "" && f.Condition != kv.Whole || f.Kind == "snapshot" && f.Intact < 1599 || f.Kind == "journal" && f.First == 0 {
			t.Errorf("whole: %+v", f)
		}
	}

	c := d.restart()
	name, _ := c.file("snapshot-")
	c.flip(name, 800)
	in = inspect(c)
	if in.Condition != kv.Damaged || in.Seq != 4 || in.Records != 1599 || in.Start.Lost != 0 {
		t.Errorf("damaged snapshot: %+v", in)
	}
	for _, f := range in.Files {
		if f.Name == filepath.Base(name) && (f.Condition != kv.Damaged || f.DamagedAt != 32 || f.Intact == 0) {
			t.Errorf("damaged snapshot: %+v", f)
		}
	}

	killed, _ := sample(t, 6, false)
	segment, _ := killed.file("journal-")
	killed.damage(segment, func(b []byte) []byte { return b[:len(b)-3] })
	in = inspect(killed)
	if in.Condition != kv.Torn || in.Seq != 5 || in.Start.TornBytes == 0 {
		t.Errorf("torn: %+v", in)
	}

	stopped, _ := sample(t, 6, true)
	segment, _ = stopped.file("journal-")
	stopped.flip(segment, 8*(32+50))
	in = inspect(stopped)
	if in.Condition != kv.Damaged || in.Start.Lost != 1 || in.Start.Salvaged != 5 || in.Refused != "" {
		t.Errorf("damaged: %+v", in)
	}

	names := d.starting("snapshot-")
	for _, name := range names {
		d.flip(filepath.Join(dir, name), 800)
	}
	in = inspect(d)
	if in.Condition != kv.Damaged || in.Refused == "" || in.Hint == "" {
		t.Errorf("refused: %+v", in)
	}

	_, err := kv.Inspect(ctx, dir, kv.Options{FS: newDisk()})
	wantKind(t, err, fault.NotFound)
}
