package kv_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/fixtures/campaign"
)

// letOthersRun is what a disk does while it flushes: transactions gather meanwhile.
func letOthersRun() {
	for range 200 {
		runtime.Gosched()
	}
}

var errRefused = errors.New("refused")

// tangle is several writers of small and of large transactions over the same keys. truth
// is what all accepted ones have made, guarded by the store's own writer lock.
type tangle struct {
	t     *testing.T
	s     *kv.Store
	truth map[string]string
}

// once is one transaction: it reads what is on its way, writes, deletes, writes again
// and scans; now and then it is given up.
func (g *tangle) once(rng *rand.Rand, size int) (err error) {
	defer func() {
		if r := recover(); r != nil && r != any(errRefused) {
			panic(r)
		} else if r != nil {
			err = errRefused
		}
	}()
	return g.s.Update(ctx, func(tx *kv.Tx) error {
		mine := maps.Clone(g.truth)
		from := rng.IntN(700)
		for i := range size {
			key := fmt.Sprintf("k%03d", (from+i)%900)
			for range 1 + rng.IntN(3) {
				g.same(tx, mine, key)
				if rng.IntN(3) == 0 {
					if err := notes.Delete(tx, key); err != nil {
						return err
					}
					delete(mine, key)
				} else {
					mine[key] = fmt.Sprint(rng.Uint64())
					if err := notes.Put(tx, key, &record{Text: mine[key]}); err != nil {
						return err
					}
				}
			}
			g.same(tx, mine, key)
		}
		if rng.IntN(3) == 0 {
			got := make(map[string]string)
			var order []string
			for id, r := range notes.All(tx, "") {
				got[id], order = r.Text, append(order, id)
			}
			if !maps.Equal(got, mine) || !slices.IsSorted(order) {
				g.t.Errorf("a scan sees %d records, want %d", len(got), len(mine))
			}
		}
		switch rng.IntN(8) {
		case 0:
			return errRefused
		case 1:
			panic(errRefused)
		}
		g.truth = mine
		return nil
	})
}

func (g *tangle) same(tx *kv.Tx, mine map[string]string, key string) {
	r, err := notes.Get(tx, key)
	text := ""
	if err == nil && r != nil {
		text = r.Text
	}
	if err != nil || text != mine[key] {
		g.t.Errorf("%s reads %q %v, want %q", key, text, err, mine[key])
	}
}

// TestPERF10_LargeAndSmallTransactionsTangle compares what transactions read while
// others, large ones among them, are on their way, and what is there in the end.
func TestPERF10_LargeAndSmallTransactionsTangle(t *testing.T) {
	rounds := campaign.Figure(6, 300)
	for round := range rounds {
		d := newDisk()
		d.setHook(func(op, _ string) error {
			if op == "sync" {
				letOthersRun()
			}
			return nil
		})
		g := &tangle{t: t, s: open(t, d, kv.Options{SnapshotAfter: int64(2000 - 2001*(round%2))}), truth: map[string]string{}}
		var writers sync.WaitGroup
		for w := range 5 {
			writers.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(round), uint64(w)))
				for range 8 {
					size := 1 + rng.IntN(5)
					if rng.IntN(2) == 0 {
						size = 200 + rng.IntN(200)
					}
					if err := g.once(rng, size); err != nil && !errors.Is(err, errRefused) {
						t.Error(err)
					}
				}
			})
		}
		writers.Wait()
		want := g.truth
		check := func(s *kv.Store) {
			got := make(map[string]string)
			err := s.View(ctx, func(tx *kv.Tx) error {
				for id, r := range notes.All(tx, "") {
					got[id] = r.Text
				}
				return nil
			})
			if err != nil || !maps.Equal(got, want) {
				t.Errorf("round %d: %d records, want %d (%v)", round, len(got), len(want), err)
			}
		}
		check(g.s)
		check(open(t, d.powerCut(rand.New(rand.NewPCG(uint64(round), 99))), kv.Options{}))
	}
}

// TestREL3_AFlushFailsAmidLargeTransactions has a flush fail while large and small
// transactions that read each other are on their way: none that was acknowledged may be
// missing afterwards, and each is there as a whole.
func TestREL3_AFlushFailsAmidLargeTransactions(t *testing.T) {
	rounds := campaign.Figure(12, 600)
	for round := range rounds {
		rng := rand.New(rand.NewPCG(uint64(round), 7))
		d := newDisk()
		s := open(t, d, kv.Options{SnapshotAfter: -1})
		var mu sync.Mutex
		left := 1 + rng.IntN(8)
		d.setHook(func(op, _ string) error {
			mu.Lock()
			defer mu.Unlock()
			if op == "sync" {
				letOthersRun()
				left--
				if left <= 0 {
					return errDisk
				}
			}
			return nil
		})
		const writers = 5
		var acked [writers]int
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				size := []int{1, 300, 2, 256, 700}[w]
				for k := 1; k <= 12; k++ {
					err := s.Update(ctx, func(tx *kv.Tx) error {
						// The sum counts every transaction before it.
						sum := 0
						if r, err := notes.Get(tx, "sum"); err == nil && r != nil {
							_, _ = fmt.Sscan(r.Text, &sum)
						}
						err := notes.Put(tx, "sum", &record{Text: fmt.Sprint(sum + 1)})
						for i := range size {
							err = errors.Join(err, notes.Put(tx, fmt.Sprintf("w%d/%d", w, i), &record{Text: fmt.Sprint(k)}))
						}
						return err
					})
					if err != nil {
						return
					}
					acked[w] = k
				}
			})
		}
		all.Wait()
		d.setHook(nil)
		_ = s.Close()
		for _, after := range []*disk{d.powerCut(rng), d.restart()} {
			s := open(t, after, kv.Options{SnapshotAfter: -1})
			total, sum := 0, 0
			for w := range writers {
				seen := make(map[string]int)
				_ = s.View(ctx, func(tx *kv.Tx) error {
					for _, r := range notes.All(tx, fmt.Sprintf("w%d/", w)) {
						seen[r.Text]++
					}
					if r, err := notes.Get(tx, "sum"); err == nil && r != nil {
						_, _ = fmt.Sscan(r.Text, &sum)
					}
					return nil
				})
				k := 0
				for text := range seen {
					_, _ = fmt.Sscan(text, &k)
				}
				if len(seen) > 1 || k < acked[w] {
					t.Errorf("round %d: writer %d was told %d, there is %v", round, w, acked[w], seen)
				}
				total += k
			}
			if sum != total {
				t.Errorf("round %d: %d transactions are there, and the last one counted %d", round, total, sum)
			}
		}
	}
}

// TestREL3_WhatIsReadAfterAFailureIsNotWritten has a transaction begin before a flush
// fails and read after it: what was queued is gone from what it sees, and may be on the
// disk all the same. Nothing that was worked out without it stands behind it there.
func TestREL3_WhatIsReadAfterAFailureIsNotWritten(t *testing.T) {
	for _, size := range []int{1, 300} {
		d := newDisk()
		s := open(t, d, kv.Options{SnapshotAfter: -1})
		put(t, s, "sum", "0")
		begun := make(chan struct{})
		d.setHook(func(op, _ string) error {
			if op != "sync" {
				return nil
			}
			<-begun
			return errDisk
		})
		add := func(tx *kv.Tx, who string) error {
			r, err := notes.Get(tx, "sum")
			if err != nil {
				return err
			}
			sum := 0
			_, _ = fmt.Sscan(r.Text, &sum)
			err = notes.Put(tx, "sum", &record{Text: fmt.Sprint(sum + 1)})
			for i := range size {
				err = errors.Join(err, notes.Put(tx, fmt.Sprint(who, "/", i), &record{Text: who}))
			}
			return err
		}
		queued, failed := make(chan struct{}), make(chan error, 1)
		go func() {
			failed <- s.Update(ctx, func(tx *kv.Tx) error {
				defer close(queued)
				return add(tx, "first")
			})
		}()
		<-queued // the next has its turn when this one is in the journal
		second := s.Update(ctx, func(tx *kv.Tx) error {
			close(begun)
			if err := <-failed; err == nil {
				t.Error("the first was acknowledged")
			}
			return add(tx, "second")
		})
		if fault.KindOf(second) != fault.Unavailable {
			t.Errorf("%d writes: the second was told %v", size, second)
		}
		d.setHook(nil)
		_ = s.Close()
		there := 0
		got := dump(t, open(t, d.restart(), kv.Options{SnapshotAfter: -1}))
		for _, who := range []string{"first", "second"} {
			if got[who+"/0"] != "" {
				there++
			}
		}
		if got["sum"] != fmt.Sprint(there) {
			t.Errorf("%d writes: %d transactions are there, and the last one counted %s", size, there, got["sum"])
		}
	}
}
