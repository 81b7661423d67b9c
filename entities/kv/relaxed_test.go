package kv_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// With relaxed durability the disk confirms what was written within a second,
// at a snapshot and at the end, and not before a reply.
func TestREL1_Relaxed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		s, err := kv.Open(dir, kv.Options{FS: d, Durability: kv.Relaxed, SnapshotAfter: -1})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Status().Durability; got != "relaxed" {
			t.Errorf("durability %q", got)
		}
		before := d.count("sync")
		put(t, s, "a", "1")
		put(t, s, "b", "2")
		if n := d.count("sync"); n != before {
			t.Errorf("%d flushes before the replies", n-before)
		}
		wantState(t, s, map[string]string{"a": "1", "b": "2"})
		killed := d.restart()

		time.Sleep(time.Second) //nolint:forbidigo // of the bubble's clock
		synctest.Wait()
		if n := d.count("sync"); n != before+1 {
			t.Errorf("%d flushes within a second", n-before)
		}
		lost := func(d *disk) map[string]string { return stateOn(t, d.settled()) }
		if got := stateOn(t, killed); len(got) != 2 {
			t.Errorf("killed at once: %v", got)
		}
		if got := lost(d); len(got) != 2 {
			t.Errorf("after a second and a power cut: %v", got)
		}
		time.Sleep(time.Minute) //nolint:forbidigo // of the bubble's clock
		synctest.Wait()
		if n := d.count("sync"); n != before+1 {
			t.Errorf("%d flushes with nothing to flush", n-before-1)
		}

		put(t, s, "c", "3")
		if got := lost(d.restart()); len(got) != 2 {
			t.Errorf("not flushed, yet there after a power cut: %v", got)
		}
		if err := s.Snapshot(ctx); err != nil {
			t.Fatal(err)
		}
		if got := lost(d); len(got) != 3 {
			t.Errorf("after a snapshot: %v", got)
		}
		put(t, s, "d", "4")
		closeWell(t, s)
		if got := lost(d); len(got) != 4 {
			t.Errorf("after a stop: %v", got)
		}
	})
}

// settled returns the disk after a power cut that lost everything that was not
// flushed.
func (d *disk) settled() *disk {
	c := d.restart()
	c.names, c.pending = c.durable, nil
	for _, n := range c.names {
		n.data, n.pending = n.durable, nil
	}
	return c
}

// stateOn returns what a store finds on a disk. It ends all its goroutines.
func stateOn(t *testing.T, d *disk) map[string]string {
	t.Helper()
	s, err := kv.Open(dir, kv.Options{FS: d})
	if err != nil {
		t.Fatal(err)
	}
	defer closeWell(t, s)
	return dump(t, s)
}

// closeWell closes a store and lets the clock of the bubble go on until the
// goroutine that buntdb keeps for a second after its end is gone.
func closeWell(t *testing.T, s *kv.Store) {
	t.Helper()
	_ = s.Close()
	time.Sleep(2 * time.Second) //nolint:forbidigo // of the bubble's clock
}

func TestREL3_RelaxedFlushFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		told := make(chan struct{}, 1)
		s, err := kv.Open(dir, kv.Options{FS: d, Durability: kv.Relaxed, OnStatus: func() { told <- struct{}{} }})
		if err != nil {
			t.Fatal(err)
		}
		d.setHook(func(op, name string) error {
			if op == "sync" && strings.HasPrefix(name, "journal-") {
				return errDisk
			}
			return nil
		})
		put(t, s, "a", "1")
		<-told
		err = s.Update(ctx, func(tx *kv.Tx) error { return notes.Put(tx, "b", &record{}) })
		if e := wantKind(t, err, fault.Unavailable); e.Retryable || e.Hint == "" {
			t.Errorf("%+v", e)
		}
		if st := s.Status(); st.Mode != "read-only" || st.Reason == "" {
			t.Errorf("%+v", st)
		}
		wantState(t, s, map[string]string{"a": "1"})
		flushes := d.count("sync")
		closeWell(t, s)
		if n := d.count("sync"); n != flushes {
			t.Errorf("%d more flushes after one that failed", n-flushes)
		}
	})
}

func TestREL3_StatusIsTold(t *testing.T) {
	d := newDisk()
	told := make(chan struct{}, 4)
	s := open(t, d, kv.Options{SnapshotAfter: -1, OnStatus: func() { told <- struct{}{} }})
	put(t, s, "a", "1")
	d.setHook(func(op, name string) error {
		if op == "write" && strings.HasPrefix(name, "snapshot-") {
			return errDisk
		}
		return nil
	})
	if err := s.Snapshot(ctx); err == nil {
		t.Fatal("a snapshot that failed")
	}
	<-told
	if s.Status().SnapshotError == "" {
		t.Error("no word of the snapshot")
	}
	d.setHook(nil)
	if err := s.Snapshot(ctx); err != nil {
		t.Fatal(err)
	}
	<-told
	if e := s.Status().SnapshotError; e != "" {
		t.Error(e)
	}
}
