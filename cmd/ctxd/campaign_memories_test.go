//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// told is a memory as a keeper knows it from what it was answered.
type told struct {
	Number    int64 // 0: not known yet
	Statement string
	Status    string
	Version   int
	Pinned    bool
	Client    string
	Uses      int
	Former    []string // statements of former versions, the latest first
	Contexts  []string // sorted
	Linked    []string // memories that it supersedes or is superseded by, sorted
}

// kept is all that a keeper has in the daemon. What is gone is nil.
type kept struct {
	memories map[string]*told
	contexts map[string]*string // their names
}

func (k kept) clone() kept {
	c := kept{make(map[string]*told), maps.Clone(k.contexts)}
	for id, m := range k.memories {
		c.memories[id] = nil
		if m != nil {
			own := *m
			own.Former, own.Contexts = slices.Clone(m.Former), slices.Clone(m.Contexts)
			own.Linked = slices.Clone(m.Linked)
			c.memories[id] = &own
		}
	}
	return c
}

// next is what becomes of a memory that is changed.
func (m *told) next(statement, status string) {
	if statement != m.Statement {
		m.Former = slices.Insert(m.Former, 0, m.Statement)
	}
	m.Statement, m.Status, m.Version = statement, status, m.Version+1
}

// drop takes memories away. Those that name them are changed with them.
func (k kept) drop(gone ...string) {
	for _, id := range gone {
		k.memories[id] = nil
	}
	for _, m := range k.memories {
		if m == nil {
			continue
		}
		left := slices.DeleteFunc(slices.Clone(m.Linked), func(id string) bool { return slices.Contains(gone, id) })
		if len(left) < len(m.Linked) {
			m.Linked, m.Version = left, m.Version+1
		}
	}
}

// numbering holds which memory was ever given a number.
type numbering struct {
	mu  sync.Mutex
	has map[int64]string
}

// give reports whether the memory may have the number.
func (n *numbering) give(number int64, id string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	by, taken := n.has[number]
	n.has[number] = id
	return number > 0 && (!taken || by == id)
}

// operation is a call of a keeper, and what is in the daemon once it is acknowledged.
type operation struct {
	method string
	params any
	after  kept
	made   []string // ids of memories whose numbers the answer tells
}

// keeper is a client that writes down, changes and deletes memories and contexts, and remembers
// what it was told.
type keeper struct {
	id      int
	rng     *rand.Rand
	made    int // memories
	is      kept
	pending *operation // that was not answered
	without string     // a method that it does not call
	numbers *numbering
}

func newKeeper(id int, numbers *numbering) *keeper {
	return &keeper{
		id: id, rng: rand.New(rand.NewPCG(uint64(id), 7)), numbers: numbers,
		is: kept{make(map[string]*told), make(map[string]*string)},
	}
}

// mostMemories is how many memories a keeper has at a time.
const mostMemories = 30

// ids returns those memories that are there and of a status, in their order.
func (w *keeper) ids(statuses ...string) (list []string) {
	for id, m := range w.is.memories {
		if m != nil && (len(statuses) == 0 || slices.Contains(statuses, m.Status)) {
			list = append(list, id)
		}
	}
	slices.Sort(list)
	return list
}

func (w *keeper) any(list []string) string { return list[w.rng.IntN(len(list))] }

func (w *keeper) statement(id string) string {
	return fmt.Sprintf("%s says the token %d of %s", id, w.rng.IntN(1e9), strings.Repeat("words ", w.rng.IntN(60)+1))
}

// draft is a new memory, in the state of an operation.
func (w *keeper) draft(op *operation, supersedes ...string) protocol.MemoryDraft {
	w.made++
	id := fmt.Sprintf("k%d-m%d", w.id, w.made)
	d := protocol.MemoryDraft{
		ID: id, Statement: strings.TrimSpace(w.statement(id)), Tier: record.Tiers[1+w.rng.IntN(3)], Supersedes: supersedes,
		Source: &protocol.MemorySourceDraft{Kind: "client", Client: fmt.Sprintf("keeper %d %d", w.id, w.rng.IntN(4))},
	}
	for c, name := range w.is.contexts {
		if name != nil && w.rng.IntN(2) == 0 {
			d.Contexts = append(d.Contexts, c)
		}
	}
	slices.Sort(d.Contexts)
	op.after.memories[id] = &told{
		Statement: d.Statement, Status: record.MemoryActive, Version: 1, Client: d.Source.Client, Contexts: d.Contexts,
	}
	op.made = append(op.made, id)
	return d
}

// operations are what a keeper does. Each changes the state that is to come, and returns the call;
// none when there is nothing to do it to.
var operations = []func(w *keeper, op *operation){
	func(w *keeper, op *operation) { op.method, op.params = "memory.add", w.draft(op) },
	func(w *keeper, op *operation) {
		var many protocol.MemoryAddMany
		for range 2 + w.rng.IntN(3) {
			many.Memories = append(many.Memories, w.draft(op))
		}
		op.method, op.params = "memory.addMany", many
	},
	func(w *keeper, op *operation) {
		if list := w.ids(record.MemoryActive); len(list) > 0 {
			old := w.any(list)
			op.method, op.params = "memory.add", w.draft(op, old)
			was, is := op.after.memories[old], op.after.memories[op.made[0]]
			was.next(was.Statement, record.MemorySuperseded)
			was.Linked = slices.Sorted(slices.Values(append(was.Linked, op.made[0])))
			is.Linked = []string{old}
		}
	},
	func(w *keeper, op *operation) {
		if list := w.ids(record.MemoryActive, record.MemoryArchived); len(list) > 0 {
			id := w.any(list)
			said := strings.TrimSpace(w.statement(id))
			op.method, op.params = "memory.patch", protocol.MemoryPatch{ID: id, Statement: &said}
			op.after.memories[id].next(said, w.is.memories[id].Status)
		}
	},
	(*keeper).changesStatus, (*keeper).changesStatus,
	func(w *keeper, op *operation) {
		if list := w.ids(); len(list) > 0 {
			id := w.any(list)
			op.method, op.params = "memory.delete", protocol.MemoryDelete{ID: id, Force: true}
			op.after.drop(id)
		}
	},
	func(w *keeper, op *operation) {
		if list := w.ids(); len(list) > mostMemories {
			from := w.is.memories[w.any(list)].Client
			op.method, op.params = "memory.forget", protocol.MemoryForget{Client: from}
			op.after.drop(slices.DeleteFunc(list, func(id string) bool { return w.is.memories[id].Client != from })...)
		}
	},
	func(w *keeper, op *operation) {
		if list := w.ids(record.MemoryActive, record.MemoryArchived); len(list) > 1 {
			used := list[:2]
			op.method, op.params = "memory.use", protocol.MemoryUse{IDs: used}
			for _, id := range used {
				op.after.memories[id].Uses++
			}
		}
	},
	func(w *keeper, op *operation) {
		id, name := fmt.Sprintf("k%d-c%d", w.id, w.rng.IntN(3)), fmt.Sprint("The name ", w.rng.IntN(1e9))
		op.method, op.params = "contexts.put", protocol.ContextPut{ID: id, Name: name}
		op.after.contexts[id] = &name
	},
	func(w *keeper, op *operation) {
		for id, name := range w.is.contexts {
			if name == nil || w.rng.IntN(4) > 0 {
				continue
			}
			op.method, op.params = "contexts.delete", protocol.ContextDelete{ID: id}
			op.after.contexts[id] = nil
			for _, m := range op.after.memories {
				if m != nil {
					m.Contexts = slices.DeleteFunc(m.Contexts, func(c string) bool { return c == id })
				}
			}
			return
		}
	},
	func(w *keeper, op *operation) {
		list := w.ids(record.MemoryActive)
		for id, name := range w.is.contexts {
			if name == nil || len(list) < 2 {
				continue
			}
			some := list[len(list)-2:]
			op.method, op.params = "contexts.link", protocol.ContextLink{ID: id, MemoryIDs: some}
			for _, m := range some {
				in := &op.after.memories[m].Contexts
				if !slices.Contains(*in, id) {
					*in = append(*in, id)
					slices.Sort(*in)
				}
			}
			return
		}
	},
}

// changesStatus archives, restores, retracts or pins a memory.
func (w *keeper) changesStatus(op *operation) {
	for _, c := range []struct{ from, method, to string }{
		{record.MemoryActive, "memory.archive", record.MemoryArchived},
		{record.MemoryArchived, "memory.restore", record.MemoryActive},
		{record.MemorySuperseded, "memory.retract", record.MemoryRetracted},
		{record.MemoryActive, "memory.patch", record.MemoryActive},
	} {
		list := w.ids(c.from)
		if len(list) == 0 || w.rng.IntN(3) > 0 {
			continue
		}
		id := w.any(list)
		m := op.after.memories[id]
		op.method, op.params = c.method, protocol.ByID{ID: id}
		if c.method == "memory.patch" {
			m.Pinned = !m.Pinned
			op.params = protocol.MemoryPatch{ID: id, Pinned: &m.Pinned}
		}
		m.next(m.Statement, c.to)
		return
	}
}

// choose returns the next operation.
func (w *keeper) choose() *operation {
	for {
		op := &operation{after: w.is.clone()}
		operations[w.rng.IntN(len(operations))](w, op)
		if op.method != "" && op.method != w.without {
			return op
		}
	}
}

// do makes one call. What was not answered is pending. An answer that is an error is returned.
func (w *keeper) do(ctx context.Context, c *client.Client) error {
	op := w.choose()
	w.pending = op
	var answer json.RawMessage
	if err := c.Call(ctx, op.method, op.params, &answer); err != nil {
		return fmt.Errorf("%s: %w", op.method, err)
	}
	w.pending = nil
	w.is = op.after
	return w.number(op, answer)
}

// number takes the numbers that an answer tells.
func (w *keeper) number(op *operation, answer json.RawMessage) error {
	if len(op.made) == 0 {
		return nil
	}
	var one protocol.MemoryAdded
	var many protocol.MemoryAddedMany
	if err := errors.Join(json.Unmarshal(answer, &one), json.Unmarshal(answer, &many)); err != nil {
		return err
	}
	if one.Memory != nil {
		many.Memories = []protocol.MemoryAdded{one}
	}
	for i, id := range op.made {
		n := many.Memories[i].Memory.Number
		if !w.numbers.give(n, id) {
			return fmt.Errorf("%s was given the number %d, which another memory had", id, n)
		}
		w.is.memories[id].Number = n
	}
	return nil
}

// read returns what the daemon has of all that a state names.
func (w *keeper) read(ctx context.Context, c *client.Client, of kept) (kept, error) {
	got := kept{make(map[string]*told), make(map[string]*string)}
	for id := range of.memories {
		m, err := readMemory(ctx, c, id)
		if err != nil {
			return got, err
		}
		got.memories[id] = m
	}
	for id := range of.contexts {
		var full protocol.ContextFull
		err := c.Call(ctx, "contexts.get", protocol.ContextRef{Ref: id}, &full)
		switch {
		case fault.KindOf(err) == fault.NotFound:
			got.contexts[id] = nil
		case err != nil:
			return got, err
		default:
			got.contexts[id] = &full.Name
		}
	}
	return got, nil
}

func readMemory(ctx context.Context, c *client.Client, id string) (*told, error) {
	var m record.Memory
	err := c.Call(ctx, "memory.get", protocol.MemoryRef{Ref: id}, &m)
	if fault.KindOf(err) == fault.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var before protocol.MemoryVersions
	if err := c.Call(ctx, "memory.versions", protocol.MemoryRef{Ref: id}, &before); err != nil {
		return nil, err
	}
	t := &told{
		Number: m.Number, Statement: m.Statement, Status: m.Status, Version: m.Version, Pinned: m.Pinned,
		Client: m.Source.Client, Uses: m.Use.Uses, Contexts: slices.Sorted(slices.Values(m.Contexts)),
	}
	t.Linked = slices.Clone(m.Supersedes)
	if m.SupersededBy != "" {
		t.Linked = append(t.Linked, m.SupersededBy)
	}
	slices.Sort(t.Linked)
	for _, v := range before.Versions {
		t.Former = append(t.Former, v.Statement)
	}
	return t, nil
}

// differs names what is not as it should be. A number that is not known may be any.
func (k kept) differs(got kept) string {
	for id, m := range k.memories {
		is := got.memories[id]
		if m == nil || is == nil {
			if m != nil || is != nil {
				return fmt.Sprintf("%s is %+v, want %+v", id, is, m)
			}
			continue
		}
		same := *is
		if m.Number == 0 {
			same.Number = 0
		}
		if fmt.Sprintf("%+v", same) != fmt.Sprintf("%+v", *m) {
			return fmt.Sprintf("%s is %+v, want %+v", id, same, *m)
		}
	}
	for id, name := range k.contexts {
		if is := got.contexts[id]; !reflect.DeepEqual(is, name) {
			return fmt.Sprintf("the context %s is not as it should be", id)
		}
	}
	return ""
}

// check reads all that the keeper may have written. Each acknowledged operation is there, and the
// one that was not answered is there as a whole or not at all. It returns whether it is.
func (w *keeper) check(ctx context.Context, c *client.Client) (unanswered bool, err error) {
	all := w.is
	if w.pending != nil {
		all = w.pending.after
	}
	if w.pending != nil && w.pending.method == "memory.forget" { // in groups: a start goes on with it
		if err := c.Call(ctx, w.pending.method, w.pending.params, nil); err != nil {
			return false, err
		}
	}
	got, err := w.read(ctx, c, all)
	if err != nil {
		return false, err
	}
	before := w.is.clone()
	for id := range all.memories {
		if _, known := before.memories[id]; !known {
			before.memories[id] = nil
		}
	}
	wrong := before.differs(got)
	if wrong != "" && w.pending != nil {
		unanswered = true
		if other := all.differs(got); other != "" {
			return false, fmt.Errorf("keeper %d: not as before %s (%s), and not as after it (%s)", w.id, w.pending.method, wrong, other)
		}
	} else if wrong != "" {
		return false, fmt.Errorf("keeper %d: %s", w.id, wrong)
	}
	w.is, w.pending = got, nil
	for id, m := range got.memories {
		if m != nil && !w.numbers.give(m.Number, id) {
			return unanswered, fmt.Errorf("keeper %d: %s has the number %d, which another memory had", w.id, id, m.Number)
		}
	}
	return unanswered, nil
}

// wantNoGap checks that numbers were given one after the other.
func (n *numbering) wantNoGap(t *testing.T) {
	t.Helper()
	for i := int64(1); i <= int64(len(n.has)); i++ {
		if n.has[i] == "" {
			t.Errorf("of %d memories none was ever given the number %d", len(n.has), i)
		}
	}
}

// wantChecked has the daemon compare what it holds with its files, and its records with each other.
func wantChecked(t *testing.T, c *client.Client) {
	t.Helper()
	if r := ask[protocol.Checked](t, c, "admin.check", nil); !r.OK || !r.Compared || len(r.Drift) > 0 {
		t.Errorf("admin.check: %+v", r)
	}
}

// TestCampaignREL1_KillsOverMemories kills the daemon under clients that write down, change, archive,
// delete and forget memories and put them into contexts. Each acknowledged memory, version, number,
// counter and place in a context is there, and each other operation as a whole or not at all.
func TestCampaignREL1_KillsOverMemories(t *testing.T) {
	opts := launchOptions{home: shortHome(t), args: []string{"--log-level", "info", "--set", "store.snapshotAfter=256KiB"}}
	p := serve(t, opts)
	numbers := &numbering{has: make(map[int64]string)}
	keepers := make([]*keeper, 6)
	for i := range keepers {
		keepers[i] = newKeeper(i, numbers)
	}
	rng := rand.New(rand.NewPCG(2, 500))
	acked, unanswered, kills := 0, 0, figure(6, 200)
	for range kills {
		acked += killed(t, p, keepers, 150+rng.IntN(100))
		p = prepare(t, opts)
		p.launch()
		if h := p.await(); h.Store.Mode != "read-write" || h.Store.Recovered.Lost != 0 || len(h.Store.Recovered.Damaged) > 0 {
			t.Fatalf("%+v", h.Store)
		}
		c := p.client()
		for _, w := range keepers {
			there, err := w.check(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if there {
				unanswered++
			}
		}
		wantChecked(t, c)
	}
	numbers.wantNoGap(t)
	t.Logf("%d kills; %d operations acknowledged by %d clients, %d more were there unanswered; %d memories were given numbers",
		kills, acked, len(keepers), unanswered, len(numbers.has))
}

// caller is a client that makes one call after the other.
type caller interface {
	do(ctx context.Context, c *client.Client) error
}

// killed has all callers work until enough is acknowledged, kills the daemon, and returns how much was.
func killed[C caller](t *testing.T, p *process, callers []C, want int) int {
	t.Helper()
	var acked atomic.Int64
	enough := make(chan struct{})
	var wg sync.WaitGroup
	for i, w := range callers {
		c := p.client()
		wg.Go(func() {
			defer c.Close()
			for {
				err := w.do(t.Context(), c)
				switch {
				case fault.KindOf(err) == fault.Unavailable:
					return // the connection is lost
				case err != nil:
					t.Errorf("client %d: %v", i, err)
					return
				}
				if acked.Add(1) == int64(want) {
					close(enough)
				}
			}
		})
	}
	select {
	case <-enough:
	case <-p.exited:
		t.Fatalf("the daemon ended by itself:\n%s", p.log())
	case <-time.After(patience):
		t.Fatal("the last acknowledgement does not come")
	}
	p.kill()
	wg.Wait()
	return int(acked.Load())
}

// TestCampaignMEM5_KilledWhileItForgets kills the daemon in the middle of memory.forget: the next start
// goes on with it, and nothing of what was to be forgotten is left.
func TestCampaignMEM5_KilledWhileItForgets(t *testing.T) {
	const many = 1000
	opts := launchOptions{home: shortHome(t)}
	p := serve(t, opts)
	rng := rand.New(rand.NewPCG(5, 500))
	given := 0
	for round := range figure(3, 40) {
		c := p.client()
		batch := protocol.MemoryAddMany{Memories: make([]protocol.MemoryDraft, many)}
		for i := range batch.Memories {
			batch.Memories[i] = protocol.MemoryDraft{
				Statement: fmt.Sprintf("Statement %d of round %d", i, round), Tier: record.TierPatterns,
				Source: &protocol.MemorySourceDraft{Kind: "client", Client: "flood"},
			}
		}
		added := ask[protocol.MemoryAddedMany](t, c, "memory.addMany", batch)
		if first := added.Memories[0].Memory.Number; first != int64(given+1) {
			t.Errorf("round %d begins with the number %d, want %d", round, first, given+1)
		}
		given += many
		from, forgotten := rng.IntN(many), 0
		err := c.CallProgress(t.Context(), "memory.forget", protocol.MemoryForget{Client: "flood"}, nil, func(pr protocol.Progress) {
			if forgotten = int(pr.Done); forgotten > from {
				p.kill()
			}
		})
		if err == nil {
			p.kill() // it was faster
		}
		p = serve(t, opts)
		c = p.client()
		p.settles("all is forgotten", func() bool {
			return ask[protocol.MemoryStats](t, c, "memory.stats", nil).Total == 0
		})
		wantChecked(t, c)
		t.Logf("killed after %d of %d were forgotten", forgotten, many)
	}
}

// TestCampaignREF2_ThousandAtOnce has many clients write down a thousand memories at the same time:
// they are given the numbers 1 to 1,000.
func TestCampaignREF2_ThousandAtOnce(t *testing.T) {
	const clients, each = 20, 50
	p := serve(t, launchOptions{home: shortHome(t)})
	numbers := &numbering{has: make(map[int64]string)}
	var wg sync.WaitGroup
	for i := range clients {
		c := p.client()
		for j := range each {
			wg.Go(func() {
				var added protocol.MemoryAdded
				id := fmt.Sprintf("c%d-m%d", i, j)
				err := c.Call(t.Context(), "memory.add", protocol.MemoryDraft{ID: id, Statement: "I say " + id}, &added)
				if err != nil || added.Duplicate || !numbers.give(added.Memory.Number, id) {
					t.Errorf("%s: %+v, %v", id, added.Memory, err)
				}
			})
		}
	}
	wg.Wait()
	if len(numbers.has) != clients*each {
		t.Errorf("%d numbers were given", len(numbers.has))
	}
	numbers.wantNoGap(t)
	wantChecked(t, p.client())
}
