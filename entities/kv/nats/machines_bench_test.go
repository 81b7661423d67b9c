package nats_test

import (
	"context"
	"encoding/base64"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/ctxd/ctxd/entities/kv"
	kvnats "github.com/ctxd/ctxd/entities/kv/nats"
	"github.com/ctxd/ctxd/entities/kv/nats/natstest"
	"github.com/ctxd/ctxd/entities/kv/shared"
)

// texts are what machines share here.
var texts = kv.NewCollection[string]("text")

// apart are three servers in a process of their own, which write before they acknowledge. They
// end with this process.
var apart = sync.OnceValues(natstest.StartProcess)

func serversApart(b *testing.B) string {
	b.Helper()
	p, err := apart()
	if err != nil {
		b.Fatal(err)
	}
	return p.URL
}

// machine is one daemon's part in a shared store.
type machine struct {
	dir     string
	replica *shared.Replica
	db      *kv.Store
}

// asStore is how the stores of machines are opened.
var asStore = kv.Options{Format: 1, Beside: []string{shared.Folder + "/"}}

var silent = slog.New(slog.DiscardHandler)

// machines are n that share a store.
func machines(b *testing.B, url string, n int) []*machine {
	b.Helper()
	first := &machine{dir: b.TempDir()}
	id, _, err := shared.Begin(b.Context(), shared.BeginOptions{Servers: kvnats.Servers{URL: url}, Dir: first.dir, Name: "first"})
	if err != nil {
		b.Fatal(err)
	}
	first.serve(b, url)
	err = first.replica.Snapshot(b.Context(), func(int64) {})
	for errors.Is(err, kvnats.ErrLeased) { // the replica makes one by itself
		<-time.After(10 * time.Millisecond)
		err = first.replica.Snapshot(b.Context(), func(int64) {})
	}
	if err != nil {
		b.Fatal(err)
	}
	list := []*machine{first}
	for len(list) < n {
		m := &machine{dir: b.TempDir()}
		m.join(b, url, id.Words())
		m.serve(b, url)
		list = append(list, m)
	}
	return list
}

func (m *machine) join(b *testing.B, url, words string) {
	b.Helper()
	secret, err := kvnats.ParseSecret(words)
	if err != nil {
		b.Fatal(err)
	}
	_, err = shared.Join(b.Context(), shared.JoinOptions{
		Servers: kvnats.Servers{URL: url}, Dir: m.dir, Secret: secret, Name: "another", Store: asStore,
		Progress: func(int64, int64) {}, Logger: silent,
	})
	if err != nil {
		b.Fatal(err)
	}
}

// serve runs a machine until the end of the benchmark.
func (m *machine) serve(b *testing.B, url string) {
	b.Helper()
	r, err := shared.Open(shared.Options{Servers: kvnats.Servers{URL: url}, Dir: m.dir, Logger: silent})
	if err != nil {
		b.Fatal(err)
	}
	o := asStore
	r.Prepare(&o)
	db, err := kv.Open(m.dir, o)
	if err == nil {
		err = r.Serve(db)
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		r.Pause()
		if err := db.Close(); err != nil {
			b.Error(err)
		}
		r.Close()
	})
	m.replica, m.db = r, db
}

func (m *machine) put(ctx context.Context, id, text string) error {
	return m.db.Update(ctx, func(tx *kv.Tx) error { return texts.Put(tx, id, &text) })
}

// bareStream is a stream of the same servers, written by compare and append alone.
func bareStream(b *testing.B, url string) jetstream.JetStream {
	b.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		b.Fatal(err)
	}
	_ = js.DeleteStream(b.Context(), bareName) // of the benchmark before
	_, err = js.CreateStream(b.Context(), jetstream.StreamConfig{Name: bareName, Subjects: []string{bareName}, Replicas: 3})
	if err != nil {
		b.Fatal(err)
	}
	return js
}

const bareName = "bare"

// writing is a text of 2 KB, half of which packs.
func writing() string {
	text := entry()
	return base64.StdEncoding.EncodeToString(text[:len(text)/2])[:len(text)/2] + string(text[len(text)/2:])
}

// report reports the median and the p99 of what took how long.
func report(b *testing.B, name string, took []time.Duration) {
	b.Helper()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, name+"-p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e3, name+"-p99-µs")
}

// BenchmarkSYNC10_Acknowledge is from Update to its return, on one machine of two, and beside
// each a bare compare and append of the same text.
func BenchmarkSYNC10_Acknowledge(b *testing.B) {
	url := serversApart(b)
	m := machines(b, url, 2)[0]
	js := bareStream(b, url)
	text := writing()
	var ours, bare []time.Duration
	seq := uint64(0)
	for b.Loop() {
		start := time.Now()
		if err := m.put(b.Context(), "one", text); err != nil {
			b.Fatal(err)
		}
		ours = append(ours, time.Since(start))
		start = time.Now()
		ack, err := js.Publish(b.Context(), bareName, []byte(text), jetstream.WithExpectLastSequence(seq))
		if err != nil {
			b.Fatal(err)
		}
		bare = append(bare, time.Since(start))
		seq = ack.Sequence
	}
	report(b, "update", ours)
	report(b, "bare", bare)
}

// BenchmarkSYNC10_Visible is from the return of Update on one machine until a handler of
// another has it, and beside each from the return of a bare publish until a bare consumer has
// it.
func BenchmarkSYNC10_Visible(b *testing.B) {
	url := serversApart(b)
	list := machines(b, url, 2)
	got := make(chan time.Time, 1)
	list[1].db.OnCommit(func(cs *kv.ChangeSet) {
		if len(cs.Changes) > 0 {
			got <- time.Now()
		}
	})
	js, other := bareStream(b, url), bareConsumer(b, url)
	text := writing()
	var ours, bare []time.Duration
	for b.Loop() {
		if err := list[0].put(b.Context(), "one", text); err != nil {
			b.Fatal(err)
		}
		said := time.Now()
		ours = append(ours, max(0, (<-got).Sub(said)))
		if _, err := js.Publish(b.Context(), bareName, []byte(text)); err != nil {
			b.Fatal(err)
		}
		said = time.Now()
		bare = append(bare, max(0, (<-other).Sub(said)))
	}
	report(b, "seen", ours)
	report(b, "bare", bare)
}

// bareConsumer says when each message of the bare stream came, over a connection of its own.
func bareConsumer(b *testing.B, url string) <-chan time.Time {
	b.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		b.Fatal(err)
	}
	c, err := js.OrderedConsumer(b.Context(), bareName, jetstream.OrderedConsumerConfig{})
	if err != nil {
		b.Fatal(err)
	}
	came := make(chan time.Time, 1)
	running, err := c.Consume(func(jetstream.Msg) { came <- time.Now() })
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(running.Stop)
	return came
}

const (
	fairMachines = 5
	fairWriters  = 50
	fairTime     = 3 * time.Second
)

// BenchmarkSYNC10_Fair is fifty writers on five machines, each with one write after the other:
// the longest that any of them waited for one, over the median.
func BenchmarkSYNC10_Fair(b *testing.B) {
	list := machines(b, serversApart(b), fairMachines)
	text := writing()
	var waits []time.Duration
	for b.Loop() {
		each := make([][]time.Duration, fairWriters)
		var writers sync.WaitGroup
		began := time.Now()
		for w := range fairWriters {
			writers.Go(func() {
				for n := 0; time.Since(began) < fairTime; n++ {
					start := time.Now()
					if err := list[w%fairMachines].put(b.Context(), strconv.Itoa(w), text); err != nil {
						b.Error(err)
						return
					}
					each[w] = append(each[w], time.Since(start))
				}
			})
		}
		writers.Wait()
		waits = slices.Concat(each...)
	}
	report(b, "waited", waits)
	conflicts := uint64(0)
	for _, m := range list {
		st, _ := m.db.Replica()
		conflicts += st.Conflicts
	}
	b.ReportMetric(float64(slices.Max(waits).Nanoseconds())/1e3, "waited-longest-µs")
	b.ReportMetric(float64(len(waits))/fairTime.Seconds(), "writes/s")
	b.ReportMetric(float64(conflicts), "conflicts")
}
