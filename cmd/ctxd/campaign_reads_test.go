//go:build linux

package main

import (
	"context"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// hostile starts processes that read hostilely, each over a number of connections.
func (p *process) hostile(processes, connections int) {
	p.t.Helper()
	for range processes {
		p.start(hostileReader, p.socket, strconv.Itoa(connections))
	}
}

// start starts a program that lives until the test ends.
func (p *process) start(program string, args ...string) {
	p.t.Helper()
	cmd := exec.Command(program, args...)
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
}

// fillHubs writes entities that all refer to all, over which a query takes long.
func fillHubs(t *testing.T, c *client.Client) {
	t.Helper()
	ask[entities.Type](t, c, "types.put", map[string]any{"name": "Hub", "fields": []map[string]any{{"name": "all", "type": record.EntityRefList}}})
	ids := make([]string, figure(200, hubs))
	for i := range ids {
		ids[i] = "hub-" + strconv.Itoa(i)
	}
	var list []map[string]any
	for i, id := range ids {
		list = append(list, map[string]any{"id": id, "type": "Hub", "name": "Hub " + strconv.Itoa(i), "fields": map[string]any{"all": ids}})
	}
	ask[protocol.EntityList](t, c, "entities.putMany", map[string]any{"entities": list})
}

// shortReads are calls that a client makes while others read for long. Each is made
// over a connection of its own.
var shortReads = []struct {
	method string
	params any
}{
	{"wql.query", map[string]any{"query": shortQuery}},
	{"admin.health", nil},
	{"notes.complete", protocol.NoteComplete{Prefix: "not"}},
	{"context.assemble", map[string]any{"text": "about [[Note 3]]"}},
	{"entities.put", map[string]any{"id": "written", "type": "Hub", "name": "Written"}},
}

// waits makes each of the calls again and again for a while, and returns how long
// each took.
func (p *process) waits(during time.Duration) map[string]latencies {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), during)
	defer cancel()
	all := map[string]latencies{}
	var mu sync.Mutex
	var callers sync.WaitGroup
	for _, call := range shortReads {
		c := p.client()
		callers.Go(func() {
			var times latencies
			for ctx.Err() == nil {
				began := time.Now()
				if err := c.Call(p.t.Context(), call.method, call.params, nil); err != nil {
					p.t.Errorf("%s: %v", call.method, err)
					return
				}
				times = append(times, time.Since(began))
				select {
				case <-time.After(10 * time.Millisecond):
				case <-ctx.Done():
				}
			}
			mu.Lock()
			defer mu.Unlock()
			all[call.method] = times
		})
	}
	callers.Wait()
	return all
}

// onOneProcessor binds the programs that launch starts to one processor.
func onOneProcessor(t *testing.T, launch func()) {
	t.Helper()
	runtime.LockOSThread() // programs get their processors from the thread that starts them
	defer runtime.UnlockOSThread()
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	first := 0
	for !all.IsSet(first) {
		first++
	}
	one.Set(first)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.SchedSetaffinity(0, &all); err != nil {
			t.Error(err)
		}
	}()
	launch()
}

// TestCampaignREL7_LongReads lets other processes read for long on every place that
// they get. What a client waits for that reads a little is bounded, also on one
// processor.
func TestCampaignREL7_LongReads(t *testing.T) {
	for _, c := range []struct {
		name                   string
		processes, connections int
		oneProcessor           bool
	}{
		{"one connection", 1, 1, false},
		{"many connections", 1, 20, false},
		{"many processes", 8, 1, false},
		{"one processor", 1, 4, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := prepare(t, launchOptions{})
			if c.oneProcessor {
				p.cmd.Env = append(p.cmd.Env, "GOMAXPROCS=1")
				onOneProcessor(t, p.launch)
			} else {
				p.launch()
			}
			p.await()
			cl := p.client()
			fill(t, cl, 500, 2000)
			fillHubs(t, cl)
			began := time.Now()
			ask[protocol.WQLResult](t, cl, "wql.query", map[string]any{"query": hubQuery})
			t.Logf("a long query alone takes %v", time.Since(began))
			for method, times := range p.waits(figure(100*time.Millisecond, time.Second)) {
				t.Logf("before: %s waits %v", method, times)
			}
			p.hostile(c.processes, c.connections)
			waits := p.waits(figure(time.Second, 20*time.Second))
			for _, call := range shortReads {
				times := waits[call.method]
				t.Logf("meanwhile: %s waits %v", call.method, times)
				if p99 := times.at(0.99); p99 > inTime(50*time.Millisecond) {
					t.Errorf("p99 of %s is %v", call.method, p99)
				}
			}
		})
	}
}

// TestCampaignREL7_ConnectionsKeptOpen lets two processes keep more connections open
// than the daemon takes. Another client is served all the same, over a connection that
// it has and over new ones, and ctxd stop ends the daemon.
func TestCampaignREL7_ConnectionsKeptOpen(t *testing.T) {
	for _, state := range []string{heldSilent, heldIdle, heldBusy} {
		t.Run(state, func(t *testing.T) {
			most := figure(200, 2048)
			p := serve(t, launchOptions{env: []string{"CTXD_LIMITS_CONNECTIONS=" + strconv.Itoa(most)}})
			c := p.client()
			fill(t, c, 100, 2000)
			fillHubs(t, c)
			for range 2 {
				p.start(holder, p.socket, state, strconv.Itoa(most/2+most/20))
			}
			p.settles("as many connections are open as may be", func() bool {
				return ask[protocol.Connections](t, c, "admin.connections", nil).Totals.Open >= most
			})
			var own, new latencies
			for range figure(20, 300) {
				began := time.Now()
				ask[protocol.Health](t, c, "admin.health", nil)
				own = append(own, time.Since(began))
				began = time.Now()
				late, err := client.Dial(t.Context(), p.socket, client.Options{Name: "late"})
				if err != nil {
					t.Fatalf("a new client: %v", err)
				}
				ask[protocol.Health](t, late, "admin.health", nil)
				new = append(new, time.Since(began))
				_ = late.Close()
			}
			t.Logf("%d connections that are %s: health over a connection waits %v, over a new one %v", most, state, own, new)
			if p99 := new.at(0.99); p99 > inTime(time.Second) {
				t.Errorf("p99 of a new client is %v", p99)
			}
			began := time.Now()
			stop := exec.Command("ctxd", "stop")
			stop.Env = p.cmd.Env
			out, err := stop.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "has stopped") {
				t.Fatalf("ctxd stop: %v\n%s", err, out)
			}
			t.Logf("ctxd stop takes %v", time.Since(began))
		})
	}
}
