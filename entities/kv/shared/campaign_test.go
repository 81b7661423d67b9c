package shared_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/nats"
	"github.com/ctxd/ctxd/entities/kv/nats/natstest"
	"github.com/ctxd/ctxd/entities/kv/shared"
)

// counted counts the transactions that were applied, in the record of the same name.
const counted = "counter"

// add puts a record of its own and counts it, in one transaction.
func add(ctx context.Context, db *kv.Store, id string) error {
	return db.Update(ctx, func(tx *kv.Tx) error {
		n := 0
		was, err := facts.Get(tx, counted)
		if err != nil {
			return err
		}
		if was != nil {
			n, err = strconv.Atoi(*was)
		}
		if err != nil {
			return err
		}
		count, text := strconv.Itoa(n+1), "x"
		return errors.Join(facts.Put(tx, counted, &count), facts.Put(tx, id, &text))
	})
}

// Three machines write over three servers, whose processes end and whose network is cut, in
// turn. Afterwards every write that was acknowledged is there, each was applied once, and all
// machines hold the same bytes. campaign_processes_test.go does worse, to real processes.
func TestSYNC9_NothingAcknowledgedIsLostForkedOrAppliedTwice(t *testing.T) {
	const faults = 2
	c := natstest.StartCluster(t, natstest.ClusterOptions{})
	machines, proxies := threeMachines(t, c)
	writing, stop := context.WithCancel(t.Context())
	var acknowledged, unknown sync.Map
	var writers sync.WaitGroup
	var total [3]int
	enough := make(chan struct{}, 1) // gets a value at each acknowledgement
	for i, m := range machines {
		writers.Go(func() {
			for n := 0; writing.Err() == nil; n++ {
				id := fmt.Sprintf("m%d-%06d", i, n)
				err := add(writing, m.db, id)
				if err != nil {
					unknown.Store(id, true) // it may be there
					<-time.After(time.Millisecond)
					continue
				}
				acknowledged.Store(id, true)
				total[i]++
				select {
				case enough <- struct{}{}:
				default:
				}
			}
		})
	}
	random := rand.New(rand.NewPCG(1, 2))
	for f := range faults {
		for range 10 {
			<-enough
		}
		if at := random.IntN(3); f%2 == 0 {
			c.Stop(at)
			for range 3 { // the two that are left have a leader
				<-enough
			}
			if err := errors.Join(c.Start(at), c.Ready()); err != nil {
				t.Fatal(err)
			}
		} else {
			proxies[at].Cut()
			for range 20 { // the others write on
				<-enough
			}
			proxies[at].Heal()
		}
	}
	stop()
	writers.Wait()
	same(t, machines, &acknowledged, &unknown)
	t.Logf("%d faults, %v acknowledgements", faults, total)
}

// threeMachines share a store, each over a proxy of its own to a server of its own.
func threeMachines(t *testing.T, c *natstest.Cluster) (machines []*machine, proxies []*natstest.Proxy) {
	t.Helper()
	var words string
	for i := range 3 {
		p := natstest.NewProxy(t, c, i)
		m := &machine{t: t, dir: t.TempDir(), url: p.URL()}
		if i == 0 {
			id, _, err := shared.Begin(t.Context(), shared.BeginOptions{Servers: nats.Servers{URL: m.url}, Dir: m.dir, Name: "first"})
			if err != nil {
				t.Fatal(err)
			}
			words = id.Words()
			m.start()
			if err := m.replica.Snapshot(t.Context(), func(int64) {}); err != nil && !errors.Is(err, nats.ErrLeased) {
				t.Fatal(err)
			}
		} else {
			joins(t, m, words)
			m.start()
		}
		t.Cleanup(m.stop)
		machines, proxies = append(machines, m), append(proxies, p)
	}
	return machines, proxies
}

// joins takes part as soon as there is a state to take.
func joins(t *testing.T, m *machine, words string) {
	t.Helper()
	o := joinOptions(t, m.url, m.dir, words)
	o.Logger = slog.New(slog.DiscardHandler)
	for {
		_, err := shared.Join(t.Context(), o)
		if err == nil {
			return
		}
		if !retryable(err) {
			t.Fatal(err)
		}
		select {
		case <-t.Context().Done():
			t.Fatal(err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// same checks what all machines hold once everything is healed.
func same(t *testing.T, machines []*machine, acknowledged, unknown *sync.Map) {
	t.Helper()
	var digests []string
	for _, m := range machines {
		caughtUp(t, m)
		at, sum, err := m.db.Digest()
		if err != nil {
			t.Fatal(err)
		}
		digests = append(digests, fmt.Sprintf("%d %x", at.Seq, sum))
	}
	if digests[0] != digests[1] || digests[1] != digests[2] {
		t.Errorf("the machines differ: %q", digests)
	}
	there, count := map[string]bool{}, 0
	err := machines[0].db.View(t.Context(), func(tx *kv.Tx) error {
		for id, text := range facts.All(tx, "") {
			if id == counted {
				count, _ = strconv.Atoi(*text)
				continue
			}
			there[id] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if count != len(there) {
		t.Errorf("%d transactions were counted, %d records are there", count, len(there))
	}
	acknowledged.Range(func(id, _ any) bool {
		if !there[id.(string)] {
			t.Errorf("%s was acknowledged and is lost", id)
		}
		return true
	})
	for id := range there {
		_, a := acknowledged.Load(id)
		_, b := unknown.Load(id)
		if !a && !b {
			t.Errorf("nobody has written %s", id)
		}
	}
}

// caughtUp waits until a machine has everything.
func caughtUp(t *testing.T, m *machine) {
	t.Helper()
	for {
		err := m.db.CatchUp(t.Context())
		if err == nil {
			return
		}
		if !retryable(err) {
			t.Fatal(err)
		}
		select {
		case <-t.Context().Done():
			t.Fatal(err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
