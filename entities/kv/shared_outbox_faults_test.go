package kv_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/kvtest"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// outboxes are several machines that queue, over one log, and what their clients were told.
type outboxes struct {
	t        testing.TB
	log      *kvtest.Log
	machines []*queueing
	rng      *rand.Rand // of the one goroutine that disturbs
	ops      atomic.Int64

	mu     sync.Mutex
	told   map[string]outcome // by the text of an addition, which is unique
	faults map[string]int
	counts [2]int // increments of a counter that were stored, and those of which nobody knows
}

type queueing struct {
	d       *disk
	way     *kvtest.Machine
	s       *kv.Store
	cut     bool
	clients []*client
}

// client does one thing after the other on one machine.
type client struct {
	added []addition
	ids   []string // of what it has added
}

func newOutboxes(t testing.TB, n int, seed uint64) *outboxes {
	t.Helper()
	o := &outboxes{
		t: t, log: kvtest.NewLog(kv.Position{}), rng: rand.New(rand.NewPCG(seed, 41)),
		told: map[string]outcome{}, faults: map[string]int{},
	}
	for range n {
		m := &queueing{d: newDisk(), clients: []*client{{}, {}}}
		o.open(m)
		o.machines = append(o.machines, m)
	}
	return o
}

func (o *outboxes) open(m *queueing) {
	o.t.Helper()
	m.way = o.log.Machine()
	m.way.Cut(m.cut)
	s, err := kv.Open(dir, kv.Options{FS: m.d, Log: m.way, Format: 1, Queue: true, SnapshotAfter: int64(500 + o.rng.IntN(4000))})
	if err != nil {
		o.t.Fatal(err)
	}
	if r := s.Status().Recovered; r.Lost != 0 {
		o.t.Fatalf("a start claims a loss: %+v", r)
	}
	m.s = s
	replaying(s)
	s.Follow()
}

// act does one thing as a client.
func (o *outboxes) act(m *queueing, c *client, rng *rand.Rand) {
	text := fmt.Sprint(o.ops.Add(1))
	a := addition{ID: "op " + text, Text: text}
	switch rng.IntN(6) {
	case 0: // which others may have by then
		a.ID = fmt.Sprint("slot ", rng.IntN(5))
	case 1:
		if len(c.ids) > 0 {
			a.Behind = c.ids[rng.IntN(len(c.ids))]
		}
	case 2:
		a.Blind = true
	case 3:
		err := add(m.s, "counter")
		o.count(err)
		if err == nil {
			_ = m.s.Update(ctx, func(tx *kv.Tx) error { return ours.Put(tx, text, &record{Text: text}) })
		}
		return
	}
	err := addNew(ctx, m.s, a)
	var e *fault.Error
	got := unknown
	switch {
	case err == nil:
		got = stored
		c.added = append(c.added, a)
		c.ids = append(c.ids, a.ID)
	case errors.As(err, &e) && (e.Retryable || e.Kind == fault.Conflict || e.Kind == fault.NotFound):
		got = refused
	case errors.As(err, &e) && e.Kind == fault.Unavailable:
	default:
		o.t.Errorf("addition %s: %v", text, err)
	}
	o.mu.Lock()
	o.told[text] = got
	o.mu.Unlock()
}

// count notes what became of an increment.
func (o *outboxes) count(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var e *fault.Error
	switch {
	case err == nil:
		o.counts[0]++
	case !errors.As(err, &e) || !e.Retryable:
		o.counts[1]++
	}
}

func (o *outboxes) burst(each int) {
	var wg sync.WaitGroup
	for _, m := range o.machines {
		for _, c := range m.clients {
			rng := rand.New(rand.NewPCG(o.rng.Uint64(), 1))
			wg.Go(func() {
				for range each {
					o.act(m, c, rng)
				}
			})
		}
	}
	wg.Wait()
}

func (o *outboxes) cutOff(m *queueing, cut bool) {
	m.cut = cut
	m.way.Cut(cut)
}

// crash has a machine die at some write or sync of its disk, or between log and journal, while
// it may be on its way back to the others.
func (o *outboxes) crash(m *queueing) {
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
	dead := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return picture != nil
	}
	var left atomic.Int64
	left.Store(int64(1 + o.rng.IntN(14)))
	countdown := func() {
		if left.Add(-1) == 0 {
			die()
		}
	}
	between := o.rng.IntN(3) == 0
	m.d.setHook(func(op, _ string) error {
		if dead() {
			return errDisk
		}
		if !between && (op == "write" || op == "sync") {
			countdown()
		}
		if dead() {
			return errDisk
		}
		return nil
	})
	if between {
		left.Store(int64(1 + o.rng.IntN(6)))
		m.way.Slow(func(op string) {
			if op == "appended" {
				countdown()
			}
		})
	}
	if m.cut {
		m.cut = false
		m.way.Cut(false)
		o.faults["died on the way back"]++
	}
	o.burst(2)
	die()
	for _, c := range m.clients {
		c.ids = nil // the process that knew them is gone
	}
	_ = m.s.Close()
	m.d = picture
	if o.rng.IntN(2) == 0 {
		m.d = picture.powerCut(o.rng)
	}
	m.cut = o.rng.IntN(2) == 0
	o.faults["died"]++
	o.open(m)
}

func (o *outboxes) disturb() {
	m := o.machines[o.rng.IntN(len(o.machines))]
	switch o.rng.IntN(8) {
	case 0, 1:
		o.cutOff(m, true)
		o.faults["cut off"]++
		o.burst(2)
	case 2:
		o.cutOff(m, false)
		o.burst(1)
	case 3:
		faults := [...]kvtest.Fault{
			kvtest.FaultNone, kvtest.FaultNone, kvtest.FaultRefuse, kvtest.FaultLoseAnswer, kvtest.FaultLoseRequest, kvtest.FaultFull, kvtest.FaultLate, kvtest.FaultLate,
		}
		var mu sync.Mutex
		rng := rand.New(rand.NewPCG(o.rng.Uint64(), 2))
		m.way.Faults(func() kvtest.Fault {
			mu.Lock()
			defer mu.Unlock()
			return faults[rng.IntN(len(faults))]
		})
		full := rng.IntN(2) == 0 // the disk takes a write now and then only, too
		m.d.setHook(func(op, _ string) error {
			mu.Lock()
			defer mu.Unlock()
			if full && op == "write" && rng.IntN(8) == 0 {
				return errDisk
			}
			return nil
		})
		o.cutOff(m, false) // what waits is replayed into that
		o.burst(2)
		m.way.Faults(nil)
		m.d.setHook(nil)
		o.faults["requests and answers lost"]++
	case 4, 5:
		o.crash(m)
	case 6:
		if err := m.s.Close(); err != nil {
			o.t.Error(err)
		}
		o.faults["stopped"]++
		o.open(m)
	default:
		o.burst(2)
	}
}

// check heals everything and holds all machines to the log and to what was told.
func (o *outboxes) check() {
	t := o.t
	t.Helper()
	o.log.Land()
	var stores []*kv.Store
	for _, m := range o.machines {
		o.cutOff(m, false)
		stores = append(stores, m.s)
	}
	settled(t, stores...)
	state, appended := o.replay()
	if got := same(t, stores...); !maps.Equal(got, state) {
		t.Fatalf("a machine holds\n%v\nand not what the log says\n%v", got, state)
	}
	if n, _ := strconv.Atoi(state["counter"]); n < o.counts[0] || n > o.counts[0]+o.counts[1] {
		t.Fatalf("the counter is %d after %d increments, and %d of which nobody knows", n, o.counts[0], o.counts[1])
	}
	kept := map[string]int{}
	for _, s := range stores {
		for _, w := range waiting(t, s) {
			var a addition
			if err := json.Unmarshal(w.Body, &a); err != nil || w.Refused == nil {
				t.Fatalf("%+v waits still, %v", w, err)
			}
			kept[a.Text]++
		}
	}
	count, place := map[string]int{}, map[string]int{}
	for i, text := range appended {
		count[text]++
		place[text] = i
	}
	for text, told := range o.told {
		n := count[text] + kept[text]
		switch {
		case count[text] > 1 || n > 1:
			t.Fatalf("addition %s is there %d times, and refused %d times", text, count[text], kept[text])
		case told == stored && n != 1:
			t.Fatalf("addition %s was acknowledged and is lost", text)
		case told == refused && n != 0:
			t.Fatalf("addition %s was refused to its client, and is there %d times, kept %d times", text, count[text], kept[text])
		}
	}
	for _, m := range o.machines {
		for _, c := range m.clients {
			last := map[string]int{} // place by record
			for _, a := range c.added {
				at, there := place[a.Text]
				if !there {
					continue
				}
				for _, id := range []string{a.ID, a.Behind} {
					if before, ok := last[id]; ok && at < before {
						t.Fatalf("addition %s comes before one of %s that was acknowledged earlier", a.Text, id)
					}
				}
				last[a.ID] = at
			}
		}
	}
}

// replay is what the entries of the log come to, and the texts of additions in their order.
func (o *outboxes) replay() (state map[string]string, appended []string) {
	state = map[string]string{}
	for _, b := range o.log.Entries() {
		e, err := outbox.DecodeEntry(b)
		if err != nil {
			o.t.Fatal(err)
		}
		for _, tx := range e.Transactions {
			for _, w := range tx.Writes {
				key, isNote := strings.CutPrefix(w.Key, "note/")
				if !isNote && !strings.HasPrefix(w.Key, "outbox-done/") {
					o.t.Fatalf("%s has left its machine", w.Key)
				}
				if !isNote {
					continue
				}
				r, err := kv.JSON[record]().Decode(w.Value)
				if err != nil {
					o.t.Fatal(err)
				}
				state[key] = r.Text
				if key != "counter" {
					appended = append(appended, r.Text)
				}
			}
		}
	}
	return state, appended
}

// Three machines add records while they are cut off, lose requests and answers, die at any
// write and between log and journal, also on their way back, and lose power. Each addition that
// was acknowledged is there once, in the order of its client on each record, or kept with the reason; what was
// refused is not, and all machines hold the same.
func TestSYNC4_EveryAdditionOnceWhateverFails(t *testing.T) {
	runs := figure(64, 4000)
	var ops, acknowledged, kept atomic.Int64
	var mu sync.Mutex
	faults := map[string]int{}
	shards(t, func(t *testing.T, shard, of int) {
		for run := shard; run < runs; run += of {
			o := newOutboxes(t, 2+run%2, uint64(run))
			for range 14 {
				o.disturb()
			}
			o.check()
			for _, m := range o.machines {
				kept.Add(int64(len(waiting(t, m.s))))
				if err := m.s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			ops.Add(o.ops.Load())
			for _, told := range o.told {
				if told == stored {
					acknowledged.Add(1)
				}
			}
			mu.Lock()
			for what, n := range o.faults {
				faults[what] += n
			}
			mu.Unlock()
		}
	})
	t.Logf("%d calls, %d additions acknowledged: 0 lost, 0 twice, 0 out of order, %d kept as refused; %v",
		ops.Load(), acknowledged.Load(), kept.Load(), slices.Sorted(maps.Keys(faults)))
	t.Log(faults)
}
