package kv_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

func TestChangeSets(t *testing.T) {
	stores(t, func(t *testing.T, s *kv.Store) {
		var first, second []string
		s.OnCommit(func(cs *kv.ChangeSet) {
			for i, ch := range cs.Changes {
				first = append(first, fmt.Sprintf("%d.%d %s/%s %s>%s", cs.Seq, i, ch.Collection, ch.ID, text(ch.Old), text(ch.New)))
			}
			cs.Changes = append(cs.Changes, kv.Change{Collection: "more", ID: "x"})
		})
		s.OnCommit(func(cs *kv.ChangeSet) {
			for i, d := range notes.Each(cs) {
				second = append(second, fmt.Sprintf("%d.%d %s", cs.Seq, i, d.ID))
			}
			if last := cs.Changes[len(cs.Changes)-1]; last.Collection != "more" {
				t.Errorf("the first handler's refinement is missing: %+v", last)
			}
			if _, _, ok := things.Of(kv.Change{Collection: "note"}); ok {
				t.Error("Of took a change of another collection")
			}
		})
		r := &record{Text: "1"}
		update := func(fn func(tx *kv.Tx) error) {
			t.Helper()
			if err := s.Update(ctx, fn); err != nil {
				t.Fatal(err)
			}
		}
		update(func(tx *kv.Tx) error {
			return errors.Join(
				notes.Put(tx, "z", r), notes.Put(tx, "a", r), things.Put(tx, "z", r),
				notes.Put(tx, "z", &record{Text: "2"}), // one change, the last state
				notes.Put(tx, "gone", r), notes.Delete(tx, "gone"), notes.Delete(tx, "never"))
		})
		r.Text = "the caller goes on with its record"
		update(func(*kv.Tx) error { return nil })                          // nothing, no number
		update(func(tx *kv.Tx) error { return notes.Delete(tx, "never") }) // the same
		update(func(tx *kv.Tx) error {
			return errors.Join(notes.Delete(tx, "a"), notes.Put(tx, "z", &record{Text: "3"}))
		})
		update(func(tx *kv.Tx) error {
			return errors.Join(notes.Delete(tx, "z"), notes.Put(tx, "z", &record{Text: "4"}))
		})

		want := []string{
			"1.0 note/z ->2", "1.1 note/a ->1", "1.2 note-thing/z ->1",
			"2.0 note/a 1>-", "2.1 note/z 2>3",
			"3.0 note/z 3>4",
		}
		if diff := cmp.Diff(want, first); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"1.0 z", "1.1 a", "2.0 a", "2.1 z", "3.0 z"}, second); diff != "" {
			t.Errorf("Each (-want +got):\n%s", diff)
		}
	})
}

func text(v any) string {
	if v == nil {
		return "-"
	}
	return v.(*record).Text
}

// Handlers have run when Update returns, and inside a View their results
// agree with the store, whoever writes.
func TestHandlersAgreeWithReaders(t *testing.T) {
	stores(t, func(t *testing.T, s *kv.Store) {
		view, lastSeq := map[string]string{}, uint64(0)
		s.OnCommit(func(cs *kv.ChangeSet) {
			if cs.Seq != lastSeq+1 {
				t.Errorf("change set %d after %d", cs.Seq, lastSeq)
			}
			lastSeq = cs.Seq
			for _, d := range notes.Each(cs) {
				view[d.ID] = d.New.Text
			}
		})
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() {
				id := fmt.Sprint(w)
				for i := range 50 {
					want := fmt.Sprint(i)
					put(t, s, id, want)
					err := s.View(ctx, func(tx *kv.Tx) error {
						if view[id] != want {
							t.Errorf("Update returned before its handler: %q, want %q", view[id], want)
						}
						for id, r := range notes.All(tx, "") {
							if view[id] != r.Text {
								t.Errorf("view has %q, store has %q", view[id], r.Text)
							}
						}
						return nil
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if s.Seq() != 200 {
			t.Errorf("Seq = %d", s.Seq())
		}
	})
}

func TestPanickingHandler(t *testing.T) {
	stores(t, func(t *testing.T, s *kv.Store) {
		var after int
		s.OnCommit(func(*kv.ChangeSet) { panic("a view has a bug") })
		s.OnCommit(func(*kv.ChangeSet) { after++ })
		put(t, s, "a", "1") // durable, so acknowledged
		if after != 1 {
			t.Error("the other handler was left out")
		}
		wantKind(t, s.Update(ctx, func(*kv.Tx) error { return nil }), fault.Unavailable)
		if st := s.Status(); st.Mode != "read-only" || st.Reason == "" {
			t.Errorf("Status = %+v", st)
		}
		wantState(t, s, map[string]string{"a": "1"})
	})
}

// gate blocks one kind of operation until it is opened, and says when
// somebody came to it.
type gate struct {
	arrived chan struct{}
	open    chan struct{}
}

func blockFirst(d *disk, op string) *gate {
	g := &gate{make(chan struct{}), make(chan struct{})}
	var first atomic.Bool
	d.setHook(func(o, _ string) error {
		if o == op && first.CompareAndSwap(false, true) {
			close(g.arrived)
			<-g.open
		}
		return nil
	})
	return g
}

// While a transaction waits for its fsync, readers see the state before it,
// writers the one after it, and nobody gets an answer from it.
func TestREL1_ReadersSeeDurableStateOnly(t *testing.T) {
	d := newDisk()
	s := open(t, d, kv.Options{})
	put(t, s, "a", "1")
	put(t, s, "b", "1")
	g := blockFirst(d, "sync")
	var wg sync.WaitGroup
	wg.Go(func() {
		err := s.Update(ctx, func(tx *kv.Tx) error {
			return errors.Join(notes.Put(tx, "a", &record{Text: "2"}), notes.Put(tx, "c", &record{Text: "2"}), notes.Delete(tx, "b"))
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-g.arrived

	before := map[string]string{"a": "1", "b": "1"}
	wantState(t, s, before)
	_ = s.View(ctx, func(tx *kv.Tx) error {
		a, _ := notes.Get(tx, "a")
		b, _ := notes.Get(tx, "b")
		c, _ := notes.Get(tx, "c")
		if a.Text != "1" || b == nil || c != nil {
			t.Errorf("a reader got %v, %v, %v", a, b, c)
		}
		return nil
	})

	// Three updates that answer from what is not durable: one writes, one
	// finds nothing to do, one refuses.
	refused := errors.New("refused")
	var answered atomic.Int32
	saw := make(chan []string, 3)
	for i := range 3 {
		wg.Go(func() {
			err := s.Update(ctx, func(tx *kv.Tx) error {
				r, err := notes.Get(tx, "a")
				if err != nil {
					return err
				}
				saw <- append(ids(notes, tx, ""), "a="+r.Text)
				switch i {
				case 0:
					return things.Put(tx, "a", r)
				case 1:
					return nil
				}
				return refused
			})
			answered.Add(1)
			if i == 2 && !errors.Is(err, refused) || i < 2 && err != nil {
				t.Error(err)
			}
		})
	}
	for range 3 {
		if got := <-saw; !slices.Equal(got, []string{"a", "c", "a=2"}) {
			t.Errorf("a writer saw %q", got)
		}
	}
	wantState(t, s, before)
	if s.Seq() != 2 {
		t.Errorf("Seq = %d", s.Seq())
	}
	if n := answered.Load(); n != 0 {
		t.Errorf("%d updates answered from what is not durable", n)
	}
	close(g.open)
	wg.Wait()
	wantState(t, s, map[string]string{"a": "2", "c": "2", "thing a": "2"})
}

// Eight transactions that are in the journal while an fsync is under way are
// made durable by one more.
func TestPERF11_GroupCommit(t *testing.T) {
	d := newDisk()
	s := open(t, d, kv.Options{})
	g := blockFirst(d, "sync")
	base := d.count("sync")
	var wg sync.WaitGroup
	wg.Go(func() { put(t, s, "first", "1") })
	<-g.arrived
	writes := d.count("write")
	for w := range 8 {
		wg.Go(func() { put(t, s, fmt.Sprint(w), "1") })
	}
	waitFor(t, func() bool { return d.count("write") == writes+8 })
	// The eighth holds the writer lock until it is queued.
	queued := make(chan struct{})
	wg.Go(func() { _ = s.Update(ctx, func(*kv.Tx) error { close(queued); return nil }) })
	<-queued
	close(g.open)
	wg.Wait()
	if got := d.count("sync") - base; got != 2 {
		t.Errorf("%d fsyncs for 9 transactions, want 2", got)
	}
}

// waitFor waits, without sleeping, for what another goroutine is about to do.
func waitFor(t *testing.T, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !cond(); {
		if time.Now().After(deadline) {
			t.Fatal("nothing happened")
		}
		runtime.Gosched()
	}
}

// Writers that read what they change never miss one another, while their
// transactions pass from the queue into the store and readers get in between.
func TestNoLostUpdates(t *testing.T) {
	stores(t, func(t *testing.T, s *kv.Store) {
		const writers, rounds = 4, 150
		numbers := kv.NewCollection[int]("number")
		quit := make(chan struct{})
		var readers, wg sync.WaitGroup
		for range 2 {
			readers.Go(func() {
				last := 0
				for {
					select {
					case <-quit:
						return
					default:
					}
					_ = s.View(ctx, func(tx *kv.Tx) error {
						n, _ := numbers.Get(tx, "n")
						runtime.Gosched()
						again, _ := numbers.Get(tx, "n")
						if n != nil && (*n < last || *n != *again) {
							t.Errorf("a reader saw %d, then %d, after %d", *n, *again, last)
						}
						if n != nil {
							last = *n
						}
						return nil
					})
				}
			})
		}
		for range writers {
			wg.Go(func() {
				for range rounds {
					err := s.Update(ctx, func(tx *kv.Tx) error {
						n, err := numbers.Get(tx, "n")
						if err != nil {
							return err
						}
						if n == nil {
							n = new(int)
						}
						for _, m := range numbers.All(tx, "") {
							if *m != *n {
								t.Errorf("Get gave %d, All %d", *n, *m)
							}
						}
						*n++
						return numbers.Put(tx, "n", n)
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		close(quit)
		readers.Wait()
		_ = s.View(ctx, func(tx *kv.Tx) error {
			if n, _ := numbers.Get(tx, "n"); *n != writers*rounds {
				t.Errorf("%d updates were lost", writers*rounds-*n)
			}
			return nil
		})
	})
}

// TestChangeSets_PreparedBeforeHandlers shows a change set to those who prepare for
// it before it is applied, once, and survives that they panic.
func TestChangeSets_PreparedBeforeHandlers(t *testing.T) {
	stores(t, func(t *testing.T, s *kv.Store) {
		var mu sync.Mutex
		prepared := make(map[uint64]bool)
		s.OnPrepare(func(*kv.ChangeSet) { panic("a defect") })
		s.OnPrepare(func(cs *kv.ChangeSet) {
			mu.Lock()
			defer mu.Unlock()
			if prepared[cs.Seq] || s.Seq() >= cs.Seq || len(cs.Changes) == 0 {
				t.Errorf("%d is prepared again, late or empty", cs.Seq)
			}
			prepared[cs.Seq] = true
		})
		applied := 0
		s.OnCommit(func(cs *kv.ChangeSet) {
			mu.Lock()
			defer mu.Unlock()
			applied++
			if !prepared[cs.Seq] {
				t.Errorf("%d was not prepared", cs.Seq)
			}
		})
		var writers sync.WaitGroup
		for w := range 4 {
			writers.Go(func() {
				for range 10 {
					if err := s.Update(ctx, func(tx *kv.Tx) error { return notes.Put(tx, fmt.Sprint(w), &record{Text: "x"}) }); err != nil {
						t.Error(err)
					}
				}
			})
		}
		writers.Wait()
		if applied != 40 {
			t.Errorf("%d of 40 were applied", applied)
		}
	})
}

// TestREL14_WhatAViewDoesBehindAWriteIsInNobodysTurn writes and reads in what is called behind a write: once for each
// transaction, with its number, and not for one that wrote nothing.
func TestREL14_WhatAViewDoesBehindAWriteIsInNobodysTurn(t *testing.T) {
	s, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	var told []uint64
	put := func(id string) error {
		return s.Update(t.Context(), func(tx *kv.Tx) error { return kv.NewCollection[string]("turn").Put(tx, id, &id) })
	}
	s.OnWritten(func(seq uint64) {
		told = append(told, seq)
		if len(told) > 1 {
			return
		}
		if err := put("b"); err != nil {
			t.Error(err)
		}
		if err := s.View(t.Context(), func(*kv.Tx) error { return nil }); err != nil {
			t.Error(err)
		}
	})
	if err := put("a"); err != nil {
		t.Fatal(err)
	}
	if err := s.Update(t.Context(), func(*kv.Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(told, []uint64{1, 2}) {
		t.Errorf("told of %d", told)
	}
}
