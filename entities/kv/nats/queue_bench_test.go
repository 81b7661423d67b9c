package nats_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	kvnats "github.com/ctxd/ctxd/entities/kv/nats"
	"github.com/ctxd/ctxd/entities/kv/shared"
)

// severedLog is a log that can be cut off, without a word to its servers.
type severedLog struct {
	kv.Log
	cut     atomic.Bool
	changes chan struct{}
}

func (l *severedLog) Append(ctx context.Context, after kv.Position, entry []byte) (kv.Position, error) {
	if l.cut.Load() {
		return kv.Position{}, severed()
	}
	return l.Log.Append(ctx, after, entry)
}

func (l *severedLog) Read(ctx context.Context, after kv.Position, fn func(kv.Position, []byte) error) error {
	if l.cut.Load() {
		return severed()
	}
	return l.Log.Read(ctx, after, fn)
}

func (l *severedLog) Arrived(after kv.Position, fn func(kv.Position, []byte) error) (bool, error) {
	if l.cut.Load() {
		return false, nil
	}
	return l.Log.Arrived(after, fn)
}

func (l *severedLog) Changes() <-chan struct{} { return l.changes }

func (l *severedLog) sever(cut bool) {
	l.cut.Store(cut)
	select {
	case l.changes <- struct{}{}:
	default:
	}
}

func severed() error {
	e := fault.New(fault.Unavailable, "cut off")
	e.Retryable = true
	return e
}

// BenchmarkSYNC14_Queue is a machine that comes back with so many additions waiting: how long
// writes of new records take until nothing waits any more, how long reads take, and how long it is
// until then.
func BenchmarkSYNC14_Queue(b *testing.B) {
	for _, n := range []int{400, 10_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) { benchQueue(b, n) })
	}
}

func benchQueue(b *testing.B, n int) {
	url := serversApart(b)
	m := machines(b, url, 1)[0]
	m.replica.Pause()
	if err := m.db.Close(); err != nil {
		b.Fatal(err)
	}
	db, way := openSevered(b, m.dir, url)
	text := writing()[:500]
	for round := 0; b.Loop(); round++ {
		way.sever(true)
		addOffline(b, db, round, n, text)
		var writes, reads []time.Duration
		began := time.Now()
		way.sever(false)
		for k := 0; ; k++ {
			start := time.Now()
			if err := db.Update(b.Context(), func(tx *kv.Tx) error { return texts.Put(tx, fmt.Sprint("new ", round, " ", k), &text) }); err != nil {
				if fault.KindOf(err) == fault.Unavailable {
					continue // it has not noticed yet that the servers can be reached
				}
				b.Fatal(err)
			}
			writes = append(writes, time.Since(start))
			start = time.Now()
			if err := db.View(b.Context(), func(tx *kv.Tx) error { _, err := texts.Get(tx, "new 0 0"); return err }); err != nil {
				b.Fatal(err)
			}
			reads = append(reads, time.Since(start))
			if st, _ := db.Replica(); st.Waiting == 0 {
				break
			}
		}
		b.ReportMetric(time.Since(began).Seconds(), "replayed-s")
		b.ReportMetric(float64(len(writes)), "writes")
		report(b, "write", writes)
		b.ReportMetric(float64(writes[len(writes)-1].Nanoseconds())/1e3, "write-longest-µs")
		report(b, "read", reads)
	}
}

// openSevered opens the store of a machine again, which queues, over a log that can be cut off.
func openSevered(b *testing.B, dir, url string) (*kv.Store, *severedLog) {
	b.Helper()
	r, err := shared.Open(shared.Options{Servers: kvnats.Servers{URL: url}, Dir: dir, Logger: silent})
	if err != nil {
		b.Fatal(err)
	}
	o := asStore
	r.Prepare(&o)
	way := &severedLog{Log: o.Log, changes: make(chan struct{}, 1)}
	o.Log, o.Queue = way, true
	db, err := kv.Open(dir, o)
	if err != nil {
		b.Fatal(err)
	}
	db.Replay(func(ctx context.Context, w kv.Waiting) error { return addText(ctx, db, string(w.Body)) })
	db.Follow()
	b.Cleanup(func() {
		if err := db.Close(); err != nil {
			b.Error(err)
		}
		r.Close()
	})
	if err := db.CatchUp(b.Context()); err != nil {
		b.Fatal(err)
	}
	return db, way
}

// addText adds a text whose id is before the first line break.
func addText(ctx context.Context, db *kv.Store, text string) error {
	ctx = kv.Queueable(ctx, kv.Later{Kind: "add", Body: func() ([]byte, error) { return []byte(text), nil }})
	return db.Update(ctx, func(tx *kv.Tx) error { return texts.Put(tx, text[:20], &text) })
}

func addOffline(b *testing.B, db *kv.Store, round, n int, text string) {
	b.Helper()
	var writers sync.WaitGroup
	for w := range 16 {
		writers.Go(func() {
			for i := w; i < n; i += 16 {
				if err := addText(b.Context(), db, fmt.Sprintf("%09d %010d\n%s", round, i, text)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
	if st, _ := db.Replica(); st.Waiting != n {
		b.Fatalf("%d wait, want %d", st.Waiting, n)
	}
}
