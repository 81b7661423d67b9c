//go:build linux

package main

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/ctxd/ctxd/rpc/jsonrpc"
)

// manyNotes returns a call of notes.putMany of nearly the size of a message, whose
// bodies are made of one unit. The ids are the same each time, so that the store does
// not grow by calling it again.
func manyNotes(id, size int, unit string) string {
	const notes = 4
	body := strings.Repeat(unit, size/notes/len(unit))
	var b strings.Builder
	fmt.Fprintf(&b, `{"jsonrpc":"2.0","id":%d,"method":"notes.putMany","params":{"notes":[`, id)
	for i := range notes {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"id":"large-%d","title":"Large","body":"%s"}`, i, body)
	}
	b.WriteString("]}}\n")
	return b.String()
}

// TestCampaignREL6_MemoryOfManyConnections has many connections send large writes at
// once, of texts that there is much to say about. The daemon holds five times what they
// have sent and 64 MiB, or what its limits of messages, calls and replies say, if that
// is less, above what it holds with the notes in it.
func TestCampaignREL6_MemoryOfManyConnections(t *testing.T) {
	connections, size := figure(4, 24), figure(1<<20, 15<<20)
	limits := jsonrpc.DefaultLimits()
	sending := make(chan struct{}, 8) // at a time, which stays below limits.inboundTotal
	for _, unit := range []string{"[[a]] ", "# a\\n"} {
		t.Run(fmt.Sprintf("%q", unit), func(t *testing.T) {
			p := serve(t, launchOptions{})
			call := manyNotes(1, size, unit)
			first := p.greet()
			first.send(call)
			if got := first.reply(); got.code() != 0 {
				t.Fatalf("answered %+v", got.Error)
			}
			full := p.resetPeak()
			var all sync.WaitGroup
			for range connections {
				w := p.greet()
				all.Go(func() {
					sending <- struct{}{}
					w.send(call)
					<-sending
					if got := w.reply(); got.code() != 0 {
						t.Errorf("answered %+v", got.Error)
					}
				})
			}
			all.Wait()
			peak := p.status("VmHWM")
			most := min(5*int64(connections*size)+64<<20, limits.MemoryTotal+limits.InboundTotal+limits.OutboundTotal)
			t.Logf("%d connections, %s each: %s before, %s at most, %s above", connections, mib(int64(size)), mib(full), mib(peak), mib(peak-full))
			if peak-full > most {
				t.Errorf("the daemon held %s more than before, at most %s are promised", mib(peak-full), mib(most))
			}
		})
	}
}
