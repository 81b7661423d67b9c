package kv_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// damages are what disks, file systems and people do to files.
var damages = []func(rng *rand.Rand, b []byte) []byte{
	func(rng *rand.Rand, b []byte) []byte { // a bit
		if len(b) > 0 {
			b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
		}
		return b
	},
	func(rng *rand.Rand, b []byte) []byte { // zeros
		from, to := part(rng, b)
		clear(b[from:to])
		return b
	},
	func(rng *rand.Rand, b []byte) []byte { // rubbish
		from, to := part(rng, b)
		for i := from; i < to; i++ {
			b[i] = byte(rng.Uint32())
		}
		return b
	},
	func(rng *rand.Rand, b []byte) []byte { // a part is there twice
		from, to := part(rng, b)
		return slices.Concat(b[:to], b[from:])
	},
	func(rng *rand.Rand, b []byte) []byte { // what belongs elsewhere, less than a record
		from, to := part(rng, b)
		copy(b[rng.IntN(len(b)+1):], bytes.Clone(b[from:min(to, from+40)]))
		return b
	},
	func(rng *rand.Rand, b []byte) []byte { // the end is gone
		return b[:rng.IntN(len(b)+1)]
	},
}

func part(rng *rand.Rand, b []byte) (from, to int) {
	from = rng.IntN(len(b) + 1)
	return from, min(len(b), from+rng.IntN(600))
}

// intact tells from the bytes of a damaged store, and from those that were
// written, what a start should come to. ok is false when there is neither a
// whole snapshot nor the journal from its beginning.
func intact(whole, d *disk) (want loss, ok bool) {
	var have []span // with a durable field for to
	promised := uint64(0)
	base, first := uint64(0), ^uint64(0)
	for path, was := range whole.names {
		name, is := filepath.Base(path), d.names[path]
		var seq, salt uint64
		if _, err := fmt.Sscanf(strings.SplitN(name+"--", "-", 2)[1], "%016x-%016x", &seq, &salt); err != nil && name != "clean" || is == nil {
			continue
		}
		switch {
		case name == "clean" && bytes.Equal(was.data, is.data):
			promised = max(promised, binary.LittleEndian.Uint64(is.data[8:]))
		case strings.HasPrefix(name, "snapshot-"):
			promised = max(promised, seq)
			if bytes.Equal(was.data, is.data) {
				base = max(base, seq)
			}
		case strings.HasPrefix(name, "journal-"):
			promised, first = max(promised, seq-1), min(first, seq)
			for _, sp := range spans(was.data) {
				if bytes.Contains(is.data, was.data[sp.from:sp.from+44]) {
					promised = max(promised, binary.LittleEndian.Uint64(was.data[sp.from+16:]))
				}
				if bytes.Contains(is.data, was.data[sp.from:sp.to]) {
					have = append(have, sp)
				}
			}
		}
	}
	if base == 0 && first > 1 && promised > 0 {
		return want, false
	}
	slices.SortFunc(have, func(a, b span) int { return int(a.seq) - int(b.seq) })
	want.seq = base
	for _, sp := range have {
		if sp.seq <= want.seq {
			continue
		}
		if sp.seq-1 > max(want.seq, promised) {
			break // what is missing may never have been finished
		}
		for seq := want.seq + 1; seq < sp.seq; seq++ {
			want.missing = append(want.missing, seq)
		}
		if len(want.missing) > 0 {
			want.salvaged++
		}
		want.seq = sp.seq
	}
	want.lost = uint64(len(want.missing))
	if promised > want.seq {
		want.lost += promised - want.seq
	}
	return want, true
}

// Whatever happens to the files: every intact transaction is there, the loss of
// the others is told to the number, and the store goes on. Where not even a
// beginning is left, it refuses and leaves the files alone; asked to, it puts
// together what there is.
func TestREL4_AnyDamage(t *testing.T) {
	alone(t)
	runs := figure(800, 40_000)
	var opened, refused, lost, salvaged atomic.Int64
	shards(t, func(t *testing.T, shard, of int) {
		for run := shard; run < runs; run += of {
			rng := rand.New(rand.NewPCG(uint64(run), 4))
			o := sampling{n: 6 + rng.IntN(8), pad: rng.IntN(400), closed: rng.IntN(2) == 0}
			for range rng.IntN(4) {
				o.snapshots = append(o.snapshots, 1+rng.IntN(o.n))
			}
			if rng.IntN(4) == 0 {
				o.restored = 1 + rng.IntN(o.n-1)
			}
			whole, st := o.make(t)
			d := whole.restart()
			var done []string
			for range 1 + rng.IntN(3) {
				paths := slices.Sorted(maps.Keys(d.names))
				if len(paths) == 0 {
					break
				}
				path := paths[rng.IntN(len(paths))]
				kind := rng.IntN(len(damages) + 1)
				done = append(done, fmt.Sprintf("%d of %s", kind, filepath.Base(path)))
				if kind == len(damages) {
					delete(d.names, path)
					delete(d.durable, path)
				} else {
					d.damage(path, func(b []byte) []byte { return damages[kind](rng, b) })
				}
			}
			what := fmt.Sprintf("run %d, %+v, damages %q", run, o, done)
			want, ok := intact(whole, d)
			if !ok {
				if err := refusedWhole(t, d, st); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				refused.Add(1)
				continue
			}
			if err := afterDamage(t, d, st, want); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			opened.Add(1)
			lost.Add(int64(want.lost))
			salvaged.Add(int64(want.salvaged))
		}
	})
	t.Logf("%d damaged stores opened with %d transactions lost, each told, and %d salvaged behind them; %d without a beginning were refused unchanged",
		opened.Load(), lost.Load(), salvaged.Load(), refused.Load())
}

// afterDamage opens a damaged store and holds it to what is expected.
func afterDamage(t *testing.T, d *disk, st *story, want loss) error {
	before := d.restart()
	inspected, err := inspects(d)
	if name, _ := d.file("journal-"); name == "" && want.seq == 0 && fault.KindOf(err) == fault.NotFound {
		inspected, err = &kv.Inspection{Condition: kv.Whole, Start: kv.Recovery{Clean: true}}, nil // as good as new
	}
	if err != nil {
		return err
	}
	s, err := kv.Open(dir, kv.Options{FS: d})
	if err != nil {
		return err
	}
	defer s.Close()
	r, state := s.Status().Recovered, dump(t, s)
	if told, did := inspected.Start, r; inspected.Refused != "" || inspected.Seq != s.Seq() || inspected.Records != len(state) {
		return fmt.Errorf("inspected as %+v", inspected)
	} else if did.Damaged = nil; !cmp.Equal(told, did) {
		return fmt.Errorf("inspected (-told +did):\n%s", cmp.Diff(told, did))
	} else if bad := did.Lost > 0 || r.Damaged != nil; bad != (inspected.Condition == kv.Damaged) {
		return fmt.Errorf("called %s: %+v", inspected.Condition, r)
	}
	if s.Seq() != want.seq || r.Lost != want.lost || r.Salvaged < want.salvaged { // more where something stands between that belongs to none
		return fmt.Errorf("transaction %d, %+v; want %+v", s.Seq(), r, want)
	}
	if exact := st.state(want.seq, want.missing...); !maps.Equal(exact, state) {
		return fmt.Errorf("state (-want +got):\n%s", cmp.Diff(exact, state))
	}
	for _, name := range r.Damaged {
		was, is := before.names[filepath.Join(dir, strings.TrimPrefix(name, "damaged-"))], d.names[filepath.Join(dir, name)]
		if was == nil || is == nil || !bytes.Equal(was.data, is.data) {
			return fmt.Errorf("%s was not kept as it was", name)
		}
	}
	return goesOn(t, d, s, state)
}

// inspects looks at a store and checks that nothing comes of it.
func inspects(d *disk) (*kv.Inspection, error) {
	d = d.restart()
	before := d.list()
	in, err := kv.Inspect(ctx, dir, kv.Options{FS: d})
	for _, op := range []string{"write", "truncate", "sync", "rename", "remove", "chmod", "lock", "mkdir"} {
		if d.count(op) > 0 {
			return in, fmt.Errorf("looking at a store takes %d calls of %s", d.count(op), op)
		}
	}
	if !slices.Equal(before, d.list()) {
		return in, errors.New("looking at a store changes it")
	}
	return in, err
}

// refusedWhole checks that a store is refused and left as it is, and that what
// is intact of it can be put together when asked for: no record that never was.
func refusedWhole(t *testing.T, d *disk, st *story) error {
	before := d.restart()
	if in, err := inspects(d); fault.KindOf(err) != fault.NotFound && (err != nil || in.Refused == "" || in.Hint == "" || in.Condition != kv.Damaged) {
		return fmt.Errorf("inspected as %+v, %w", in, err)
	}
	_, err := kv.Open(dir, kv.Options{FS: d})
	var e *fault.Error
	if !errors.As(err, &e) || e.Kind != fault.Unavailable || e.Hint == "" {
		return fmt.Errorf("not refused: %w", err)
	}
	for path, was := range before.names {
		if is := d.names[path]; is == nil || !bytes.Equal(was.data, is.data) && filepath.Base(path) != "lock.pid" {
			return fmt.Errorf("%s was changed by a store that was refused", filepath.Base(path))
		}
	}
	s, err := kv.Open(dir, kv.Options{FS: d, Salvage: true})
	if errors.As(err, &e) && e.Kind == fault.Unavailable && strings.Contains(e.Msg, "nothing of the store is left") {
		return nil
	}
	if err != nil {
		return err
	}
	defer s.Close()
	state := dump(t, s)
	for id, text := range state {
		if !slices.ContainsFunc(*st, func(edits []edit) bool {
			return slices.ContainsFunc(edits, func(e edit) bool { return e.id == id && e.text == text && !e.gone })
		}) {
			return fmt.Errorf("%q was never %q", id, text)
		}
	}
	return goesOn(t, d, s, state)
}

// A segment that lost all of its transactions begins where the next one does.
// Whichever of the two is read first, what is written from now on stays.
func TestREL4_TwoSegmentsWithOneBeginning(t *testing.T) {
	for i := range 40 { // salts are random, and with them the order of the names
		d, _ := sampling{n: 5, snapshots: []int{3}, failed: []int{5}}.make(t)
		for path := range d.names {
			if !strings.HasPrefix(filepath.Base(path), "journal-") {
				continue
			}
			switch seq := first(path); {
			case seq == 4:
				d.damage(path, func(b []byte) []byte { return b[:32] })
			case seq == 6 && i%2 == 1: // it is set aside, and the one before is not written to
				d.flip(path, 40)
			}
		}
		s := open(t, d, kv.Options{SnapshotAfter: -1})
		if r := s.Status().Recovered; s.Seq() != 3 || r.Lost != 2 {
			t.Fatalf("transaction %d, %+v", s.Seq(), r)
		}
		put(t, s, "new", "1")
		put(t, s, "new", "2")
		want := dump(t, s)
		killed := d.restart()
		_ = s.Close()
		for _, after := range []*disk{killed, d} {
			s := open(t, after, kv.Options{})
			if got := dump(t, s); !maps.Equal(want, got) {
				t.Fatalf("acknowledged after the damage, and gone (-want +got):\n%s\n%+v", cmp.Diff(want, got), s.Status().Recovered)
			}
		}
	}
}

// A loss is told once, also when an empty segment behind it goes on to say that
// there was more.
func TestREL4_LossIsToldOnce(t *testing.T) {
	d, st := sampling{n: 8, closed: true, snapshots: []int{2, 6, 8}}.make(t)
	for path, n := range d.names {
		switch name := filepath.Base(path); {
		case strings.HasPrefix(name, "snapshot-0000000000000008"):
			n.data = bytes.Clone(n.data[:len(n.data)/2])
		case strings.HasPrefix(name, "journal-") && first(path) == 7:
			delete(d.names, path)
		}
	}
	if err := afterDamage(t, d, st, loss{seq: 6, lost: 2}); err != nil {
		t.Error(err)
	}
}

// A journal that does not reach back to the beginning is no store without a
// snapshot, whether it was stopped properly or not.
func TestREL4_JournalWithoutBeginning(t *testing.T) {
	for _, closed := range []bool{false, true} {
		d, st := sampling{n: 9, closed: closed, snapshots: []int{2, 7}}.make(t)
		for path := range d.names {
			if name := filepath.Base(path); strings.HasPrefix(name, "snapshot-") || strings.HasPrefix(name, "journal-") && first(path) == 3 {
				delete(d.names, path)
				delete(d.durable, path)
			}
		}
		if err := refusedWhole(t, d, st); err != nil {
			t.Errorf("closed %v: %v", closed, err)
		}
	}
}

// The header of a damaged record tells what had been acknowledged when it was
// written, also when the record before it is damaged too.
func TestREL4_HeaderBehindDamage(t *testing.T) {
	d, st := sampling{n: 5}.make(t)
	path, n := d.file("journal-")
	list := spans(n.data)
	d.flip(path, 8*(list[3].from+9)) // the sequence number of 4
	d.flip(path, 8*(list[4].to-1))   // the content of 5
	if err := afterDamage(t, d, st, loss{seq: 3, lost: 1}); err != nil {
		t.Error(err)
	}
}

// A block that was written to the wrong place takes away what was there, and no
// more than that.
func TestREL4_MisdirectedWrite(t *testing.T) {
	d, st := sampling{n: 12, closed: true}.make(t)
	whole := d.restart()
	path, n := d.file("journal-")
	list := spans(n.data)
	d.damage(path, func(b []byte) []byte {
		copy(b[list[3].from:], b[list[9].from:list[9].to]) // 10 over 4
		return b
	})
	want, _ := intact(whole, d)
	if err := afterDamage(t, d, st, want); err != nil {
		t.Error(err)
	}
}
