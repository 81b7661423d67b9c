package kv_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// A snapshot is written in steps, and between any two of them transactions
// change what is written and what is not. The file is the state at the one
// transaction that it is named for, without any help from the journal.
func TestSnapshotIsOneState(t *testing.T) {
	d := newDisk()
	s := open(t, d, kv.Options{SnapshotAfter: -1})
	h := follow(s)
	key := func(i int) string { return fmt.Sprintf("%05d", i) }
	const n = 2600 // several steps
	err := s.Update(ctx, func(tx *kv.Tx) error {
		for i := range n {
			if err := notes.Put(tx, key(2*i), &record{Text: "old"}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(4, 4))
	steps := 0
	d.setHook(func(op, name string) error {
		if op != "write" || !strings.HasPrefix(name, "snapshot-") {
			return nil
		}
		steps++
		err := s.Update(ctx, func(tx *kv.Tx) error {
			var err error
			for range 400 {
				switch id := key(rng.IntN(2*n + 10)); rng.IntN(3) {
				case 0:
					err = errors.Join(err, notes.Delete(tx, id))
				default:
					err = errors.Join(err, notes.Put(tx, id, &record{Text: fmt.Sprint(steps)}))
				}
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		return nil
	})
	if err := s.Snapshot(ctx); err != nil {
		t.Fatal(err)
	}
	if steps < 5 || int(s.Seq()) != 1+steps {
		t.Fatalf("%d steps, %d transactions", steps, s.Seq())
	}
	d.setHook(nil)

	alone := d.restart()
	for name := range alone.names {
		if strings.HasPrefix(filepath.Base(name), "journal-") {
			delete(alone.names, name)
		}
	}
	if diff := cmp.Diff(h.at[1], dump(t, open(t, alone, kv.Options{}))); diff != "" {
		t.Errorf("the snapshot is not the state after transaction 1:\n%s", diff)
	}
	// And with the journal it is the present one.
	if diff := cmp.Diff(h.at[s.Seq()], dump(t, open(t, d.restart(), kv.Options{}))); diff != "" {
		t.Errorf("snapshot and journal:\n%s", diff)
	}
}

func TestSnapshotIsDurable(t *testing.T) {
	d := newDisk()
	s := open(t, d, kv.Options{SnapshotAfter: -1})
	rng := rand.New(rand.NewPCG(5, 5))
	for i := range 20 {
		put(t, s, "a", fmt.Sprint(i))
		if err := s.Snapshot(ctx); err != nil {
			t.Fatal(err)
		}
		after := open(t, d.powerCut(rng), kv.Options{})
		if st := after.Status(); st.SnapshotSeq != s.Seq() || st.Seq != s.Seq() {
			t.Fatalf("after the cut: %+v", st)
		}
	}
}

// Old generations go, the directory does not grow, and a snapshot of nothing
// new is none.
func TestSnapshotPrunes(t *testing.T) {
	d := newDisk()
	s := open(t, d, kv.Options{SnapshotAfter: -1})
	for i := range 6 {
		put(t, s, "a", fmt.Sprint(i))
		for range 2 {
			if err := s.Snapshot(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	var snapshots, segments int
	for _, name := range d.list() {
		switch {
		case strings.HasPrefix(name, "snapshot-"):
			snapshots++
		case strings.HasPrefix(name, "journal-"):
			segments++
		case strings.HasSuffix(name, ".tmp"):
			t.Errorf("%s was left", name)
		}
	}
	if snapshots != 2 || segments != 2 {
		t.Errorf("files %q", d.list())
	}
}

// A snapshot in the background begins when the journal has grown enough, and
// Close makes one under way give up.
func TestSnapshotInBackground(t *testing.T) {
	d := newDisk()
	s := open(t, d, kv.Options{SnapshotAfter: 2000})
	for i := 0; s.Status().SnapshotSeq == 0; i++ {
		if i > 10_000 {
			t.Fatal("no snapshot")
		}
		put(t, s, fmt.Sprint(i%10), strings.Repeat("x", 100))
	}

	g := &gate{make(chan struct{}), make(chan struct{})}
	once := false
	d.setHook(func(op, name string) error {
		if op == "write" && strings.HasPrefix(name, "snapshot-") && !once {
			once = true
			close(g.arrived)
			<-g.open
		}
		return nil
	})
	for {
		put(t, s, "a", strings.Repeat("y", 100))
		select {
		case <-g.arrived:
		default:
			continue
		}
		break
	}
	want := dump(t, s)
	closed := make(chan error)
	go func() { closed <- s.Close() }()
	close(g.open)
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	d.setHook(nil)
	s = open(t, d, kv.Options{})
	if diff := cmp.Diff(want, dump(t, s)); diff != "" {
		t.Error(diff)
	}
	if !s.Status().Recovered.Clean {
		t.Errorf("%+v", s.Status().Recovered)
	}
}

func TestSnapshotCancelled(t *testing.T) {
	d := newDisk()
	s := open(t, d, kv.Options{})
	put(t, s, "a", "1")
	c, cancel := context.WithCancel(ctx)
	d.setHook(func(op, name string) error {
		if strings.HasPrefix(name, "snapshot-") {
			cancel()
		}
		return nil
	})
	if err := s.Snapshot(c); fault.KindOf(err) != fault.Cancelled {
		t.Errorf("error %v", err)
	}
	if st := s.Status(); st.SnapshotSeq != 0 || st.SnapshotError != "" {
		t.Errorf("Status = %+v", st)
	}
	d.setHook(nil)
	if err := s.Snapshot(ctx); err != nil {
		t.Error(err)
	}
	for _, name := range d.list() {
		if strings.HasSuffix(name, ".tmp") {
			t.Errorf("%s was left", name)
		}
	}
}
