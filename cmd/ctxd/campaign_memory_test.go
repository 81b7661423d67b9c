//go:build linux

package main

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/jsonrpc"
	"github.com/ctxd/ctxd/rpc/protocol"
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

// readsOf returns calls of one method by a client that sends them all at once.
func readsOf(method, params string, calls int) string {
	var b strings.Builder
	for id := range calls {
		fmt.Fprintf(&b, `{"jsonrpc":"2.0","id":%d,"method":"%s","params":%s}`+"\n", id, method, params)
	}
	return b.String()
}

// TestCampaignREL6_MemoryOfReplies has many connections ask for large replies and never
// read them. What the daemon makes of them is bounded over all connections, on however
// many processors it runs: by what may wait for slow readers, by limits.replyTotal, and
// by what the garbage collector leaves meanwhile.
func TestCampaignREL6_MemoryOfReplies(t *testing.T) {
	connections, large, largest := figure(4, 24), figure(1<<20, 3900<<10), figure(2<<20, 15<<20)
	limits := jsonrpc.DefaultLimits()
	for _, c := range []struct {
		name   string
		unit   string // of the size of the body of a note; "": many notes with long heads
		size   int    // of the text as JSON
		method string
		params string
	}{
		{"notes.get", "lantern and meadow\\n", large, "notes.get", `{"ref":"large"}`},
		{"notes.get of control characters", `\u0001`, largest, "notes.get", `{"ref":"large"}`},
		{"context.assemble", "lantern and meadow\\n", large, "context.assemble", `{"mentionedNoteIds":["large"],"text":"lantern"}`},
		{"notes.list", "", large, "notes.list", `{"limit":500}`},
	} {
		for _, processors := range []int{2, 16} {
			t.Run(fmt.Sprintf("%s on %d", c.name, processors), func(t *testing.T) {
				p := serve(t, launchOptions{env: []string{fmt.Sprint("GOMAXPROCS=", processors)}})
				own := p.client()
				if c.unit == "" {
					fillHeads(t, own, c.size)
				} else {
					w := p.greet()
					body := strings.Repeat(c.unit, c.size/len(c.unit))
					w.send(`{"jsonrpc":"2.0","id":1,"method":"notes.put","params":{"id":"large","title":"Large","body":"` + body + `"}}` + "\n")
					if got := w.reply(); got.code() != 0 {
						t.Fatalf("answered %+v", got.Error)
					}
				}
				first := p.greet()
				first.send(readsOf(c.method, c.params, 1))
				got := first.reply()
				if got.code() != 0 {
					t.Fatalf("answered %+v", got.Error)
				}
				full := p.resetPeak()
				var all sync.WaitGroup
				for range connections {
					w := p.greet()
					all.Go(func() { w.send(readsOf(c.method, c.params, 8)) })
				}
				all.Wait()
				awaitReplies(t, own, connections*8)
				peak := p.status("VmHWM")
				t.Logf("%d connections, replies of %s: %s before, %s at most, %s above", connections,
					mib(int64(len(got.Result))), mib(full), mib(peak), mib(peak-full))
				if most := limits.OutboundTotal + limits.ReplyTotal + 128<<20; peak-full > most {
					t.Errorf("the daemon held %s more than before, at most %s are promised", mib(peak-full), mib(most))
				}
			})
		}
	}
}

// fillHeads writes notes whose heads together have about so many bytes.
func fillHeads(t *testing.T, c *client.Client, size int) {
	t.Helper()
	const notes = 500
	list := make([]protocol.NoteRecord, notes)
	for i := range list {
		list[i] = protocol.NoteRecord{Title: fmt.Sprint("Note ", i)}
		for j := range size / notes / 100 {
			list[i].Aliases = append(list[i].Aliases, fmt.Sprint(i, " ", j, strings.Repeat(" lantern", 11)))
		}
	}
	ask[protocol.NoteList](t, c, "notes.putMany", protocol.NotePutMany{Notes: list})
}

// awaitReplies returns when so many calls were made and are answered, or those who made
// them were closed.
func awaitReplies(t *testing.T, c *client.Client, calls int) {
	t.Helper()
	deadline := time.After(patience)
	for {
		got := ask[protocol.Connections](t, c, "admin.connections", nil).Totals
		if got.InFlight <= 1 && (got.Requests > uint64(calls) || got.Cut > 0) {
			return
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-deadline:
			t.Fatalf("the calls are not answered: %+v", got)
		}
	}
}
