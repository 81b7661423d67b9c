package kv_test

import (
	"errors"
	"maps"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/kvtest"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// choosing has a machine's appends come to what is stored in it.
func choosing(m *kvtest.Machine) *atomic.Int64 {
	what := new(atomic.Int64)
	m.Faults(func() kvtest.Fault { return kvtest.Fault(what.Load()) })
	return what
}

// wantTrouble wants a retryable error, and that the status says the same.
func wantTrouble(t *testing.T, s *kv.Store, err error, full bool) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Unavailable || !f.Retryable || errors.Is(err, outbox.ErrFull) != full || errors.Is(err, outbox.ErrUnknown) {
		t.Errorf("told %v", err)
	}
	if st, _ := s.Replica(); st.Trouble == nil || errors.Is(st.Trouble, outbox.ErrFull) != full {
		t.Errorf("the status says %v", st.Trouble)
	}
}

// A log that has no room refuses for certain, also what would wait without it, until there is
// room. Others are read meanwhile, and that does not pass for an end of the trouble.
func TestSYNC4_AnAdditionDoesNotWaitForRoom(t *testing.T) {
	_, machines, stores := queued(t, 2)
	what := choosing(machines[0])
	put(t, stores[0], "a", "1")
	what.Store(int64(kvtest.FaultFull))
	wantTrouble(t, stores[0], add(stores[0], "b"), true)
	wantTrouble(t, stores[0], addNew(ctx, stores[0], addition{ID: "c", Text: "3"}), true)
	if list := waiting(t, stores[0]); len(list) != 0 {
		t.Errorf("it waits: %+v", list)
	}
	catchUp(t, stores[1])
	seen := func() uint64 { st, _ := stores[0].Replica(); return st.Position.Seq }
	for was := seen(); seen() == was; runtime.Gosched() {
		put(t, stores[1], "d", "4")
	}
	if st, _ := stores[0].Replica(); st.Trouble == nil {
		t.Error("that others are read passes for the end of the trouble")
	}
	wantTrouble(t, stores[0], stores[0].CatchUp(ctx), true)
	if got := dump(t, stores[0]); !maps.Equal(got, map[string]string{"a": "1", "d": "4"}) {
		t.Errorf("it has %v", got)
	}
	what.Store(int64(kvtest.FaultNone))
	if err := addNew(ctx, stores[0], addition{ID: "c", Text: "3"}); err != nil {
		t.Fatal(err)
	}
	if st, _ := stores[0].Replica(); st.Trouble != nil {
		t.Errorf("with room the status says %v", st.Trouble)
	}
	allHold(t, map[string]string{"a": "1", "c": "3", "d": "4"}, stores...)
}

// What waits already when there is no room any more stays, seen and pending, and is done once.
func TestSYNC4_WhatWaitsStaysWhileThereIsNoRoom(t *testing.T) {
	_, machines, stores := queued(t, 2)
	what := choosing(machines[0])
	machines[0].Cut(true)
	mustAdd(t, stores[0], "a", "1")
	what.Store(int64(kvtest.FaultFull))
	machines[0].Cut(false)
	wantTrouble(t, stores[0], stores[0].CatchUp(ctx), true)
	for !pendingNote(t, stores[0], "a") { // it is seen again
		runtime.Gosched()
	}
	for range 3 {
		wantTrouble(t, stores[0], stores[0].CatchUp(ctx), true)
		if list := waiting(t, stores[0]); len(list) != 1 || list[0].Refused != nil || !pendingNote(t, stores[0], "a") {
			t.Fatalf("there waits %+v", list)
		}
	}
	what.Store(int64(kvtest.FaultNone))
	settled(t, stores...)
	allHold(t, map[string]string{"a": "1"}, stores...)
}

// Servers whose disk is full may be read and not answer to writes. Of the first one nobody knows;
// nothing of what follows is sent, so it is refused for certain.
func TestSYNC2_ALogThatAnswersToNoWriteIsAskedBeforeTheNext(t *testing.T) {
	l, machines, stores := replicas(t, 2)
	what := choosing(machines[0])
	put(t, stores[0], "a", "1")
	what.Store(int64(kvtest.FaultSilent))
	_, n := l.End()
	if err := add(stores[0], "b"); !errors.Is(err, outbox.ErrUnknown) {
		t.Errorf("the first is told %v", err)
	}
	for range 2 {
		wantTrouble(t, stores[0], add(stores[0], "b"), false)
	}
	catchUp(t, stores[1])
	put(t, stores[1], "c", "3")
	if got := dump(t, stores[0]); got["a"] != "1" || got["b"] != "" {
		t.Errorf("it has %v", got)
	}
	if _, now := l.End(); now < n {
		t.Errorf("%d entries, then %d", n, now)
	}
	what.Store(int64(kvtest.FaultNone))
	if err := add(stores[0], "b"); err != nil {
		t.Fatal(err)
	}
	if st, _ := stores[0].Replica(); st.Trouble != nil {
		t.Errorf("then the status says %v", st.Trouble)
	}
	allHold(t, map[string]string{"a": "1", "b": "1", "c": "3"}, stores...)
}
