package kv_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ctxd/ctxd/entities/kv"
)

// large is a store that was killed, with a journal of one MiB in the full
// campaign. Its transactions are of very different sizes.
func large(t *testing.T) (d *disk, st *story, file string, list []span) {
	t.Helper()
	o := sampling{n: figure(60, 150), pad: figure(2000, 21_000)}
	d, st = o.make(t)
	file, node := d.file("journal-")
	if want := figure(40<<10, 1<<20); len(node.data) < want {
		t.Fatalf("the journal has %d bytes", len(node.data))
	}
	return d, st, file, spans(node.data)
}

// Every bit of a journal of one MiB is flipped and read by the code that reads
// journals: the transaction that it is in is never taken for a good one, and
// reading goes on exactly at the next.
//
// This is not a whole Open for each of the 8 million bits, which would take
// hours; TestREL4_FlipsInLargeJournal does that for every bit that decides where
// and what a record is, and for many of its content.
func TestREL4_EveryBitOfAJournal(t *testing.T) {
	alone(t)
	d, _, file, list := large(t)
	whole := d.names[file].data
	var flips atomic.Int64
	shards(t, func(t *testing.T, shard, of int) {
		data := bytes.Clone(whole)
		r := kv.NewJournalReader(filepath.Base(file), data)
		for i := shard; i < len(list); i += of {
			sp := list[i]
			for bit := 8 * sp.from; bit < 8*sp.to; bit++ {
				data[bit/8] ^= 1 << (bit % 8)
				_, what, err := r.Record(int64(sp.from))
				if err != nil || what != "bad" {
					t.Fatalf("bit %d: transaction %d is taken for %s, %v", bit, sp.seq, what, err)
				}
				next, err := r.Resync(int64(sp.from) + 1)
				if err != nil || next != int64(sp.to) {
					t.Fatalf("bit %d: reading goes on at %d, not at %d, %v", bit, next, sp.to, err)
				}
				data[bit/8] ^= 1 << (bit % 8)
				flips.Add(1)
			}
			if seq, what, err := r.Record(int64(sp.from)); seq != sp.seq || what != "good" || err != nil {
				t.Fatalf("transaction %d is %s and called %d, %v", sp.seq, what, seq, err)
			}
		}
	})
	t.Logf("%d bits of a journal of %d bytes: none went unnoticed, reading went on at the next transaction each time", flips.Load(), len(whole))
}

// places are the bytes of a file at which damage is tried with a whole Open:
// headers, what is next to them, and many of the others.
func places(size int, list []span) []int {
	var out []int
	for _, sp := range list {
		for off := sp.from; off < min(sp.to, sp.from+44+64); off++ {
			out = append(out, off)
		}
		out = append(out, sp.to-2, sp.to-1)
	}
	for off := 0; off < size; off += 61 {
		out = append(out, off)
	}
	for off := range 32 {
		out = append(out, off)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// A whole start with a flipped bit, in the full campaign for every bit of every
// header, a bit of every byte of the beginning of every content, and one byte in
// 61 of the rest; otherwise for one in ten of these bytes.
func TestREL4_FlipsInLargeJournal(t *testing.T) {
	alone(t)
	d, st, file, list := large(t)
	offs, step := places(len(d.names[file].data), list), figure(10, 1)
	var flips, missing atomic.Int64
	shards(t, func(t *testing.T, shard, of int) {
		for i := shard * step; i < len(offs); i += of * step {
			off := offs[i]
			seq := at(list, off)
			from, to := i%8, i%8+1
			if header := seq == 0 || off < list[seq-1].from+44; header && figure(false, true) {
				from, to = 0, 8
			}
			want := loss{seq: st.last()}
			switch {
			case seq == 0:
			case seq == st.last(): // nobody knows whether it was acknowledged
				want.seq--
			default:
				want.missing, want.lost, want.salvaged = []uint64{seq}, 1, st.last()-seq
			}
			for bit := from; bit < to; bit++ {
				c := d.restart()
				c.flip(file, 8*off+bit)
				if err := starts(t, c, st, want); err != nil {
					t.Fatalf("bit %d of byte %d, in transaction %d: %v", bit, off, seq, err)
				}
				flips.Add(1)
				missing.Add(int64(want.lost))
			}
		}
	})
	t.Logf("%d bits in a journal of %d bytes with %d transactions: %d losses of one transaction, each told, all others salvaged, the file kept each time",
		flips.Load(), len(d.names[file].data), len(list), missing.Load())
}

// starts opens a damaged store and holds it to what is expected. One file is
// kept.
func starts(t *testing.T, d *disk, st *story, want loss) error {
	t.Helper()
	before := d.restart()
	s, err := kv.Open(dir, kv.Options{FS: d, SnapshotAfter: -1})
	if err != nil {
		return err
	}
	defer s.Close()
	r := s.Status().Recovered
	if s.Seq() != want.seq || r.Lost != want.lost || r.Salvaged != want.salvaged || r.TornBytes != 0 || r.Clean || len(r.Damaged) != 1 {
		return fmt.Errorf("transaction %d, %+v; want %+v", s.Seq(), r, want)
	}
	if !maps.Equal(st.state(want.seq, want.missing...), dump(t, s)) {
		return fmt.Errorf("another state than that after %d without %v", want.seq, want.missing)
	}
	was, is := before.names[filepath.Join(dir, strings.TrimPrefix(r.Damaged[0], "damaged-"))], d.names[filepath.Join(dir, r.Damaged[0])]
	if was == nil || is == nil || !bytes.Equal(was.data, is.data) {
		return errors.New("the damaged file was not kept as it was")
	}
	return nil
}

// Every truncation of a large journal: the code that reads journals takes the
// rest of a record for what it is, and whole starts at many of the offsets hold
// an exact beginning. Where a stop was noted, the loss is told.
func TestREL4_TruncationsOfLargeJournal(t *testing.T) {
	alone(t)
	d, st, file, list := large(t)
	whole := d.names[file].data
	for _, sp := range list {
		for size := sp.from; size <= sp.to; size++ {
			want := "torn"
			switch size {
			case sp.from:
				want = "end"
			case sp.to:
				want = "good"
			}
			_, what, err := kv.NewJournalReader(filepath.Base(file), whole[:size]).Record(int64(sp.from))
			if err != nil || what != want {
				t.Fatalf("cut at %d: transaction %d is taken for %s, want %s, %v", size, sp.seq, what, want, err)
			}
		}
	}
	sizes, step := places(len(whole), list), figure(10, 1)
	var starts atomic.Int64
	shards(t, func(t *testing.T, shard, of int) {
		for i := shard * step; i < len(sizes); i += of * step {
			size, seq, torn := sizes[i], uint64(0), sizes[i]
			for _, sp := range list {
				if sp.to <= size {
					seq = sp.seq
				}
				if sp.from <= size {
					torn = size - sp.from
				}
			}
			c := d.restart()
			c.damage(file, func(b []byte) []byte { return b[:size] })
			s, err := kv.Open(dir, kv.Options{FS: c, SnapshotAfter: -1})
			if err != nil {
				t.Fatalf("cut at %d: %v", size, err)
			}
			r := s.Status().Recovered
			if s.Seq() != seq || r.TornBytes != int64(torn) || r.Lost != 0 || r.Damaged != nil || r.Clean {
				t.Fatalf("cut at %d: transaction %d, %+v; want %d and %d bytes torn", size, s.Seq(), r, seq, torn)
			}
			if !maps.Equal(st.state(seq), dump(t, s)) {
				t.Fatalf("cut at %d: not the state after transaction %d", size, seq)
			}
			_ = s.Close()
			starts.Add(1)
		}
	})
	t.Logf("%d offsets of a journal read, %d whole starts: an exact beginning each time, every torn tail named", len(whole)-32, starts.Load())
}

// A flipped bit in the newest of two generations of snapshots costs nothing: the
// older one and the journal since lead to the same state.
func TestREL4_FlipsInLargeSnapshot(t *testing.T) {
	alone(t)
	const n = 2600 // several pieces
	d := newDisk()
	s, err := kv.Open(dir, kv.Options{FS: d, SnapshotAfter: -1})
	if err != nil {
		t.Fatal(err)
	}
	st := &story{nil}
	st.tell(s)
	for round := range 3 {
		err := s.Update(ctx, func(tx *kv.Tx) error {
			for i := round; i < n; i += 1 + round {
				if err := notes.Put(tx, fmt.Sprintf("%05d", i), &record{Text: fmt.Sprint(round, i)}); err != nil {
					return err
				}
			}
			return nil
		})
		if err := errors.Join(err, s.Snapshot(ctx)); err != nil {
			t.Fatal(err)
		}
	}
	put(t, s, "last", "1")
	killed := d.restart()
	_ = s.Close()
	file, node := killed.file("snapshot-")
	list := spans(node.data)
	if len(list) < 5 {
		t.Fatalf("%d pieces", len(list))
	}
	offs := places(len(node.data), list)
	step, want := figure(37, 1), st.state(st.last())
	var flips atomic.Int64
	shards(t, func(t *testing.T, shard, of int) {
		for i := shard * step; i < len(offs); i += of * step {
			c := killed.restart()
			c.flip(file, 8*offs[i]+i%8)
			s, err := kv.Open(dir, kv.Options{FS: c, SnapshotAfter: -1})
			if err != nil {
				t.Fatalf("byte %d: %v", offs[i], err)
			}
			if r := s.Status().Recovered; s.Seq() != st.last() || r.Lost != 0 || !slices.Equal(r.Damaged, []string{"damaged-" + filepath.Base(file)}) {
				t.Fatalf("byte %d: transaction %d, %+v", offs[i], s.Seq(), r)
			}
			if !maps.Equal(want, dump(t, s)) {
				t.Fatalf("byte %d: another state", offs[i])
			}
			_ = s.Close()
			flips.Add(1)
		}
	})
	t.Logf("%d bits in a snapshot of %d bytes in %d pieces: 0 lost, the file kept each time", flips.Load(), len(node.data), len(list))
}
