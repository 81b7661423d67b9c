package kv_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// story is what the transactions of a store did, by sequence number; the first
// is none.
type story [][]edit

// edit is what a transaction did to one record.
type edit struct {
	id, text string
	gone     bool
}

// tell writes down what happens in a store from now on.
func (st *story) tell(s *kv.Store) {
	s.OnCommit(func(cs *kv.ChangeSet) {
		var edits []edit
		for _, d := range notes.Each(cs) {
			if d.New == nil {
				edits = append(edits, edit{id: d.ID, gone: true})
			} else {
				edits = append(edits, edit{id: d.ID, text: d.New.Text})
			}
		}
		*st = append(*st, edits)
	})
}

// restore makes a backup after the step 0 and goes back to it after the step 1.
func (st *story) restore(t testing.TB, d *disk, s *kv.Store, step int) *kv.Store {
	t.Helper()
	path := filepath.Join("/backups", "old.ctxdbackup")
	d.dirs[filepath.Dir(path)] = true
	switch step {
	case 0:
		if _, err := s.Backup(ctx, path, kv.BackupOptions{}); err != nil {
			t.Fatal(err)
		}
	case 1:
		if _, err := s.Restore(ctx, path, kv.RestoreOptions{}); err != nil {
			t.Fatal(err)
		}
		var edits []edit
		for id := range st.state(st.last()) {
			edits = append(edits, edit{id: id, gone: true})
		}
		for id, text := range st.state(st.last() - 1) {
			edits = append(edits, edit{id: id, text: text})
		}
		*st = append(*st, edits)
		var err error
		s, err = kv.Open(dir, kv.Options{FS: d, SnapshotAfter: -1})
		if err != nil {
			t.Fatal(err)
		}
		st.tell(s)
	}
	return s
}

// last is the newest transaction.
func (st story) last() uint64 { return uint64(len(st) - 1) }

// state returns what a store holds after the transactions up to seq, but some.
func (st story) state(seq uint64, missing ...uint64) map[string]string {
	out := map[string]string{}
	for i, edits := range st[:seq+1] {
		if slices.Contains(missing, uint64(i)) {
			continue
		}
		for _, e := range edits {
			if e.gone {
				delete(out, e.id)
			} else {
				out[e.id] = e.text
			}
		}
	}
	return out
}

// sampling says how to make a store to be damaged.
type sampling struct {
	n         int   // transactions
	pad       int   // bytes added to every third of them
	closed    bool  // rather than killed
	snapshots []int // after these transactions
	failed    []int // a snapshot after these is not finished
	restored  int   // the state after this replaces that after the next, 0 for none
}

// make returns a disk with such a store. Each transaction leaves a record of its
// own and deletes that of the one before the last, so that any set of them has a
// state of its own.
func (o sampling) make(t testing.TB) (*disk, *story) {
	t.Helper()
	d, st := newDisk(), &story{nil}
	s, err := kv.Open(dir, kv.Options{FS: d, SnapshotAfter: -1})
	if err != nil {
		t.Fatal(err)
	}
	st.tell(s)
	for i := range o.n {
		text := "x"
		if i%3 == 2 {
			text += strings.Repeat(".", o.pad)
		}
		err := s.Update(ctx, func(tx *kv.Tx) error {
			return errors.Join(
				notes.Put(tx, "last", &record{Text: fmt.Sprint(i)}),
				notes.Put(tx, fmt.Sprint(i), &record{Text: text}),
				notes.Delete(tx, fmt.Sprint(i-2)))
		})
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(o.snapshots, i+1) {
			if err := s.Snapshot(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if slices.Contains(o.failed, i+1) {
			d.setHook(func(op, name string) error {
				if op == "rename" && strings.HasPrefix(name, "snapshot-") {
					return errDisk
				}
				return nil
			})
			wantKind(t, s.Snapshot(ctx), fault.Unavailable)
			d.setHook(nil)
		}
		if o.restored > 0 {
			s = st.restore(t, d, s, i+1-o.restored)
		}
	}
	if o.closed {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return d, st
	}
	killed := d.restart()
	_ = s.Close()
	return killed, st
}

// sample returns a disk with a small store and its states.
func sample(t testing.TB, n int, closed bool, snapshots ...int) (*disk, *states) {
	t.Helper()
	d, st := sampling{n: n, closed: closed, snapshots: snapshots}.make(t)
	h := &states{}
	for seq := range st.last() + 1 {
		h.at = append(h.at, st.state(seq))
	}
	return d, h
}

// span is where a transaction lies in a journal segment.
type span struct {
	seq      uint64
	from, to int
}

// spans reads an intact segment, by the description in doc.go.
func spans(data []byte) (list []span) {
	for off := 32; off < len(data); {
		to := off + 44 + int(binary.LittleEndian.Uint32(data[off+32:]))
		list = append(list, span{binary.LittleEndian.Uint64(data[off+8:]), off, to})
		off = to
	}
	return list
}

// at returns the transaction that a byte of a segment belongs to, 0 for the
// header of the file.
func at(list []span, off int) uint64 {
	for _, sp := range list {
		if off >= sp.from && off < sp.to {
			return sp.seq
		}
	}
	return 0
}

// loss is what a start should say of a damaged store.
type loss struct {
	seq      uint64   // the transaction that it opens at
	missing  []uint64 // before that
	lost     uint64   // that had been acknowledged
	salvaged uint64
	torn     bool
	damaged  []string // files that are kept
}

// opens opens a damaged store and holds it to what is expected: the state, the
// report, the files kept aside. It then goes on with it, through a kill and a
// stop.
func (want loss) opens(t *testing.T, d *disk, st *story) error {
	t.Helper()
	before := map[string][]byte{}
	for _, name := range want.damaged {
		n := d.names[filepath.Join(dir, name)]
		before[name] = n.data
	}
	s, err := kv.Open(dir, kv.Options{FS: d})
	if err != nil {
		return err
	}
	defer s.Close()
	r := s.Status().Recovered
	got := loss{seq: s.Seq(), missing: want.missing, lost: r.Lost, salvaged: r.Salvaged, torn: r.TornBytes > 0}
	for _, name := range r.Damaged {
		got.damaged = append(got.damaged, strings.TrimPrefix(name, "damaged-"))
	}
	slices.Sort(got.damaged)
	slices.Sort(want.damaged)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(loss{}), cmpopts.EquateEmpty()); diff != "" {
		return fmt.Errorf("report (-want +got):\n%s", diff)
	}
	if r.Clean && (r.Lost > 0 || r.TornBytes > 0 || len(r.Damaged) > 0) {
		return errors.New("called clean")
	}
	state := dump(t, s)
	if exact := st.state(want.seq, want.missing...); !maps.Equal(exact, state) {
		return fmt.Errorf("state (-want +got):\n%s", cmp.Diff(exact, state))
	}
	for name, data := range before {
		if n := d.names[filepath.Join(dir, "damaged-"+name)]; n == nil || !bytes.Equal(data, n.data) {
			return fmt.Errorf("%s was not kept as it was", name)
		}
	}
	return goesOn(t, d, s, state)
}

// goesOn checks that a store that was repaired needs no second repair, takes
// another transaction, and is clean after a stop.
func goesOn(t *testing.T, d *disk, s *kv.Store, state map[string]string) error {
	t.Helper()
	again, err := kv.Open(dir, kv.Options{FS: d.restart()}) // killed right away
	if err != nil {
		return err
	}
	if r := again.Status().Recovered; again.Seq() != s.Seq() || r.Lost != 0 || r.TornBytes != 0 || r.Damaged != nil || !maps.Equal(state, dump(t, again)) {
		return fmt.Errorf("opened again: transaction %d, %+v", again.Seq(), r)
	}
	_ = again.Close()
	put(t, s, "more", "1")
	want, seq := dump(t, s), s.Seq()
	if err := s.Close(); err != nil {
		return err
	}
	s, err = kv.Open(dir, kv.Options{FS: d})
	if err != nil {
		return err
	}
	defer s.Close()
	if r := s.Status().Recovered; s.Seq() != seq || !r.Clean || !maps.Equal(want, dump(t, s)) {
		return fmt.Errorf("after one more transaction: %d, %+v", s.Seq(), r)
	}
	return nil
}

// topologies are stores with different files.
var topologies = map[string]sampling{
	"killed":               {n: 8},
	"stopped":              {n: 8, closed: true},
	"killed, snapshot":     {n: 8, snapshots: []int{5}},
	"stopped, snapshot":    {n: 8, closed: true, snapshots: []int{5}},
	"killed, generations":  {n: 8, snapshots: []int{2, 4, 6}},
	"stopped, generations": {n: 8, closed: true, snapshots: []int{2, 4, 6}},
	"stopped, nothing new": {n: 6, closed: true, snapshots: []int{3, 6}},
	"killed, no snapshot":  {n: 5, snapshots: []int{3}, failed: []int{5}},
	"stopped, no snapshot": {n: 7, closed: true, failed: []int{2, 4, 5}},
	"killed, restored":     {n: 6, snapshots: []int{1}, restored: 2},
	"stopped, restored":    {n: 7, closed: true, snapshots: []int{5}, restored: 3},
}

// first is the transaction that a segment begins with.
func first(file string) (seq uint64) {
	if _, err := fmt.Sscanf(filepath.Base(file), "journal-%016x-", &seq); err != nil {
		panic(err)
	}
	return seq
}

// base is the transaction of the newest snapshot.
func base(d *disk) (seq uint64) {
	if name, _ := d.file("snapshot-"); name != "" {
		if _, err := fmt.Sscanf(filepath.Base(name), "snapshot-%016x-", &seq); err != nil {
			panic(err)
		}
	}
	return seq
}

// A file that ends early holds an unbroken beginning of its transactions, and
// the loss of the others is told where anything proves that there were more.
func TestREL4_EveryTruncation(t *testing.T) {
	alone(t)
	for name, o := range topologies {
		t.Run(name, func(t *testing.T) {
			d, st := o.make(t)
			file, node := d.file("journal-") // the last segment
			list := spans(node.data)
			for size := range node.data {
				c := d.restart()
				c.damage(file, func(b []byte) []byte { return b[:size] })
				want := loss{seq: first(file) - 1}
				whole := size == 32
				for _, sp := range list {
					if sp.to <= size {
						want.seq = sp.seq
					}
					whole = whole || sp.to == size
				}
				if o.closed {
					want.lost = st.last() - want.seq
				}
				want.torn = !whole && size > 0
				if want.lost > 0 && !whole {
					want.damaged = []string{filepath.Base(file)}
				}
				if err := want.opens(t, c, st); err != nil {
					t.Fatalf("cut at %d of %d: %v", size, len(node.data), err)
				}
			}
			for other, node := range d.names {
				if other == file || !strings.HasPrefix(filepath.Base(other), "journal-") {
					continue
				}
				for size := 0; size < len(node.data); size += figure(3, 1) {
					c := d.restart()
					c.damage(other, func(b []byte) []byte { return b[:size] })
					want, _ := intact(d, c)
					if err := afterDamage(t, c, st, want); err != nil {
						t.Fatalf("%s cut at %d of %d: %v", filepath.Base(other), size, len(node.data), err)
					}
				}
			}
		})
	}
}

// A flipped bit costs the one transaction that it is in, if any: it is told, the
// file is kept, all others are there.
func TestREL4_EveryBitFlip(t *testing.T) {
	alone(t)
	step := figure(27, 1) // 27: a bit of every third byte
	var flips atomic.Int64
	shards(t, func(t *testing.T, shard, of int) {
		for name, o := range topologies {
			d, st := o.make(t)
			for file, node := range d.names {
				base := filepath.Base(file)
				if !strings.HasPrefix(base, "journal-") && !strings.HasPrefix(base, "snapshot-") {
					continue
				}
				for bit := shard * step; bit < 8*len(node.data); bit += of * step {
					c := d.restart()
					c.flip(file, bit)
					if err := flipped(d, o, st, file, bit/8).opens(t, c, st); err != nil {
						t.Fatalf("%s: bit %d of %s: %v", name, bit, base, err)
					}
					flips.Add(1)
				}
			}
		}
	})
	t.Logf("%d bits in %d stores: 0 silent changes, every intact transaction is there", flips.Load(), len(topologies))
}

// The marker of a stop proves a loss, but a damaged one proves nothing.
func TestREL4_StopMarker(t *testing.T) {
	d, st := topologies["stopped, snapshot"].make(t)
	name := filepath.Join(dir, "clean")
	for bit := range 8 * len(d.names[name].data) {
		c := d.restart()
		c.flip(name, bit)
		if err := (loss{seq: st.last()}).opens(t, c, st); err != nil {
			t.Fatalf("bit %d: %v", bit, err)
		}
	}
}

// flipped says what a start should make of damage to one byte of a file.
func flipped(d *disk, o sampling, st *story, file string, off int) loss {
	name, want := filepath.Base(file), loss{seq: st.last()}
	newest, _ := d.file("snapshot-")
	if strings.HasPrefix(name, "snapshot-") {
		if file == newest {
			want.damaged = []string{name}
		}
		return want // an older one is not read
	}
	list := spans(d.names[file].data)
	last, _ := d.file("journal-")
	if file != last && list[len(list)-1].seq <= base(d) {
		return want // all in the snapshot
	}
	for other := range d.names { // it, and those behind it
		if name := filepath.Base(other); strings.HasPrefix(name, "journal-") && first(other) >= first(file) {
			want.damaged = append(want.damaged, name)
		}
	}
	switch seq := at(list, off); {
	case seq == 0:
	case seq < st.last() || o.closed || file != last: // a later segment proves it too
		want.missing, want.lost, want.salvaged = []uint64{seq}, 1, st.last()-seq
		if seq == st.last() {
			want.seq, want.missing = seq-1, nil
		}
	default:
		want.seq-- // nobody knows whether it was acknowledged
	}
	return want
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
	name, _ := d.file("journal-")
	d.flip(name, 8*(32+5)) // in the record's header
	s = open(t, d, kv.Options{})
	if r := s.Status().Recovered; s.Seq() != 0 || r.Lost != 1 || r.Aside != 0 {
		t.Errorf("transaction %d, %+v", s.Seq(), r)
	}
}

func TestREL4_MissingFiles(t *testing.T) {
	full, st := sampling{n: 9, closed: true, snapshots: []int{3, 6, 8}}.make(t) // generations 6 and 8; segments from 7, 9
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
		want    loss
		refused bool
	}{
		{missing: []int{0}, want: loss{seq: 9}},
		{missing: []int{1}, want: loss{seq: 8, lost: 1}},
		{missing: []int{0, 1}, want: loss{seq: 8, lost: 1}},
		{missing: []int{3}, want: loss{seq: 9}},
		{missing: []int{2}, want: loss{seq: 9}},
		{missing: []int{0, 3}, want: loss{seq: 9, missing: []uint64{7, 8}, lost: 2, salvaged: 1, damaged: []string{names[1]}}},
		{missing: []int{1, 3}, want: loss{seq: 8, lost: 1}},
		{missing: []int{2, 3}, refused: true},
		{missing: []int{0, 1, 2, 3}, refused: true},
	} {
		t.Run(fmt.Sprint(tc.missing), func(t *testing.T) {
			d := full.restart()
			for _, i := range tc.missing {
				delete(d.names, filepath.Join(dir, names[i]))
				delete(d.durable, filepath.Join(dir, names[i]))
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
			if err := tc.want.opens(t, d, st); err != nil {
				t.Error(err)
			}
		})
	}
}

// The first snapshot does not make the journal before it superfluous.
func TestREL4_OnlySnapshotDamaged(t *testing.T) {
	d, st := sampling{n: 5, closed: true, snapshots: []int{3}}.make(t)
	name, _ := d.file("snapshot-")
	d.damage(name, func(b []byte) []byte { return b[:len(b)/2] })
	if err := (loss{seq: 5, damaged: []string{filepath.Base(name)}}).opens(t, d, st); err != nil {
		t.Error(err)
	}
}

// Both the file layout and the format of the records can be too new.
func TestREL13_NewerLayout(t *testing.T) {
	for _, prefix := range []string{"journal-", "snapshot-"} {
		d, _ := sample(t, 4, true, 2)
		name, node := d.file(prefix)
		d.damage(name, func(b []byte) []byte {
			binary.LittleEndian.PutUint32(b[8:], 2)
			binary.LittleEndian.PutUint32(b[28:], crc(b[:28]))
			return b
		})
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
			seen++
			if seen == n {
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

// What a start found lost is told once. That records may not fit together stands until somebody says that
// they do, whoever opens the store meanwhile, and after a crash as well.
func TestREL4_UnmendedUntilThatIsSaid(t *testing.T) {
	d, _ := sampling{n: 9, snapshots: []int{2, 4}}.make(t)
	if s := open(t, d.restart(), kv.Options{}); s.Unmended() || s.Mended() != nil {
		t.Error("a store that was killed is not fitting")
	}
	file, node := d.file("journal-")
	list := spans(node.data)
	d.flip(file, 8*(list[len(list)-3].from+50))
	s := open(t, d, kv.Options{})
	if r := s.Status().Recovered; r.Lost != 1 || !s.Unmended() {
		t.Fatalf("%+v, unmended: %v", r, s.Unmended())
	}
	_ = s.Close()
	for range 2 {
		s = open(t, d, kv.Options{})
		if r := s.Status().Recovered; r.Lost != 0 || !s.Unmended() {
			t.Fatalf("opened again: %+v, unmended: %v", r, s.Unmended())
		}
		_ = s.Close()
	}
	s = open(t, d, kv.Options{})
	d.setHook(func(op, name string) error {
		if op == "remove" {
			return errors.New("no")
		}
		return nil
	})
	wantKind(t, s.Mended(), fault.Unavailable)
	d.setHook(nil)
	if !s.Unmended() {
		t.Error("the disk did not take it, and it is forgotten")
	}
	if err := errors.Join(s.Mended(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if s = open(t, d, kv.Options{}); s.Unmended() {
		t.Error("it was said that the records fit together, and is forgotten")
	}
	_ = s.Close()
}

// A backup may hold what a damaged store had left, so what is restored is looked at once more.
func TestREL12_RestoredIsUnmended(t *testing.T) {
	d := newDisk()
	s := open(t, d, kv.Options{})
	put(t, s, "a", "1")
	path := filepath.Join("/backups", "old.ctxdbackup")
	d.dirs[filepath.Dir(path)] = true
	if _, err := s.Backup(ctx, path, kv.BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	if s.Unmended() {
		t.Error("a whole store is not fitting")
	}
	if _, err := s.Restore(ctx, path, kv.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	s = open(t, d, kv.Options{})
	if !s.Unmended() {
		t.Error("nobody is told to look at what was restored")
	}
	_ = s.Close()
}
