package kv_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/kvtest"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// returning is a machine that comes back with additions that wait, named "item 0000" and so on. Its
// replays are counted when their function has run.
type returning struct {
	log   *kvtest.Log
	way   *kvtest.Machine
	other *kv.Store
	s     *kv.Store
	ran   atomic.Int64
}

func item(i int) string { return fmt.Sprintf("item %04d", i) }

func newReturning(t *testing.T, n int) *returning {
	t.Helper()
	r := &returning{log: kvtest.NewLog(kv.Position{})}
	r.way = r.log.Machine()
	r.other = openQueued(t, kv.InMemory, kv.Options{Log: r.log.Machine()})
	s, err := kv.Open(kv.InMemory, kv.Options{Log: r.way, Format: 1, Queue: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.way.Slow(nil)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	r.s = s
	s.Replay(func(ctx context.Context, w kv.Waiting) error {
		var a addition
		if err := json.Unmarshal(w.Body, &a); err != nil {
			return err
		}
		return s.Update(ctx, func(tx *kv.Tx) error {
			has, err := notes.Has(tx, a.ID)
			if err != nil || has {
				return fault.Clash(fault.Exists, "it is there")
			}
			r.ran.Add(1)
			return notes.Put(tx, a.ID, &record{Text: a.Text})
		})
	})
	s.Follow()
	catchUp(t, s)
	r.way.Cut(true)
	for i := range n {
		mustAdd(t, s, item(i), fmt.Sprint(i))
	}
	return r
}

// slowly has each append wait until so many replays have run, or all n.
func (r *returning) slowly(n, each int, then func(appends int)) {
	appends := 0
	r.way.Slow(func(op string) {
		if op != "append" {
			return
		}
		appends++
		for want := min(n, each); r.ran.Load() > 0 && r.ran.Load() < int64(want); {
			runtime.Gosched()
		}
		then(appends)
	})
}

// order returns the keys of notes that the log has, in its order, and of how many entries they are.
func (r *returning) order(t *testing.T) (keys []string, entries int) {
	t.Helper()
	for _, raw := range r.log.Entries() {
		e, err := outbox.DecodeEntry(raw)
		if err != nil {
			t.Fatal(err)
		}
		before := len(keys)
		for _, tr := range e.Transactions {
			for _, w := range tr.Writes {
				if key, ok := strings.CutPrefix(w.Key, "note/"); ok {
					keys = append(keys, key)
				}
			}
		}
		if len(keys) > before {
			entries++
		}
	}
	return keys, entries
}

func TestSYNC14_WhatWaitsIsReplayedInBatchesAndInOrder(t *testing.T) {
	const n = 500
	r := newReturning(t, n)
	r.slowly(n, n, func(int) {})
	r.way.Cut(false)
	settled(t, r.s, r.other)
	keys, entries := r.order(t)
	if len(keys) != n || !slices.IsSorted(keys) {
		t.Errorf("the log has %d of %d, in order: %v", len(keys), n, slices.IsSorted(keys))
	}
	if entries > n/100 {
		t.Errorf("%d items became %d entries", n, entries)
	}
	same(t, r.s, r.other)
}

// A new write stands between the groups of what waits. One that touches a record that waits stands
// behind that, whether it reads it by its id or with all others.
func TestSYNC14_OnlyAWriteToARecordThatWaitsStandsBehindIt(t *testing.T) {
	const n = 1500
	r := newReturning(t, n)
	deadline, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var writers sync.WaitGroup
	var begin sync.Once
	begun, written := make(chan struct{}), make(chan struct{})
	write := func(id string, fn func(tx *kv.Tx) error) {
		writers.Go(func() {
			err := r.s.Update(deadline, func(tx *kv.Tx) error {
				if err := fn(tx); err != nil {
					return err
				}
				return notes.Put(tx, id, &record{Text: "later"})
			})
			if err != nil {
				t.Errorf("%s: %v", id, err)
			}
			if id == "new" {
				close(written)
			}
		})
	}
	r.slowly(n, 100, func(int) {
		if r.ran.Load() < 100 {
			return // what is appended to find the end of the log
		}
		begin.Do(func() {
			write("new", func(*kv.Tx) error { return nil })
			write(item(n-1), func(*kv.Tx) error { return nil })
			write("all", func(tx *kv.Tx) error {
				for range notes.All(tx, "item 14") { // it reads
				}
				return tx.Err()
			})
			close(begun)
		})
		if r.ran.Load() > 1024 { // the third group goes nowhere until the new record is written
			select {
			case <-written:
			case <-deadline.Done():
			}
		}
	})
	r.way.Cut(false)
	<-begun
	writers.Wait()
	settled(t, r.s, r.other)
	keys, _ := r.order(t)
	last := slices.Index(keys, item(n-1))
	switch at := slices.Index(keys, "new"); {
	case at < 0 || at > last:
		t.Errorf("the new record is at %d, the last that waited at %d", at, last)
	case slices.Index(keys, "all") < last:
		t.Error("what reads all that waits does not stand behind it")
	case keys[len(keys)-1] != item(n-1) && keys[len(keys)-2] != item(n-1):
		t.Error("a change of what waits does not stand behind it")
	}
	if got := same(t, r.s, r.other); got[item(n-1)] != "later" || len(got) != n+2 {
		t.Errorf("%d records, the changed one has %q", len(got), got[item(n-1)])
	}
}

// Others are first in the middle: what was taken back with that is replayed once more, in order.
func TestSYNC14_WhatOthersOvertakeKeepsItsOrder(t *testing.T) {
	const n = 1500
	r := newReturning(t, n)
	r.slowly(n, 50, func(appends int) {
		if r.ran.Load() > 0 && appends%3 == 0 && appends < 60 {
			put(t, r.other, fmt.Sprint("theirs ", appends), "1")
		}
	})
	r.way.Cut(false)
	settled(t, r.s, r.other)
	keys, _ := r.order(t)
	keys = slices.DeleteFunc(keys, func(key string) bool { return !strings.HasPrefix(key, "item") })
	if len(keys) != n || !slices.IsSorted(keys) {
		t.Errorf("the log has %d of %d, in order: %v", len(keys), n, slices.IsSorted(keys))
	}
	same(t, r.s, r.other)
}
