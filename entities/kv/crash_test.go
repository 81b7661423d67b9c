package kv_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/fixtures/campaign"
)

// figure is short, or whole when the campaign is to be run in full, as the
// promises have it: CTXD_CAMPAIGN=full go test ./entities/kv
func figure[T any](short, whole T) T {
	return campaign.Figure(short, whole)
}

// alone leaves a test out with -short, which is for the race detector: nothing
// in it runs at the same time as anything else.
func alone(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out with -short")
	}
}

// shards runs a test in as many parts as there are processors.
func shards(t *testing.T, test func(t *testing.T, shard, of int)) {
	t.Run("shards", func(t *testing.T) {
		n := runtime.GOMAXPROCS(0)
		for i := range n {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				test(t, i, n)
			})
		}
	})
}

// picture is a disk as it was at some moment, and what had been acknowledged
// by then.
type picture struct {
	at    *disk
	acked uint64
}

// Writers run, snapshots are made, and pictures of the disk are taken; each
// picture is what a power cut at that moment would have found. After each, the
// store holds the exact state after some transaction, none older than the last
// acknowledged. So it does when the power fails again while that is found out.
func TestREL2_PowerCuts(t *testing.T) {
	const perRun, perPicture = 20, 5
	runs := figure(8, 100)
	var cuts, again, kills, older atomic.Int64
	shards(t, func(t *testing.T, shard, of int) {
		for run := shard; run < runs; run += of {
			rng := rand.New(rand.NewPCG(uint64(run), 2))
			pictures, history := recordRun(t, rng, perRun, []int{1, 4, 8}[run%3])
			for i, p := range pictures {
				at := fmt.Sprintf("run %d, picture %d", run, i)
				for range perPicture {
					d := p.at.powerCut(rng)
					second := pictureOfOpening(d, rng)
					if history.check(t, at, d, p.acked, rng) < uint64(len(history.at)-1) {
						older.Add(1)
					}
					cuts.Add(1)
					if second != nil {
						history.check(t, at+", cut again", second.powerCut(rng), p.acked, rng)
						again.Add(1)
					}
				}
				history.check(t, at+", killed", p.at, p.acked, rng)
				kills.Add(1)
			}
		}
	})
	t.Logf("%d power cuts (%d before the end of a run), %d more while the store was opened after one, %d kills: 0 acknowledged lost, 0 partial",
		cuts.Load(), older.Load(), again.Load(), kills.Load())
}

// pictureOfOpening returns the disk at some moment of an Open, nil when it did
// not come to that.
func pictureOfOpening(d *disk, rng *rand.Rand) (at *disk) {
	c, n := d.restart(), rng.IntN(24)
	c.setHook(func(string, string) error {
		n--
		if n == 0 {
			at = c.restart()
		}
		return nil
	})
	if s, err := kv.Open(dir, kv.Options{FS: c, SnapshotAfter: -1}); err == nil { // else the caller meets it
		c.setHook(nil)
		_ = s.Close()
	}
	return at
}

// check opens a store after a crash, holds it to the promises, and returns how
// many transactions it has.
func (h *states) check(t *testing.T, at string, d *disk, acked uint64, rng *rand.Rand) uint64 {
	t.Helper()
	s, err := kv.Open(dir, kv.Options{FS: d, SnapshotAfter: -1})
	if err != nil {
		t.Fatalf("%s: %v", at, err)
	}
	seq := s.Seq()
	if seq < acked || seq >= uint64(len(h.at)) {
		t.Fatalf("%s: holds %d transactions, %d were acknowledged, %d made", at, seq, acked, len(h.at)-1)
	}
	if got := dump(t, s); !maps.Equal(h.at[seq], got) {
		t.Fatalf("%s: not the state after transaction %d (-want +got):\n%s", at, seq, cmp.Diff(h.at[seq], got))
	}
	if r := s.Status().Recovered; r.Lost != 0 {
		t.Fatalf("%s: claims a loss: %+v", at, r)
	}
	// What was shown is durable, whatever lay on the disk before.
	again := open(t, d.powerCut(rng), kv.Options{})
	if again.Seq() != seq {
		t.Fatalf("%s: %d transactions were shown, %d survive the next cut", at, seq, again.Seq())
	}
	put(t, s, "on we go", "yes")
	if err := errors.Join(again.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	return seq
}

// recordRun runs some writers and snapshots on a fresh disk and takes pictures,
// evenly over the run.
func recordRun(t *testing.T, rng *rand.Rand, want, writers int) ([]picture, *states) {
	t.Helper()
	d := newDisk()
	var acked atomic.Uint64
	var mu sync.Mutex
	var pictures []picture
	moments := 0
	s, err := kv.Open(dir, kv.Options{FS: d, SnapshotAfter: int64(600 + rng.IntN(4000))})
	if err != nil {
		t.Fatal(err)
	}
	history := follow(s)
	seeds := make([]uint64, writers)
	for w := range seeds {
		seeds[w] = rng.Uint64()
	}
	d.setHook(func(op, _ string) error {
		if op == "sync" {
			for range 10 * writers { // others write meanwhile, and form a group
				runtime.Gosched()
			}
		}
		mu.Lock()
		defer mu.Unlock()
		moments++
		n := acked.Load() // first: a picture must not be older than this
		if len(pictures) < want {
			pictures = append(pictures, picture{d.restart(), n})
		} else if i := rng.IntN(moments); i < want {
			pictures[i] = picture{d.restart(), n}
		}
		return nil
	})
	var wg sync.WaitGroup
	for w, seed := range seeds {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(w)))
			for range 120 / writers {
				if err := s.Update(ctx, func(tx *kv.Tx) error { return randomWrites(tx, rng) }); err != nil {
					t.Error(err)
					return
				}
				// Every transaction up to the one just acknowledged is.
				seq := s.Seq()
				for old := acked.Load(); seq > old && !acked.CompareAndSwap(old, seq); old = acked.Load() {
				}
			}
		})
	}
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return pictures, history
}

func randomWrites(tx *kv.Tx, rng *rand.Rand) error {
	for range 1 + rng.IntN(5) {
		id := fmt.Sprint(rng.IntN(40))
		if rng.IntN(4) == 0 {
			if err := notes.Delete(tx, id); err != nil {
				return err
			}
			continue
		}
		text := fmt.Sprintf("%x", rng.Uint64())
		if rng.IntN(10) == 0 {
			text = fmt.Sprintf("%0600d", rng.Uint64())
		}
		if err := notes.Put(tx, id, &record{Text: text}); err != nil {
			return err
		}
	}
	return nil
}

// attempt is a transaction of the fault script: it writes one text to two
// records, so that half of it would show.
type attempt struct {
	text string
	err  error
}

// try makes a transaction.
func try(s *kv.Store, text string) attempt {
	return attempt{text, s.Update(ctx, func(tx *kv.Tx) error {
		return errors.Join(
			notes.Put(tx, "left", &record{Text: text}), notes.Put(tx, "right", &record{Text: text}),
			notes.Put(tx, text, &record{Text: text}))
	})}
}

// retryable says whether an error promises that nothing was written.
func (a attempt) retryable() bool {
	var e *fault.Error
	return errors.As(a.err, &e) && e.Retryable
}

// scripted is what came of the fault script.
type scripted struct {
	opened  bool
	log     []attempt
	stuck   []attempt         // retryable, and refused again at once
	backups map[string]string // path to the newest text when it was made; "" when it failed
}

// script is a workload whose every operation on the disk is failed in turn.
func script(d *disk, durability kv.Durability) (out scripted) {
	out.backups = map[string]string{}
	for part := range 3 {
		s, err := kv.Open(dir, kv.Options{FS: d, SnapshotAfter: -1, Durability: durability})
		if err != nil {
			return out
		}
		out.opened = true
		newest := "" // what the store shows
		show := func(cs *kv.ChangeSet) {
			for _, ch := range notes.Each(cs) {
				newest = ch.New.Text
			}
		}
		s.OnCommit(show)
		for i := range 6 {
			a := try(s, fmt.Sprintf("%d.%d", part, i))
			out.log = append(out.log, a)
			if a.retryable() {
				a = try(s, fmt.Sprintf("%d.%d again", part, i))
				out.log = append(out.log, a)
				if a.err != nil {
					out.stuck = append(out.stuck, a)
				}
			}
			if i%3 == 2 {
				_ = s.Snapshot(ctx)
			}
			if i == 3 && newest != "" {
				path := filepath.Join(dir, fmt.Sprintf("%d.ctxdbackup", part))
				if _, err := s.Backup(ctx, path, kv.BackupOptions{}); err == nil {
					out.backups[path] = newest
				} else {
					out.backups[path] = ""
				}
			}
		}
		_ = s.Close()
	}
	return out
}

// check says what is wrong with a store after the script, and a crash. With
// relaxed durability a power cut may have taken the newest transactions.
func (out scripted) check(state map[string]string, mayLack bool) error {
	last := -1
	for i, a := range out.log {
		_, there := state[a.text]
		var e *fault.Error
		switch {
		case a.err == nil && !there && !mayLack:
			return fmt.Errorf("%s was acknowledged and is not there", a.text)
		case a.err == nil && there && last >= 0 && mayLack:
			for _, b := range out.log[:i] {
				if _, ok := state[b.text]; b.err == nil && !ok {
					return fmt.Errorf("%s is there and not %s before it", a.text, b.text)
				}
			}
		case a.err != nil && !errors.As(a.err, &e):
			return fmt.Errorf("%s failed with an unknown error: %w", a.text, a.err)
		case a.err != nil && e.Kind != fault.Unavailable:
			return fmt.Errorf("%s failed as %v", a.text, e.Kind)
		case a.err != nil && e.Retryable && there:
			return fmt.Errorf("%s was refused as retryable and is there", a.text)
		}
		if there {
			last = i
		}
	}
	want := ""
	if last >= 0 {
		want = out.log[last].text
	}
	if state["left"] != want || state["right"] != want {
		return fmt.Errorf("half a transaction: left %q, right %q, want %q", state["left"], state["right"], want)
	}
	return nil
}

// checkBackups says what is wrong with the backups of the script on the disk as
// it is after it.
func (out scripted) checkBackups(d *disk) error {
	for path, newest := range out.backups {
		_, err := kv.ReadBackup(ctx, path, kv.ReadOptions{FS: d})
		if newest == "" {
			// It may have all but a durable name.
			if err != nil && fault.KindOf(err) != fault.NotFound {
				return fmt.Errorf("a backup that failed left %s: %w", path, err)
			}
			continue
		}
		if err != nil {
			return err
		}
		c := newDisk()
		c.names[path] = d.restart().names[path]
		s, err := kv.Open(dir, kv.Options{FS: c})
		if err != nil {
			return err
		}
		if _, err := s.Restore(ctx, path, kv.RestoreOptions{}); err != nil {
			return err
		}
		s, err = kv.Open(dir, kv.Options{FS: c})
		if err != nil {
			return err
		}
		defer s.Close()
		err = s.View(ctx, func(tx *kv.Tx) error {
			left, err := notes.Get(tx, "left")
			if err == nil && (left == nil || left.Text != newest) {
				err = fmt.Errorf("the backup %s holds %+v, not %q", path, left, newest)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Each operation on the disk fails once, with and without what may follow. What
// was acknowledged is there after a restart and after a power cut, what was
// refused as retryable is not and works when tried again, and nothing is there
// by half.
func TestREL3_EveryOperationFailsOnce(t *testing.T) {
	alone(t)
	for _, durability := range []kv.Durability{kv.Strict, kv.Relaxed} {
		t.Run(durability.String(), func(t *testing.T) {
			if out := script(newDisk(), durability); !out.opened || len(out.log) != 18 || len(out.backups) != 3 {
				t.Fatalf("the script does not run: %+v", out)
			}
			cases := map[string]int{}
			for _, op := range []string{"write", "sync", "rename", "open", "truncate", "remove", "syncdir", "read", "readdir", "mkdir", "chmod", "lock"} {
				for _, mode := range []string{"once", "short", "from then on", "and truncate"} {
					if (mode == "short" || mode == "and truncate") && op != "write" {
						continue
					}
					n := 1
					for failsAt(t, durability, op, mode, n) {
						n++
					}
					cases[op] += n - 1
				}
			}
			t.Logf("failures injected: %v; 0 false acknowledgements", cases)
		})
	}
}

// failsAt runs the script with the nth operation of a kind failing, and reports
// whether there is an nth.
func failsAt(t *testing.T, durability kv.Durability, op, mode string, n int) bool {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	d, seen, failed := newDisk(), 0, false
	var mu sync.Mutex // a relaxed store flushes by the clock
	d.setHook(func(o, _ string) error {
		mu.Lock()
		defer mu.Unlock()
		if mode == "and truncate" && o == "truncate" && failed {
			return errDisk
		}
		if o != op {
			return nil
		}
		seen++
		if seen < n || mode != "from then on" && seen > n {
			return nil
		}
		failed = true
		if mode == "short" {
			return errShort
		}
		return errDisk
	})
	out := script(d, durability)
	d.setHook(nil)
	if !failed {
		return false
	}
	what := fmt.Sprintf("%s %d %s", op, n, mode)
	if mode != "from then on" && len(out.stuck) > 0 {
		t.Fatalf("%s: the disk works again and the store does not: %v", what, out.stuck)
	}
	if n%figure(10, 1) == 0 {
		if err := out.checkBackups(d.restart()); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	for i, after := range []*disk{d.restart(), d.powerCut(rng), d.powerCut(rng)} {
		s, err := kv.Open(dir, kv.Options{FS: after})
		if err != nil {
			t.Fatalf("%s: the restart fails: %v", what, err)
		}
		if err := out.check(dump(t, s), durability == kv.Relaxed && i > 0); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if st := s.Status(); st.Mode != "read-write" || st.Recovered.Lost != 0 {
			t.Fatalf("%s: after the restart: %+v", what, st)
		}
		put(t, s, "more", "1")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return true
}

// A full disk: writes fail and are retryable, reads go on, writes resume.
func TestREL9_FullDisk(t *testing.T) {
	d := newDisk()
	s := open(t, d, kv.Options{})
	put(t, s, "a", "1")
	d.setHook(func(op, _ string) error {
		if op == "write" {
			return errShort
		}
		return nil
	})
	for range 3 {
		err := s.Update(ctx, func(tx *kv.Tx) error { return notes.Put(tx, "a", &record{Text: "2"}) })
		if e := wantKind(t, err, fault.Unavailable); !e.Retryable || e.Hint == "" {
			t.Errorf("error %+v", e)
		}
	}
	wantKind(t, s.Snapshot(ctx), fault.Unavailable)
	wantState(t, s, map[string]string{"a": "1"})
	if st := s.Status(); st.Mode != "read-write" || st.SnapshotError == "" {
		t.Errorf("Status = %+v", st)
	}
	d.setHook(nil)
	put(t, s, "a", "3")
	if err := s.Snapshot(ctx); err != nil {
		t.Fatal(err)
	}
	if st := s.Status(); st.SnapshotError != "" || st.Seq != 2 {
		t.Errorf("Status = %+v", st)
	}
	s = open(t, d.restart(), kv.Options{})
	wantState(t, s, map[string]string{"a": "3"})
}

// A failed fsync, or a failed write that can't be cut off: read-only until
// the next start, which is clean.
func TestREL3_ReadOnly(t *testing.T) {
	for _, op := range []string{"sync", "truncate"} {
		t.Run(op, func(t *testing.T) {
			d := newDisk()
			s := open(t, d, kv.Options{})
			put(t, s, "a", "1")
			d.setHook(func(o, _ string) error {
				if o == op {
					return errDisk
				}
				if o == "write" && op == "truncate" {
					return errShort
				}
				return nil
			})
			err := s.Update(ctx, func(tx *kv.Tx) error { return notes.Put(tx, "b", &record{}) })
			if e := wantKind(t, err, fault.Unavailable); e.Retryable || e.Hint == "" {
				t.Errorf("error %+v", e)
			}
			d.setHook(nil) // the disk is well again, the store does not trust it
			err = s.Update(ctx, func(*kv.Tx) error { t.Error("ran"); return nil })
			wantKind(t, err, fault.Unavailable)
			wantKind(t, s.Snapshot(ctx), fault.Unavailable)
			wantState(t, s, map[string]string{"a": "1"})
			if st := s.Status(); st.Mode != "read-only" || st.Reason == "" {
				t.Errorf("Status = %+v", st)
			}
			_ = s.Close()
			s = open(t, d.restart(), kv.Options{})
			if st := s.Status(); st.Mode != "read-write" || st.Recovered.Lost != 0 {
				t.Errorf("after the restart: %+v", st)
			}
			put(t, s, "c", "1")
		})
	}
}
