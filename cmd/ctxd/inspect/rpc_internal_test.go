package inspect

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func methodWith(name string, calls uint64, buckets ...protocol.Bucket) protocol.MethodStats {
	run := protocol.StageStats{Stage: "run", P50US: 64, P99US: 1024, MaxUS: 900, Buckets: buckets}
	return protocol.MethodStats{Method: name, Calls: calls, Stages: []protocol.StageStats{{Stage: "wait"}, run}}
}

func TestInspectRPC_View(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	v := &rpcView{server: "ctxd 1.0.0", at: at, Methods: []protocol.MethodStats{
		methodWith("notes.search", 120, protocol.Bucket{UpToUS: 64, Count: 100}, protocol.Bucket{UpToUS: 1024, Count: 20}),
		methodWith("notes.get", 1, protocol.Bucket{UpToUS: 16384, Count: 1}),
	}}
	v.Methods[1].Errors = 1
	v.Totals = protocol.ConnStats{Open: 3, Accepted: 9, Cut: 1, InFlight: 3, Queued: 1, Requests: 1234, Errors: 1, BytesIn: 2048, BytesOut: 1 << 20, OutboundBytes: 300}
	v.Connections.Connections = []protocol.Connection{
		{
			ID: 2, Client: protocol.PeerInfo{Name: "editor", Version: "2.1"}, PID: 77, OpenedAt: at.Add(-90 * time.Minute), Requests: 1200, Errors: 1, InFlight: 2, Queued: 1,
			BytesIn: 2000, BytesOut: 1 << 20, WaitingBytes: 300, Topics: []protocol.Topic{"notes.changed"}, Calls: []protocol.ConnCall{
				{Call: 8, Method: "notes.get", State: protocol.CallQueued, ForMS: 5}, {Call: 7, Method: "vault.import", State: protocol.CallRunning, ForMS: 1500},
			},
		},
		{ID: 3, OpenedAt: at.Add(-5 * time.Second)},
		{ID: 9, Client: protocol.PeerInfo{Name: "ctxd-cli"}, PID: os.Getpid(), OpenedAt: at, Requests: 3, InFlight: 1, Calls: []protocol.ConnCall{{Method: "admin.connections"}}},
	}
	v.before = &rpcView{at: at.Add(-2 * time.Second), Methods: []protocol.MethodStats{methodWith("notes.search", 20), methodWith("notes.get", 1)}}
	var out bytes.Buffer
	v.draw(&term.Screen{Writer: &out})
	want := `ctxd 1.0.0  3 connections open, 9 since the start, 0 refused, 1 cut
2 calls in progress, 1 waiting for their turn; 1,234 requests, 1 error; 2.0 KiB in, 1.0 MiB out, 300 B unread

Connections
  id  client            pid   open  calls errors active in out unread events
   2  editor 2.1         77  1h30m     1,200       1          2  2.0 KiB  1.0 MiB     300 B  notes.changed
   3  not initialized     ?     5s         0       0          0      0 B      0 B         0
   9  this view        SELF     0s         3       0          1      0 B      0 B         0

Calls in progress
  conn  call  method        client      state       for
     2     7  vault.import  editor 2.1  running  1.50 s
     2     8  notes.get     editor 2.1  queued   5.0 ms

Methods  since the start; run time without waiting
  method        calls   now  errors  p50 ≤   p99 ≤   longest  64 µs 16 ms
  notes.search    120  50/s       0       64 µs      0.9 ms   0.9 ms  █···▂····
  notes.get         1             1       64 µs      0.9 ms   0.9 ms  ········█
`
	got := strings.ReplaceAll(out.String(), pidText(os.Getpid()), "SELF")
	if diff := cmp.Diff(squeeze(want), squeeze(got)); diff != "" {
		t.Errorf("%s\n%s", diff, got)
	}
}

// On 80 columns the names stay whole, and what has no room is left out.
func TestInspectRPC_NarrowTerminal(t *testing.T) {
	at := time.Now()
	method := "entities.putMany.ofALot"
	v := &rpcView{at: at, Methods: []protocol.MethodStats{methodWith(method, 1234567, protocol.Bucket{UpToUS: 64, Count: 100})}}
	v.Methods = append(v.Methods, methodWith("notes.get", 1, protocol.Bucket{UpToUS: 1 << 20, Count: 1}))
	v.before = &rpcView{at: at.Add(-time.Second), Methods: []protocol.MethodStats{methodWith(method, 1234500)}}
	v.Connections.Connections = []protocol.Connection{{
		ID: 2, Client: protocol.PeerInfo{Name: "a-note-app-of-mine", Version: "2"}, PID: 123456, OpenedAt: at, Requests: 1200, Errors: 1,
		BytesIn: 20000, BytesOut: 1 << 28, Topics: []protocol.Topic{"notes.changed", "entities.changed"},
	}}
	for width, full := range map[int]bool{80: false, 120: true} {
		got := drawn(width, v.draw)
		for _, l := range strings.Split(got, "\n") {
			if term.Columns(l) > width {
				t.Errorf("%d columns on %d: %q", term.Columns(l), width, l)
			}
		}
		for _, name := range []string{method, "a-note-app-of-mine 2"} {
			if !strings.Contains(got, name) {
				t.Errorf("%s is cut at %d:\n%s", name, width, got)
			}
		}
		if strings.Contains(got, "█") != full || strings.Contains(got, "256 MiB") != full {
			t.Errorf("at %d columns:\n%s", width, got)
		}
	}
}

// squeeze makes runs of blanks one: the own process id has any width.
func squeeze(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.Join(strings.Fields(l), " ")
	}
	return strings.Join(lines, "\n")
}

func TestInspectRPC_ManyConnectionsShowTheBusiest(t *testing.T) {
	var list []protocol.Connection
	for id := range uint64(100) {
		list = append(list, protocol.Connection{ID: id, Requests: id})
	}
	list[3].InFlight, list[1].WaitingBytes = 1, 10
	var ids []uint64
	for _, c := range busiest(list, 4) {
		ids = append(ids, c.ID)
	}
	if diff := cmp.Diff([]uint64{1, 3, 98, 99}, ids); diff != "" {
		t.Error(diff)
	}
}

func TestLive_FrameFitsTheTerminal(t *testing.T) {
	got := term.LayFrame("one\ntwo\nthree\n", 4)
	want := "\x1b[Hone\x1b[K\r\ntwo\x1b[K\r\n\x1b[K\r\nmore than fits here; q quits\x1b[K\x1b[J"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := term.LayFrame("one\n", 4); got != "\x1b[Hone\x1b[K\r\n\x1b[K\r\nq quits\x1b[K\x1b[J" {
		t.Errorf("%q", got)
	}
	if n := strings.Count(term.LayFrame("one\ntwo\n", 1), "\r\n"); n > 2 {
		t.Errorf("%d lines on a terminal of one", n)
	}
}

func TestLive_KeysThatEndIt(t *testing.T) {
	for keys, want := range map[string]bool{"q": true, "xyzQ": true, "\x03": true, "\x1b": true, "abc": false, "\x1b[A": false} {
		quit := false
		term.QuitOnKey(strings.NewReader(keys), func() { quit = true })
		if quit != want {
			t.Errorf("%q quits: %v", keys, quit)
		}
	}
}
