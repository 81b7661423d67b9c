package kv_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/kvtest"
)

// upgradeShared is an upgrade that can't be done twice, nor by halves.
func upgradeShared(tx *kv.Tx, _ int) error {
	for id, r := range notes.All(tx, "") {
		if err := notes.Put(tx, id, &record{Text: r.Text + "+"}); err != nil {
			return err
		}
	}
	return tx.Err()
}

// program opens a store in a folder of its own as a program of a format does.
func program(t *testing.T, d *disk, m *kvtest.Machine, format int) *kv.Store {
	t.Helper()
	s, err := kv.Open(dir, kv.Options{FS: d, Log: m, Format: format, Upgrade: upgradeShared, SnapshotAfter: -1})
	if err != nil {
		t.Fatal(err)
	}
	s.Follow()
	return s
}

func stop(t *testing.T, stores ...*kv.Store) {
	t.Helper()
	for _, s := range stores {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// same has stores hold the same, and that.
func allHold(t *testing.T, want map[string]string, stores ...*kv.Store) {
	t.Helper()
	catchUp(t, stores...)
	_, first, err := stores[0].Digest()
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range stores {
		if got := dump(t, s); !maps.Equal(got, want) {
			t.Errorf("%d has %v, want %v", i, got, want)
		}
		if _, sum, err := s.Digest(); err != nil || sum != first {
			t.Errorf("%d differs, %v", i, err)
		}
	}
}

// newer wants a store whose program is too old for what is in the log: it is read, and says so.
func newer(t *testing.T, s *kv.Store, want map[string]string) {
	t.Helper()
	err := s.CatchUp(ctx)
	var f *fault.Error
	if !errors.As(err, &f) || f.Retryable || !strings.Contains(f.Hint, "install the newer version") {
		t.Errorf("an old program is told %v", err)
	}
	if err := add(s, "old"); !errors.As(err, &f) || !strings.Contains(f.Hint, "install the newer version") {
		t.Errorf("an old program writes: %v", err)
	}
	if got := dump(t, s); !maps.Equal(got, want) {
		t.Errorf("an old program reads %v", got)
	}
}

func TestSYNC7_MachinesAreUpgradedOneAfterTheOther(t *testing.T) {
	l := kvtest.NewLog(kv.Position{})
	da, db, ma, mb := newDisk(), newDisk(), l.Machine(), l.Machine()
	a, b := program(t, da, ma, 1), program(t, db, mb, 1)
	put(t, a, "a", "1")
	put(t, b, "b", "2")
	catchUp(t, a)
	stop(t, a)
	put(t, b, "c", "3") // while the first is being upgraded
	before := map[string]string{"a": "1", "b": "2", "c": "3"}
	a = program(t, da, ma, 2)
	newer(t, b, before)
	put(t, a, "d", "4")
	newer(t, b, before)
	_, n := l.End()
	stop(t, b)
	b = program(t, db, mb, 2)
	if _, now := l.End(); now != n {
		t.Errorf("the second wrote %d entries", now-n)
	}
	put(t, b, "e", "5")
	after := map[string]string{"a": "1+", "b": "2+", "c": "3+", "d": "4", "e": "5"}
	allHold(t, after, a, b)
	stop(t, a, b)
	a, b = program(t, da, ma, 2), program(t, db, mb, 2)
	allHold(t, after, a, b)
	stop(t, a, b)
}

// An old program that writes in the last moment is read, too.
func TestSYNC7_AnOldProgramIsFirst(t *testing.T) {
	l := kvtest.NewLog(kv.Position{})
	da, db, ma, mb := newDisk(), newDisk(), l.Machine(), l.Machine()
	a, b := program(t, da, ma, 1), program(t, db, mb, 1)
	put(t, a, "a", "1")
	stop(t, a)
	catchUp(t, b)
	times := 0
	ma.Slow(func(op string) {
		if op == "append" && times < 3 {
			times++
			if err := add(b, "b"); err != nil {
				t.Error(err)
			}
		}
	})
	a = program(t, da, ma, 2)
	newer(t, b, map[string]string{"a": "1", "b": "3"})
	stop(t, b)
	b = program(t, db, mb, 2)
	allHold(t, map[string]string{"a": "1+", "b": "3+"}, a, b)
	stop(t, a, b)
}

// Whichever operation on the disk or answer of the log fails during the upgrade of a machine,
// and wherever the power goes, it comes to what the others have.
func TestSYNC7_AnUpgradeThatIsInterrupted(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	want := map[string]string{"a": "1+", "b": "2+"}
	for _, op := range []string{"write", "sync", "rename", "open", "remove", "syncdir", "append", "lose"} {
		for n := 1; ; n++ {
			l := kvtest.NewLog(kv.Position{})
			da, db, ma, mb := newDisk(), newDisk(), l.Machine(), l.Machine()
			a, b := program(t, da, ma, 1), program(t, db, mb, 1)
			put(t, a, "a", "1")
			stop(t, a)
			put(t, b, "b", "2")
			stop(t, b)
			seen, failed := 0, false
			var cuts []*disk
			fails := func(o string) bool {
				cuts = append(cuts, da.powerCut(rng))
				if o == op {
					seen++
				}
				failed = failed || o == op && seen == n
				return o == op && seen == n
			}
			da.setHook(func(o, _ string) error {
				if fails(o) {
					return errDisk
				}
				return nil
			})
			ma.Faults(func() kvtest.Fault {
				switch {
				case op == "append" && fails("append"):
					return kvtest.FaultLoseRequest
				case op == "lose" && fails("lose"):
					return kvtest.FaultLoseAnswer
				}
				return kvtest.FaultNone
			})
			s, err := kv.Open(dir, kv.Options{FS: da, Log: ma, Format: 2, Upgrade: upgradeShared, SnapshotAfter: -1})
			da.setHook(nil)
			ma.Faults(nil)
			if err == nil {
				_ = s.Close()
			} else if fault.KindOf(err) != fault.Unavailable {
				t.Fatalf("%s %d: %v", op, n, err)
			}
			b = program(t, db, mb, 2)
			for i, d := range append(cuts, da) {
				a = program(t, d.restart(), l.Machine(), 2)
				allHold(t, want, b, a)
				if t.Failed() {
					t.Fatalf("%s %d, cut %d", op, n, i)
				}
				stop(t, a)
			}
			stop(t, b)
			if !failed {
				break
			}
		}
	}
}

// Without the other machines, the upgrade begins with what is here. It is right when nobody
// has written anything meanwhile, and noticed otherwise.
func TestSYNC7_AnUpgradeWithoutTheLog(t *testing.T) {
	for _, meanwhile := range []bool{false, true} {
		l := kvtest.NewLog(kv.Position{})
		da, db, ma, mb := newDisk(), newDisk(), l.Machine(), l.Machine()
		a, b := program(t, da, ma, 1), program(t, db, mb, 1)
		put(t, a, "a", "1")
		catchUp(t, b)
		stop(t, a)
		if meanwhile {
			put(t, b, "b", "2")
		}
		ma.Cut(true)
		a = program(t, da, ma, 2)
		wantState(t, a, map[string]string{"a": "1+"})
		ma.Cut(false)
		err := a.CatchUp(ctx)
		if meanwhile {
			var f *fault.Error
			if !errors.As(err, &f) || !strings.Contains(f.Hint, "join anew") {
				t.Errorf("told %v", err)
			}
			allHold(t, map[string]string{"a": "1", "b": "2"}, b)
			stop(t, a, b)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		// The log says so before anything else is written.
		newer(t, b, map[string]string{"a": "1"})
		stop(t, b)
		b = program(t, db, mb, 2)
		put(t, a, "c", "3")
		allHold(t, map[string]string{"a": "1+", "c": "3"}, a, b)
		stop(t, a, b)
	}
}

// An addition that the log may have waits, and is found there by the program that upgrades.
func TestSYNC4_WhatTheLogMayHaveIsFoundByAnUpgrade(t *testing.T) {
	l := kvtest.NewLog(kv.Position{})
	m, folder := l.Machine(), t.TempDir()
	old := startQueued(t, folder, kv.Options{Log: m})
	catchUp(t, old)
	cutAtAppend(m, kvtest.FaultLoseAnswer)
	if err := addNew(ctx, old, addition{ID: "a", Text: "1", Blind: true}); err != nil {
		t.Fatal(err)
	}
	stop(t, old)
	newer := startQueued(t, folder, kv.Options{Log: l.Machine(), Format: 2, Upgrade: upgradeShared})
	defer stop(t, newer)
	settled(t, newer)
	if got := dump(t, newer); !maps.Equal(got, map[string]string{"a": "1+"}) || len(waiting(t, newer)) != 0 {
		t.Errorf("it has %v, and %v waits", got, waiting(t, newer))
	}
	if n := appends(t, l)["1"]; n != 1 {
		t.Errorf("it was appended %d times", n)
	}
}

// A newer format whose records are as they were is one all the same.
func TestSYNC7_AFormatThatNeedsNoUpgrade(t *testing.T) {
	l := kvtest.NewLog(kv.Position{})
	d, m := newDisk(), l.Machine()
	s := program(t, d, m, 1)
	put(t, s, "a", "1")
	stop(t, s)
	s, err := kv.Open(dir, kv.Options{FS: d, Log: m, Format: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, s)
	s.Follow()
	put(t, s, "b", "2")
	allHold(t, map[string]string{"a": "1", "b": "2"}, s)
}

// A machine that was upgraded without the log says so when it first reaches it, also when it was
// started again in between, and before it writes.
func TestSYNC7_AnUpgradeWithoutTheLogIsToldAtTheFirstContact(t *testing.T) {
	l := kvtest.NewLog(kv.Position{})
	da, db, ma, mb := newDisk(), newDisk(), l.Machine(), l.Machine()
	a, b := program(t, da, ma, 1), program(t, db, mb, 1)
	put(t, a, "a", "1")
	catchUp(t, b)
	stop(t, a)
	ma.Cut(true)
	for range 3 {
		a = program(t, da, ma, 2)
		wantState(t, a, map[string]string{"a": "1+"})
		stop(t, a)
	}
	_, before := l.End()
	a = program(t, da, ma, 2)
	ma.Cut(false)
	for n := before; n == before; _, n = l.End() {
		runtime.Gosched()
	}
	newer(t, b, map[string]string{"a": "1"})
	stop(t, a, b)
	_, before = l.End()
	a, b = program(t, da, ma, 2), program(t, db, mb, 2)
	wantState(t, a, map[string]string{"a": "1+"})
	if _, n := l.End(); n != before {
		t.Errorf("it is said again, in %d entries", n-before)
	}
	put(t, a, "c", "3")
	allHold(t, map[string]string{"a": "1+", "c": "3"}, a, b)
	stop(t, a, b)
}
