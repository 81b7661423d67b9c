//go:build unix

package shared_test

// The campaign (campaign_*_test.go) is a store that three machines share over three servers, all
// of them real processes, to which bad things are done in turn.
//
// The test program starts itself again as servers and as daemons. Daemons open the store, over a
// log on NATS servers, and carry out operations that come as lines of JSON. Between all processes
// stand proxies of the test, which cut connections and lose one direction. Every operation is
// noted with the times of its call and of its answer, and porcupine says whether some order
// explains all answers. Errors fail the test. The short form takes some seconds;
// CTXD_CAMPAIGN=full does two hundred faults. Where processes can't be stopped and continued, on
// Windows, there is no campaign.

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/ctxd/ctxd/fixtures/campaign"
)

// form is how much is done.
type form struct {
	faults int
	kinds  []bad
	acks   int64         // that the daemons which can write give while something is bad
	hold   time.Duration // at most
	after  int64         // that each daemon gives when it is mended
	least  int64         // in all
}

func formOf(t *testing.T) form {
	if !campaign.Full() {
		return form{faults: len(few), kinds: few, acks: 10, hold: 2 * time.Second, after: 5}
	}
	f := form{faults: 200, kinds: many, acks: 30, hold: 6 * time.Second, after: 5, least: 100_000}
	if n, err := strconv.Atoi(os.Getenv("CTXD_CAMPAIGN_FAULTS")); err == nil {
		f.faults, f.least = n, 0
	}
	if only := os.Getenv("CTXD_CAMPAIGN_ONLY"); only != "" {
		f.kinds = slices.DeleteFunc(slices.Clone(f.kinds), func(b bad) bool { return !strings.Contains(only, b.name) })
	}
	if !canTrace() {
		t.Log("not done: slow disks of servers, since strace is not here or may not be used")
		f.kinds = slices.DeleteFunc(slices.Clone(f.kinds), func(b bad) bool { return b.name == "server's disk slow" })
	}
	return f
}

// Three daemons share a store over three servers, all of them processes. They are killed,
// stopped, paused, cut off, and given slow disks and wrong clocks, in turn. Afterwards every
// write that was acknowledged is there, each was applied once, what was refused is not there,
// some order explains all that clients were told, and all machines hold the same bytes, in
// memory and on disk.
func TestSYNC9_ProcessesOfSeveralMachines(t *testing.T) {
	campaign.Only(t)
	f := formOf(t)
	seed := uint64(9)
	if n, err := strconv.ParseUint(os.Getenv("CTXD_CAMPAIGN_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("seed %d; the clocks of daemons are apart by an hour, those of servers can't be moved without privileges", seed)
	w := newWorld(t, seed)
	h := w.history
	stop, end := context.WithCancel(ctx)
	defer end()
	var clients sync.WaitGroup
	h.mu.Lock()
	h.lastAck = time.Now()
	h.mu.Unlock()
	for i, p := range w.daemons {
		for range writersEach {
			random := rand.New(rand.NewPCG(w.random.Uint64(), 1))
			clients.Go(func() { h.client(stop, i, func() *child { return p.alive(stop) }, random) })
		}
	}
	kinds := map[string]int{}
	for n := range f.faults {
		kinds[w.disturb(n, f)]++
	}
	for {
		now, more := h.acknowledged()
		if now[0]+now[1]+now[2] >= f.least {
			break
		}
		h.phase.Store(int64(f.faults) + now[0]/500)
		<-more
	}
	end()
	clients.Wait()
	w.check(kinds)
}

// disturb does something bad, has it last for a while, and mends it.
func (w *world) disturb(n int, f form) string {
	t, h := w.t, w.history
	t.Helper()
	h.phase.Store(int64(n))
	// All kinds come before one comes again.
	if n%len(f.kinds) == 0 && n > 0 {
		w.random.Shuffle(len(f.kinds), func(i, j int) { f.kinds[i], f.kinds[j] = f.kinds[j], f.kinds[i] })
	}
	kind := f.kinds[n%len(f.kinds)]
	h.mu.Lock()
	before := slices.Clone(h.acks)
	h.pause = 0
	h.mu.Unlock()
	begun := time.Now()
	whom, mend, writing := kind.do(w)
	var wrote bool
	if kind.lasts == 0 || w.random.IntN(3) > 0 {
		wrote = w.acks(f.acks, f.hold, writing...)
	} else {
		lasts := time.After(2*time.Second + time.Duration(w.random.Int64N(int64(kind.lasts))))
		wrote = w.acks(f.acks, f.hold, writing...)
		<-lasts
	}
	mend()
	mended := time.Now()
	if !w.acks(f.after, patience, everybody...) {
		for i := range w.daemons {
			w.tell(fmt.Sprintf("daemon%d", i+1))
		}
		w.tellReasons()
		t.Fatalf("%d: %s: %s: not all write %s after it was mended", n, kind.name, whom, patience)
	}
	h.mu.Lock()
	wrong, acks, pause := slices.Clone(h.wrong), slices.Clone(h.acks), h.pause
	h.mu.Unlock()
	for i := range acks {
		acks[i] -= before[i]
	}
	t.Logf("%d: %s: %s; lasted %s, the others wrote: %v, all wrote after %s, writes %v, longest pause %s", n, kind.name, whom,
		mended.Sub(begun).Round(time.Millisecond), wrote, time.Since(mended).Round(time.Millisecond), acks, pause.Round(time.Millisecond))
	if len(wrong) > 0 {
		t.Fatalf("what must not happen: %q", wrong)
	}
	return kind.name
}

// check holds what is there to what was told.
func (w *world) check(kinds map[string]int) {
	t, h := w.t, w.history
	t.Helper()
	for i, p := range w.daemons {
		w.await(fmt.Sprintf("daemon %d does not catch up", i+1), func() bool {
			answer, err := p.child().call(request{Op: "catch up"})
			return err == nil && answer.Outcome == done
		})
	}
	w.tellReasons()
	digest := w.digests("")
	there, err := w.daemons[0].child().call(request{Op: "all"})
	w.must(err)
	w.checkOps(there)
	verdicts := w.checkOrder(there)
	for i := range w.daemons { // what is on disk is the same, without any server
		w.ends(w.daemons[i].child(), fmt.Sprintf("daemon%d", i+1), true)
	}
	for i, s := range w.servers {
		w.ends(s, w.members[i].Name, true)
	}
	for i := range w.daemons {
		w.startDaemon(i)
	}
	w.digests(digest)
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.wrong) > 0 {
		t.Errorf("what must not happen: %q", h.wrong)
	}
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		t.Logf("%4d %s", kinds[name], name)
	}
	t.Logf("%s in all, acknowledged by daemon %v, outcomes %v, longest time without an acknowledgement %s",
		time.Since(h.begun).Round(time.Second), h.acks, h.counts, h.longest.Round(time.Millisecond))
	t.Logf("verdicts on %d cells: %v; all machines: %s", len(h.calls), verdicts, digest)
}

// digests returns what all machines hold, and fails when they differ or hold something else
// than what is wanted.
func (w *world) digests(want string) string {
	w.t.Helper()
	for i, p := range w.daemons {
		answer, err := p.child().call(request{Op: "digest"})
		w.must(err)
		got := fmt.Sprintf("position %d, digest %s", answer.Seq, answer.Sum)
		if want == "" {
			want = got
		}
		if got != want {
			w.t.Errorf("daemon %d holds %s, want %s", i+1, got, want)
		}
	}
	return want
}

// checkOps holds every operation to what its client was told.
func (w *world) checkOps(there reply) {
	t, h := w.t, w.history
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	applied := map[string]int{}
	for id, of := range there.Ops {
		applied[of]++
		if told, known := h.told[id]; !known || told == refused || told == stale || told == differs {
			t.Errorf("operation %s on %s is there, and its client was told %q", id, of, told)
		}
	}
	lost := 0
	for id, told := range h.told {
		if _, is := there.Ops[id]; told == done && !is {
			lost++
			if lost < 10 {
				t.Errorf("operation %s was acknowledged and is lost", id)
			}
		}
	}
	for key, c := range there.Cells {
		if got := c.Count + c.Version; !strings.HasPrefix(key, "set ") && got != applied[key] {
			t.Errorf("%s was changed %d times by %d operations", key, got, applied[key])
		}
	}
}

// checkOrder looks for an order that explains everything, cell by cell. Reads of the end are
// part of it.
func (w *world) checkOrder(there reply) map[porcupine.CheckResult]int {
	t, h := w.t, w.history
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	verdicts := map[porcupine.CheckResult]int{}
	for key, calls := range h.calls {
		now := h.now()
		calls = append(calls, porcupine.Operation{
			ClientId: int(h.clients.Add(1)), Input: request{Op: "read", Key: key}, Output: reply{Outcome: done, Cell: there.Cells[key]}, Call: now, Return: now + 1,
		})
		verdict := porcupine.CheckOperationsTimeout(model, calls, time.Minute)
		verdicts[verdict]++
		if verdict == porcupine.Ok {
			continue
		}
		t.Errorf("the verdict on %d calls on %s is %s", len(calls), key, verdict)
		slices.SortFunc(calls, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
		for _, c := range calls {
			t.Logf("client %d, %d to %d: %s", c.ClientId, c.Call/1e3, c.Return/1e3, model.DescribeOperation(c.Input, c.Output))
		}
	}
	return verdicts
}
