package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/kv/nats"
	"github.com/ctxd/ctxd/entities/kv/nats/natstest"
	"github.com/ctxd/ctxd/entities/kv/shared"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// connectedNotes is how many notes the store has whose calls are compared.
const connectedNotes = 10_000

// BenchmarkSYNC1_Connected is calls that read over the socket of a daemon whose store is shared
// over three servers and connected, and of one with the same records alone, in turn.
func BenchmarkSYNC1_Connected(b *testing.B) {
	servers, err := natstest.StartProcess()
	if err != nil {
		b.Fatal(err)
	}
	defer servers.End()
	d := standardStore(b, min(connectedNotes, standardSize(b)))
	program := buildProgram(b)
	var calls []*client.Client // connected, local
	for _, setting := range []string{"store.sync.url=" + servers.URL, ""} {
		copied := filepath.Join(b.TempDir(), "data")
		if err := os.CopyFS(copied, os.DirFS(d.dir)); err != nil {
			b.Fatal(err)
		}
		var settings []string
		if setting != "" {
			_, _, err := shared.Begin(b.Context(), shared.BeginOptions{Servers: nats.Servers{URL: servers.URL}, Dir: copied, Name: "first"})
			if err != nil {
				b.Fatal(err)
			}
			settings = append(settings, setting)
		}
		p := startProgram(b, program, copied, settings...)
		defer p.end(b)
		if setting != "" {
			p.connected(b)
		}
		p.settle(b)
		c, err := client.Dial(b.Context(), p.socket, client.Options{Name: "benchmark"})
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		calls = append(calls, c)
	}
	for _, method := range []struct {
		name   string
		params func(i int) any
	}{
		{"notes.search", func(i int) any { return map[string]any{"query": queryOfKinds(i)} }},
		{"notes.complete", func(i int) any { return map[string]any{"prefix": string(rune('a' + i%26))} }},
		{"context.assemble", func(i int) any { return map[string]any{"text": queryOfKinds(i)} }},
	} {
		b.Run(method.name, func(b *testing.B) {
			var took [2][]time.Duration
			for i := 0; b.Loop(); i++ {
				for k := range calls {
					start := time.Now()
					if err := calls[k].Call(b.Context(), method.name, method.params(i), nil); err != nil {
						b.Fatal(err)
					}
					took[k] = append(took[k], time.Since(start))
				}
			}
			for k, name := range []string{"connected", "local"} {
				slices.Sort(took[k])
				b.ReportMetric(float64(took[k][len(took[k])/2].Nanoseconds())/1e3, name+"-p50-µs")
			}
		})
	}
}

// connected waits until a daemon has told the servers all that it has.
func (p *measured) connected(b *testing.B) {
	b.Helper()
	for {
		var s protocol.SyncStatus
		p.call(b, "sync.status", protocol.Empty{}, &s)
		if s.Snapshot != nil {
			return
		}
		<-time.After(100 * time.Millisecond)
	}
}
