package kv_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities/kv"
)

// moment is a disk at some time of a run with relaxed durability.
type moment struct {
	at     *disk
	time   time.Time
	second uint64 // the newest transaction acknowledged a second before, or earlier
	acked  uint64
}

// With relaxed durability a power cut leaves an exact beginning of the
// transactions, which lacks at most those of the last second, and a kill leaves
// all of them. The clock is that of a bubble, so a second is exactly one.
func TestREL2_RelaxedPowerCuts(t *testing.T) {
	const perRun, perPicture = 12, 8
	runs := figure(8, 120)
	var cuts, behind, most, kills atomic.Int64
	shards(t, func(t *testing.T, shard, of int) {
		for run := shard; run < runs; run += of {
			rng := rand.New(rand.NewPCG(uint64(run), 6))
			moments, history := recordRelaxed(t, rng, perRun, []int{1, 3, 6}[run%3])
			for i, m := range moments {
				at := fmt.Sprintf("run %d, moment %d", run, i)
				for range perPicture {
					seq := history.check(t, at, m.at.powerCut(rng), m.second, rng)
					if lost := int64(m.acked) - int64(seq); lost > 0 {
						behind.Add(1)
						most.Store(max(most.Load(), lost))
					}
					cuts.Add(1)
				}
				history.check(t, at+", killed", m.at, m.acked, rng)
				kills.Add(1)
			}
		}
	})
	t.Logf("%d power cuts, of which %d took at most %d transactions of the last second, and each left an exact beginning; %d kills: 0 lost",
		cuts.Load(), behind.Load(), most.Load(), kills.Load())
}

// recordRelaxed runs writers that pause, in the time of a bubble, and takes
// pictures of the disk, evenly over the run.
func recordRelaxed(t *testing.T, rng *rand.Rand, want, writers int) (moments []moment, history *states) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		s, err := kv.Open(dir, kv.Options{FS: d, Durability: kv.Relaxed, SnapshotAfter: int64(2000 + rng.IntN(9000))})
		if err != nil {
			t.Fatal(err)
		}
		history = follow(s)
		var mu sync.Mutex
		var acks []moment // time and acked only
		seen := 0
		seeds := make([]uint64, writers)
		for w := range seeds {
			seeds[w] = rng.Uint64()
		}
		d.setHook(func(string, string) error {
			mu.Lock()
			defer mu.Unlock()
			now := moment{time: time.Now()}
			for _, a := range acks {
				now.acked = max(now.acked, a.acked)
				if now.time.Sub(a.time) > time.Second {
					now.second = max(now.second, a.acked)
				}
			}
			seen++
			if i := rng.IntN(seen); len(moments) < want {
				now.at = d.restart()
				moments = append(moments, now)
			} else if i < want {
				now.at = d.restart()
				moments[i] = now
			}
			return nil
		})
		var wg sync.WaitGroup
		for w, seed := range seeds {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(seed, uint64(w)))
				for range 150 / writers {
					if err := s.Update(ctx, func(tx *kv.Tx) error { return randomWrites(tx, rng) }); err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					acks = append(acks, moment{time: time.Now(), acked: s.Seq()})
					mu.Unlock()
					<-time.After(time.Duration(rng.IntN(300)) * time.Millisecond)
				}
			})
		}
		wg.Wait()
		d.setHook(nil)
		closeWell(t, s)
	})
	return moments, history
}

// A flush that failed is not tried again by anybody: the second would succeed
// and prove nothing.
func TestREL3_NoSecondFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		s, err := kv.Open(dir, kv.Options{FS: d, Durability: kv.Relaxed, SnapshotAfter: -1})
		if err != nil {
			t.Fatal(err)
		}
		put(t, s, "a", "1")
		first, goOn := make(chan struct{}), make(chan struct{})
		flushes := 0
		d.setHook(func(op, name string) error {
			if op != "sync" || name[:8] != "journal-" {
				return nil
			}
			flushes++
			if flushes > 1 {
				return nil
			}
			close(first)
			<-goOn
			return errDisk
		})
		<-first // by the timer
		snapshot := make(chan error)
		go func() { snapshot <- s.Snapshot(ctx) }()
		for range 1000 { // it comes to wait for the flush, which nobody can see
			runtime.Gosched()
		}
		close(goOn)
		if err := <-snapshot; err == nil {
			t.Error("a snapshot on top of a flush that failed")
		}
		if flushes != 1 {
			t.Errorf("%d flushes", flushes)
		}
		if st := s.Status(); st.Mode != "read-only" {
			t.Errorf("%+v", st)
		}
		before := dump(t, s)
		closeWell(t, s)
		if got := stateOn(t, d.restart()); !maps.Equal(before, got) {
			t.Errorf("after a restart (-want +got):\n%s", cmp.Diff(before, got))
		}
	})
}
