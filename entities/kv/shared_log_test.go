package kv_test

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/kvtest"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// replicas opens stores in memory over one log.
func replicas(t *testing.T, n int) (*kvtest.Log, []*kvtest.Machine, []*kv.Store) {
	t.Helper()
	l := kvtest.NewLog(kv.Position{})
	var machines []*kvtest.Machine
	var stores []*kv.Store
	for range n {
		m := l.Machine()
		s, err := kv.Open(kv.InMemory, kv.Options{Log: m, Format: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		s.Follow()
		machines, stores = append(machines, m), append(stores, s)
	}
	return l, machines, stores
}

// add adds one to a counter.
func add(s *kv.Store, id string) error {
	return s.Update(ctx, func(tx *kv.Tx) error {
		old, err := notes.Get(tx, id)
		if err != nil {
			return err
		}
		n := 0
		if old != nil {
			n, err = strconv.Atoi(old.Text)
			if err != nil {
				return err
			}
		}
		return notes.Put(tx, id, &record{Text: strconv.Itoa(n + 1)})
	})
}

func catchUp(t *testing.T, stores ...*kv.Store) {
	t.Helper()
	for _, s := range stores {
		if err := s.CatchUp(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// Writers on three machines add to the same counter: each addition counts once, everywhere.
func TestSYNC2_WritersOfOneCounter(t *testing.T) {
	_, _, stores := replicas(t, 3)
	const writers, times = 4, 25
	var wg sync.WaitGroup
	for _, s := range stores {
		for range writers {
			wg.Go(func() {
				for range times {
					if err := add(s, "counter"); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	catchUp(t, stores...)
	for i, s := range stores {
		if got, want := dump(t, s)["counter"], fmt.Sprint(len(stores)*writers*times); got != want {
			t.Errorf("machine %d counts %s, want %s", i, got, want)
		}
		st, _ := s.Replica()
		t.Logf("machine %d: %d conflicts, %d foreign", i, st.Conflicts, st.Foreign)
	}
}

// A machine without the others reads, refuses writes as retryable, and goes on when they are back.
func TestSYNC4_WithoutTheOthers(t *testing.T) {
	_, machines, stores := replicas(t, 2)
	put(t, stores[0], "a", "1")
	catchUp(t, stores[1])
	machines[1].Cut(true)
	put(t, stores[0], "a", "2")
	err := stores[1].Update(ctx, func(tx *kv.Tx) error { return notes.Put(tx, "b", &record{Text: "3"}) })
	var e *fault.Error
	if !errors.As(err, &e) || e.Kind != fault.Unavailable || !e.Retryable {
		t.Fatalf("a write without the others: %v", err)
	}
	if got := dump(t, stores[1]); !maps.Equal(got, map[string]string{"a": "1"}) {
		t.Fatalf("it reads %v", got)
	}
	machines[1].Cut(false)
	put(t, stores[1], "b", "3")
	catchUp(t, stores...)
	for i, s := range stores {
		if got := dump(t, s); !maps.Equal(got, map[string]string{"a": "2", "b": "3"}) {
			t.Errorf("machine %d: %v", i, got)
		}
	}
}

// A machine that is shown an old end of the log, as by a server that was the leader, does not
// take it for the end: neither a reading nor a refusal is given as if it were up to date.
func TestSYNC2_AnOldEndOfTheLogIsNotTakenForTheEnd(t *testing.T) {
	_, machines, stores := replicas(t, 2)
	put(t, stores[0], "a", "1")
	catchUp(t, stores[1])
	machines[1].StaleReads(true)
	put(t, stores[0], "a", "2")
	var e *fault.Error
	if err := stores[1].CatchUp(ctx); !errors.As(err, &e) || !e.Retryable {
		t.Errorf("told %v, and it reads %v", err, dump(t, stores[1]))
	}
	swap := func(tx *kv.Tx) error {
		r, err := notes.Get(tx, "a")
		if err == nil && r.Text != "2" {
			err = fault.New(fault.Conflict, "it is another one")
		}
		return err
	}
	if err := stores[1].Update(ctx, swap); !errors.Is(err, kv.ErrUnconfirmed) {
		t.Errorf("a refusal that is wrong by now: %v", err)
	}
	machines[1].StaleReads(false)
	catchUp(t, stores[1])
	if got := dump(t, stores[1]); got["a"] != "2" {
		t.Errorf("it reads %v", got)
	}
	if err := stores[1].Update(ctx, swap); err != nil {
		t.Error(err)
	}
}

// A store that is closed while others are first with what it appends is closed properly.
func TestSYNC2_ClosedWhileOthersAreFirst(t *testing.T) {
	for range 20 {
		l := kvtest.NewLog(kv.Position{})
		m, d := l.Machine(), newDisk()
		s, err := kv.Open(dir, kv.Options{FS: d, Log: m, Format: 1})
		if err != nil {
			t.Fatal(err)
		}
		put(t, s, "a", "1")
		other := l.Machine()
		at, _ := l.End()
		var once sync.Once
		closed := make(chan error, 1)
		m.Slow(func(op string) {
			if op != "append" {
				return
			}
			once.Do(func() {
				if _, err := other.Append(ctx, at, (&outbox.Entry{ID: outbox.NewWriterID().NewID(), Format: 1}).Encode()); err != nil {
					t.Error(err)
				}
				go func() { closed <- s.Close() }()
				for range 10_000 { // it begins to wait for what is being appended
					runtime.Gosched()
				}
			})
		})
		_ = s.Update(ctx, func(tx *kv.Tx) error { return notes.Put(tx, "b", &record{Text: "2"}) })
		if err := <-closed; err != nil {
			t.Fatal(err)
		}
	}
}

// Stores that only catch up keep where they stand from time to time: what they would have to
// read again may be purged.
func TestSYNC7_APositionBehindEntriesWithoutTransactionsIsKept(t *testing.T) {
	l := kvtest.NewLog(kv.Position{})
	d := newDisk()
	open := func() *kv.Store {
		t.Helper()
		s, err := kv.Open(dir, kv.Options{FS: d, Log: l.Machine(), Format: 1})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	put(t, s, "a", "1")
	for range 1200 {
		catchUp(t, s)
	}
	before, _ := s.Replica()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open()
	defer s.Close()
	after, _ := s.Replica()
	if got := before.Position.Seq - after.Position.Seq; got > 1000 {
		t.Errorf("the place is %d behind after a start", got)
	}
	l.Purge(after.Position)
	catchUp(t, s)
	put(t, s, "a", "2")
}

// A transaction that takes long to run is overtaken each time by a machine that writes without
// a pause. It gets its turn all the same.
func TestSYNC2_WhoTakesLongGetsATurn(t *testing.T) {
	_, _, stores := replicas(t, 2)
	slow, quick := stores[0], stores[1]
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := add(quick, "quick"); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 3 {
		tries := 0
		err := slow.Update(ctx, func(tx *kv.Tx) error {
			tries++
			for range 100_000 { // the other one appends often meanwhile
				runtime.Gosched()
			}
			return notes.Put(tx, "slow", &record{Text: strconv.Itoa(tries)})
		})
		if err != nil {
			t.Error(err)
		}
		t.Logf("%d tries", tries)
	}
	close(stop)
	wg.Wait()
}
