package stream_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/seal"
	"github.com/ctxd/ctxd/entities/kv/shared"
	"github.com/ctxd/ctxd/entities/kv/stream"
	"github.com/ctxd/ctxd/entities/kv/stream/streamtest"
	"github.com/ctxd/ctxd/fixtures"
)

// What machines share here.
var (
	texts = kv.NewCollection[string]("text")
	docs  = kv.NewCollection[fixtures.Document]("note")
)

// apart are three servers in a process of their own, which write before they acknowledge. They
// end with this process.
var apart = sync.OnceValues(streamtest.Apart)

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

// machines are n that share a store, the first of which begins with what fill puts there.
func machines(b *testing.B, url string, n int, fill func(*kv.Store) error) []*machine {
	b.Helper()
	first := &machine{dir: b.TempDir()}
	if fill != nil {
		db, err := kv.Open(first.dir, asStore)
		if err == nil {
			err = errors.Join(fill(db), db.Close())
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	id, _, err := shared.Begin(b.Context(), shared.BeginOptions{Servers: stream.Servers{URL: url}, Dir: first.dir, Name: "first"})
	if err != nil {
		b.Fatal(err)
	}
	first.serve(b, url)
	err = first.replica.Snapshot(b.Context(), func(int64) {})
	for errors.Is(err, stream.ErrLeased) { // the replica makes one by itself
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
	secret, err := seal.ParseWords(words)
	if err != nil {
		b.Fatal(err)
	}
	_, err = shared.Join(b.Context(), shared.JoinOptions{
		Servers: stream.Servers{URL: url}, Dir: m.dir, Secret: secret, Name: "another", Store: asStore,
		Progress: func(int64, int64) {}, Logger: silent,
	})
	if err != nil {
		b.Fatal(err)
	}
}

// serve runs a machine until the end of the benchmark.
func (m *machine) serve(b *testing.B, url string) {
	b.Helper()
	r, err := shared.Open(shared.Options{Servers: stream.Servers{URL: url}, Dir: m.dir, Logger: silent})
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
	m := machines(b, url, 2, nil)[0]
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
	list := machines(b, url, 2, nil)
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
	list := machines(b, serversApart(b), fairMachines, nil)
	text := writing()
	var waits []time.Duration
	for b.Loop() {
		waits = waits[:0]
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
	longest, median := slices.Max(waits), waits[len(waits)/2]
	conflicts := uint64(0)
	for _, m := range list {
		st, _ := m.db.Replica()
		conflicts += st.Conflicts
	}
	b.ReportMetric(float64(longest)/float64(median), "longest/median")
	b.ReportMetric(float64(len(waits))/fairTime.Seconds(), "writes/s")
	b.ReportMetric(float64(conflicts), "conflicts")
}

// joinedNotes is how many notes a machine that joins takes. CTXD_BENCH_NOTES makes it another
// number.
const joinedNotes = 100_000

// BenchmarkSYNC10_Join is four machines that join a store of a hundred thousand notes one after
// another, until there are five, and beside each a restore of a backup of the same store to an
// empty folder of the same disk.
func BenchmarkSYNC10_Join(b *testing.B) {
	n := joinedNotes
	if text := os.Getenv("CTXD_BENCH_NOTES"); text != "" {
		var err error
		n, err = strconv.Atoi(text)
		if err != nil {
			b.Fatal(err)
		}
	}
	url := serversApart(b)
	for b.Loop() {
		first := machines(b, url, 1, func(db *kv.Store) error { return fillDocs(b.Context(), db, n) })[0]
		id, err := stream.LoadIdentity(filepath.Join(first.dir, shared.Folder, "key"))
		if err != nil {
			b.Fatal(err)
		}
		kept := filepath.Join(b.TempDir(), "backup")
		m, err := first.db.Backup(b.Context(), kept, kv.BackupOptions{Shared: true})
		if err != nil {
			b.Fatal(err)
		}
		var joins, restores []time.Duration
		for range fairMachines - 1 {
			other := &machine{dir: b.TempDir()}
			start := time.Now()
			other.join(b, url, id.Words())
			joins = append(joins, time.Since(start))
			other.serve(b, url)
			start = time.Now()
			restore(b, kept)
			restores = append(restores, time.Since(start))
		}
		report(b, "join", joins)
		report(b, "restore", restores)
		b.ReportMetric(float64(m.Bytes)/(1<<20), "backup-MiB")
	}
}

// fillDocs writes the standard notes.
func fillDocs(ctx context.Context, db *kv.Store, n int) error {
	var list []fixtures.Document
	for d := range fixtures.StandardDocuments(n) {
		list = append(list, d)
		if len(list) < 1000 && len(list) < n {
			continue
		}
		err := db.Update(ctx, func(tx *kv.Tx) error {
			var err error
			for i := range list {
				err = errors.Join(err, docs.Put(tx, fmt.Sprintf("%x", list[i].Path), &list[i]))
			}
			return err
		})
		if err != nil {
			return err
		}
		list = list[:0]
	}
	return nil
}

// restore restores a backup to an empty folder.
func restore(b *testing.B, path string) {
	b.Helper()
	db, err := kv.Open(b.TempDir(), asStore)
	if err == nil {
		_, err = db.Restore(b.Context(), path, kv.RestoreOptions{})
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		b.Fatal(err)
	}
}
