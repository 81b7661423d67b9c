package nats_test

import (
	"bytes"
	"crypto/rand"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// entrySize is that of the entries of the benchmarks, in bytes.
const entrySize = 2 << 10

func entry() []byte {
	text := bytes.Repeat([]byte("half of it packs"), entrySize/16)
	_, _ = rand.Read(text[:entrySize/2])
	return text
}

// BenchmarkAppend is an entry of 2 KB on three servers that write before they acknowledge,
// once through a Log, once bare: compare and append of the same bytes.
func BenchmarkAppend(b *testing.B) {
	c, err := sharedCluster()
	if err != nil {
		b.Fatal(err)
	}
	b.Run("log", func(b *testing.B) {
		id := begun(b, c)
		l := opened(b, c.URL(), id)
		at, text := id.Start(), entry()
		for b.Loop() {
			at, err = l.Append(b.Context(), at, text)
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("bare", func(b *testing.B) {
		nc, err := nats.Connect(c.URL())
		if err != nil {
			b.Fatal(err)
		}
		defer nc.Close()
		js, err := jetstream.New(nc)
		if err != nil {
			b.Fatal(err)
		}
		_, err = js.CreateStream(b.Context(), jetstream.StreamConfig{Name: "bare", Subjects: []string{"bare"}, Replicas: 3})
		if err != nil {
			b.Fatal(err)
		}
		text := entry()
		for seq := uint64(0); b.Loop(); seq++ {
			_, err := js.Publish(b.Context(), "bare", text, jetstream.WithExpectLastSequence(seq))
			if err != nil {
				b.Fatal(err)
			}
		}
		if err := js.DeleteStream(b.Context(), "bare"); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkVisible is how long an entry of one machine takes until another has read it, from
// the return of its Append.
func BenchmarkVisible(b *testing.B) {
	c, err := sharedCluster()
	if err != nil {
		b.Fatal(err)
	}
	id := begun(b, c)
	from, to := opened(b, c.URL(), id), opened(b, c.URL(), id)
	at, text := id.Start(), entry()
	got := at
	var took []time.Duration
	for b.Loop() {
		at, err = from.Append(b.Context(), at, text)
		if err != nil {
			b.Fatal(err)
		}
		said := time.Now()
		for got != at {
			<-to.Changes()
			err := to.Read(b.Context(), got, func(p outbox.Position, _ []byte) error { got = p; return nil })
			if err != nil {
				b.Fatal(err)
			}
		}
		took = append(took, time.Since(said))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "median-µs")
}
