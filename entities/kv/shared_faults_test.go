package kv_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/kvtest"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// ours are records of one machine.
var ours = kv.NewCollection[record]("own").Local()

// outcome is what the caller of a transaction was told.
type outcome int

const (
	refused outcome = iota // nothing of it is there
	stored
	unknown
)

// cluster is several machines over one log, each with a disk, and what was told of every
// transaction.
type cluster struct {
	t        testing.TB
	log      *kvtest.Log
	machines []*machine
	rng      *rand.Rand // of the one goroutine that disturbs
	ops      atomic.Int64

	mu     sync.Mutex
	told   map[string]outcome // by op
	counts map[string]string  // op to the counter that it adds to
	faults map[string]int
}

type machine struct {
	d    *disk
	way  *kvtest.Machine
	s    *kv.Store
	ours map[string]outcome // records of its own
}

func newCluster(t testing.TB, n int, seed uint64, acceptAll bool) *cluster {
	t.Helper()
	c := &cluster{
		t: t, log: kvtest.NewLog(kv.Position{}), rng: rand.New(rand.NewPCG(seed, 23)),
		told: map[string]outcome{}, counts: map[string]string{}, faults: map[string]int{},
	}
	c.log.AcceptAll = acceptAll
	for range n {
		m := &machine{d: newDisk(), ours: map[string]outcome{}}
		c.open(m)
		c.machines = append(c.machines, m)
	}
	return c
}

// open starts a machine on its disk.
func (c *cluster) open(m *machine) {
	c.t.Helper()
	m.way = c.log.Machine()
	s, err := kv.Open(dir, kv.Options{FS: m.d, Log: m.way, Format: 3, SnapshotAfter: int64(500 + c.rng.IntN(4000))})
	if err != nil {
		c.t.Fatal(err)
	}
	if r := s.Status().Recovered; r.Lost != 0 {
		c.t.Fatalf("a start claims a loss: %+v", r)
	}
	m.s = s
	s.OnCommit(func(cs *kv.ChangeSet) { // whose else it is or not, it comes once
		for _, d := range notes.Each(cs) {
			if strings.HasPrefix(d.ID, "op ") && (d.Old != nil || d.New == nil) {
				c.t.Errorf("%s came twice", d.ID)
			}
		}
	})
	s.Follow()
}

// act does one transaction on a machine and notes what was told of it.
func (c *cluster) act(m *machine, rng *rand.Rand) {
	op := fmt.Sprint(c.ops.Add(1))
	key := fmt.Sprint(rng.IntN(3))
	what, local, takes := rng.IntN(5), rng.IntN(4) == 0, rng.IntN(4)*rng.IntN(4)*10
	seen := "" // what a client has read before
	if what == 1 {
		_ = m.s.View(ctx, func(tx *kv.Tx) error {
			r, err := notes.Get(tx, "register "+key)
			if r != nil {
				seen = r.Text
			}
			return err
		})
	}
	err := m.s.Update(ctx, func(tx *kv.Tx) error {
		if err := bump(tx, "op "+op); err != nil {
			return err
		}
		for range takes { // others do something meanwhile
			runtime.Gosched()
		}
		if local {
			if err := ours.Put(tx, op, &record{Text: op}); err != nil {
				return err
			}
		}
		switch what {
		case 0:
			return bump(tx, "counter "+key)
		case 1: // a register with a version
			r, err := notes.Get(tx, "register "+key)
			if err != nil {
				return err
			}
			if r == nil {
				r = &record{}
			}
			if r.Text != seen {
				return fault.Stale("register", key, 0, 0)
			}
			n, _ := strconv.Atoi(seen)
			return notes.Put(tx, "register "+key, &record{Text: strconv.Itoa(n + 1), Tags: []string{op}})
		case 2: // a set
			has, err := notes.Has(tx, "set "+key)
			if err != nil {
				return err
			}
			if has {
				return notes.Delete(tx, "set "+key)
			}
			return notes.Put(tx, "set "+key, &record{Text: op})
		case 3: // a transaction that reads many
			n := 0
			for range notes.All(tx, "op ") {
				n++
			}
			return things.Put(tx, "ops", &record{Text: strconv.Itoa(n)})
		}
		return nil
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if what == 0 {
		c.counts[op] = "counter " + key
	}
	var e *fault.Error
	got := unknown
	switch {
	case err == nil:
		got = stored
	case errors.As(err, &e) && (e.Retryable || e.Kind == fault.Conflict):
		got = refused
	case errors.As(err, &e) && e.Kind == fault.Unavailable:
	default:
		c.t.Errorf("op %s: %v", op, err)
	}
	c.told[op] = got
	if local {
		m.ours[op] = got
	}
}

// bump adds one to a number.
func bump(tx *kv.Tx, id string) error {
	old, err := notes.Get(tx, id)
	if err != nil {
		return err
	}
	n := 0
	if old != nil {
		n, err = strconv.Atoi(old.Text)
	}
	if err != nil {
		return err
	}
	return notes.Put(tx, id, &record{Text: strconv.Itoa(n + 1)})
}

// burst has every machine do some transactions at a time.
func (c *cluster) burst(each int) {
	var wg sync.WaitGroup
	for _, m := range c.machines {
		for range 4 {
			rng := rand.New(rand.NewPCG(c.rng.Uint64(), 1))
			wg.Go(func() {
				for range each {
					c.act(m, rng)
				}
			})
		}
	}
	wg.Wait()
}

// crash has a machine die at some moment of a burst: between log and journal, or at some
// operation of its disk. The next process finds what was written, or what a power cut leaves.
func (c *cluster) crash(m *machine) {
	var mu sync.Mutex
	var picture *disk
	die := func() {
		mu.Lock()
		defer mu.Unlock()
		if picture == nil {
			picture = m.d.restart()
			m.way.Cut(true) // what it does from here on, nobody sees
		}
	}
	kind := c.rng.IntN(3)
	n := int64(1 + c.rng.IntN(6))
	var left atomic.Int64
	left.Store(n)
	countdown := func() {
		if left.Add(-1) == 0 {
			die()
		}
	}
	dead := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return picture != nil
	}
	m.d.setHook(func(op, _ string) error {
		if dead() {
			return errDisk
		}
		if kind != 0 && (op == "write" || op == "sync") {
			countdown()
		}
		if dead() {
			return errDisk
		}
		return nil
	})
	if kind == 0 {
		m.way.Slow(func(op string) {
			if op == "appended" {
				countdown()
			}
		})
	}
	c.burst(2)
	die()
	_ = m.s.Close()
	m.d = picture
	if c.rng.IntN(2) == 0 {
		m.d = picture.powerCut(c.rng)
	}
	c.faults[[]string{"died between log and journal", "died at a write", "died at a write"}[kind]]++
	c.open(m)
}

// disturb does something bad, or nothing.
func (c *cluster) disturb() {
	m := c.machines[c.rng.IntN(len(c.machines))]
	switch c.rng.IntN(7) {
	case 0:
		m.way.Cut(true)
		c.burst(1)
		m.way.Cut(false)
		c.faults["cut off"]++
	case 1, 2:
		var mu sync.Mutex
		rng := rand.New(rand.NewPCG(c.rng.Uint64(), 2))
		m.way.Faults(func() kvtest.Fault {
			mu.Lock()
			defer mu.Unlock()
			if rng.IntN(2) == 0 {
				return kvtest.FaultNone
			}
			return kvtest.Fault(rng.IntN(5))
		})
		c.burst(2)
		m.way.Faults(nil)
		c.faults["requests and answers lost"]++
	case 3, 4:
		c.crash(m)
	case 5:
		if err := m.s.Snapshot(ctx); err != nil {
			c.t.Error(err)
		}
		if err := m.s.Close(); err != nil {
			c.t.Error(err)
		}
		c.open(m)
		c.faults["stopped"]++
	default:
		c.burst(2)
	}
}

// check heals everything and holds all machines to the log and to what was told.
func (c *cluster) check() {
	t := c.t
	t.Helper()
	c.log.Land()
	for _, m := range c.machines {
		m.way.Cut(false)
		if err := m.s.CatchUp(ctx); err != nil {
			t.Fatal(err)
		}
	}
	want := c.replay()
	var end kv.Position // of the last transaction: to catch up leaves entries without any
	var first [32]byte
	for i, m := range c.machines {
		if diff := cmp.Diff(want, dump(t, m.s)); diff != "" {
			t.Fatalf("machine %d does not hold what the log says (-want +got):\n%s", i, diff)
		}
		at, sum, err := m.s.Digest()
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			end, first = at, sum
		}
		if at != end || sum != first {
			t.Fatalf("machine %d holds other bytes at %v than the first at %v", i, at, end)
		}
		c.checkOwn(i, m)
	}
	counters := map[string]int{}
	for op, told := range c.told {
		n := want["op "+op]
		switch {
		case n != "" && n != "1":
			t.Fatalf("op %s was applied %s times", op, n)
		case told == stored && n != "1":
			t.Fatalf("op %s was acknowledged and is not there", op)
		case told == refused && n != "":
			t.Fatalf("op %s was refused and is there", op)
		}
		if n == "1" && c.counts[op] != "" {
			counters[c.counts[op]]++
		}
	}
	for id, n := range counters {
		if want[id] != strconv.Itoa(n) {
			t.Fatalf("%s is %s after %d additions", id, want[id], n)
		}
	}
}

// checkOwn holds a machine to what was told of records of its own.
func (c *cluster) checkOwn(i int, m *machine) {
	var got []string
	err := m.s.View(ctx, func(tx *kv.Tx) error {
		for id := range ours.All(tx, "") {
			got = append(got, id)
		}
		return tx.Err()
	})
	if err != nil {
		c.t.Fatal(err)
	}
	for _, id := range got {
		if told, known := m.ours[id]; !known || told == refused {
			c.t.Fatalf("machine %d has the record %s of its own, of which it was told %v (%v)", i, id, told, known)
		}
	}
	for id, told := range m.ours {
		if told == stored && !slices.Contains(got, id) {
			c.t.Fatalf("machine %d has lost the record %s of its own", i, id)
		}
	}
}

// replay is the state that the entries of the log come to, and checks that registers have
// gone from version to version.
func (c *cluster) replay() map[string]string {
	state := map[string]string{}
	for _, b := range c.log.Entries() {
		e, err := outbox.DecodeEntry(b)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, tx := range e.Transactions {
			for _, w := range tx.Writes {
				key := strings.TrimPrefix(w.Key, "note/")
				if rest, ok := strings.CutPrefix(w.Key, "note-thing/"); ok {
					key = "thing " + rest
				} else if strings.HasPrefix(w.Key, "own/") {
					c.t.Fatalf("%s has left its machine", w.Key)
				}
				if w.Deleted {
					delete(state, key)
					continue
				}
				r, err := kv.JSON[record]().Decode(w.Value)
				if err != nil {
					c.t.Fatal(err)
				}
				if strings.HasPrefix(key, "register ") {
					was, _ := strconv.Atoi(state[key])
					if r.Text != strconv.Itoa(was+1) {
						c.t.Fatalf("%s went from version %d to %s", key, was, r.Text)
					}
				}
				state[key] = r.Text
			}
		}
	}
	return state
}

// noticing is a test that is to fail.
type noticing struct {
	testing.TB
	failed atomic.Bool
}

func (n *noticing) Helper()               {}
func (n *noticing) Error(...any)          { n.failed.Store(true) }
func (n *noticing) Errorf(string, ...any) { n.failed.Store(true) }

func (n *noticing) Fatal(...any) {
	n.failed.Store(true)
	runtime.Goexit()
}

func (n *noticing) Fatalf(string, ...any) { n.Fatal() }

// The same is noticed to go wrong over a log that does not look at the position that an
// entry is appended behind.
func TestSYNC2_ALogWithoutExpectedPositions(t *testing.T) {
	for seed := range uint64(20) {
		n := &noticing{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			c := newCluster(n, 3, seed, true)
			defer func() {
				for _, m := range c.machines {
					_ = m.s.Close()
				}
			}()
			for range 4 {
				c.burst(5)
			}
			c.check()
		}()
		<-done
		if n.failed.Load() {
			return
		}
	}
	t.Error("machines that overwrite each other's transactions pass for sound")
}

// Three machines write the same counters, registers and sets while they are cut off, lose
// requests and answers, die between log and journal and at any write, and lose power. What
// was acknowledged is there once, what was refused is not, and all machines hold the same.
func TestSYNC1_FaultsOfSeveralMachines(t *testing.T) {
	runs := figure(12, 400)
	var ops, acknowledged, unsure atomic.Int64
	var mu sync.Mutex
	faults := map[string]int{}
	shards(t, func(t *testing.T, shard, of int) {
		for run := shard; run < runs; run += of {
			c := newCluster(t, 3, uint64(run), false)
			for range 12 {
				c.disturb()
			}
			c.check()
			for _, m := range c.machines {
				if err := m.s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			ops.Add(c.ops.Load())
			for _, told := range c.told {
				switch told {
				case stored:
					acknowledged.Add(1)
				case unknown:
					unsure.Add(1)
				}
			}
			mu.Lock()
			for what, n := range c.faults {
				faults[what] += n
			}
			mu.Unlock()
		}
	})
	t.Logf("%d transactions, %d acknowledged, %d of unknown outcome: 0 lost, 0 applied twice, 0 forked; %v",
		ops.Load(), acknowledged.Load(), unsure.Load(), slices.Sorted(maps.Keys(faults)))
	t.Log(faults)
}
