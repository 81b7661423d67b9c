package kv_test

import (
	"hash/crc32"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities/kv"
)

func crc(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// FuzzJournal gives the reader of the journal a file that begins right and
// goes on with anything. Whatever that is, the store opens with a prefix of
// what had been written, or says what is missing in it, takes new transactions and
// keeps them.
func FuzzJournal(f *testing.F) {
	d, h := sample(f, 5, false)
	name, node := d.file("journal-")
	whole := node.data
	end := len(whole)
	f.Add(end, []byte{}, 0, 0)
	f.Add(0, []byte{}, 0, end)
	f.Add(0, []byte{}, 5, end)
	f.Add(100, []byte{0}, 150, end)
	f.Add(end, []byte{}, 32, end)
	f.Add(end, make([]byte, 100), 0, 0)
	f.Add(end, append([]byte("\xc7kv\x9e\x01"), make([]byte, 60)...), 200, end)
	f.Fuzz(func(t *testing.T, keep int, middle []byte, from, to int) {
		// The checksums are salted afresh in every run, so what the fuzzer
		// changes is how a file is put together from parts of the real one.
		keep = min(max(keep, 0), end)
		to = min(max(to, 0), end)
		from = min(max(from, 0), to)
		c := d.restart()
		c.names[name].data = slices.Concat(whole[:keep], middle, whole[from:to])
		s, err := kv.Open(dir, kv.Options{FS: c})
		if err != nil {
			t.Fatal(err)
		}
		seq := s.Seq()
		if seq >= uint64(len(h.at)) {
			t.Fatalf("transaction %d was never written", seq)
		}
		// Where transactions are missing and later ones are not, the report says so.
		r := s.Status().Recovered
		if diff := cmp.Diff(h.at[seq], dump(t, s)); diff != "" && (r.Salvaged == 0 || r.Lost == 0) {
			t.Fatalf("not the state after transaction %d, %+v:\n%s", seq, r, diff)
		}
		put(t, s, "more", "1")
		want := dump(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s, err = kv.Open(dir, kv.Options{FS: c})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if diff := cmp.Diff(want, dump(t, s)); diff != "" {
			t.Fatal(diff)
		}
	})
}
