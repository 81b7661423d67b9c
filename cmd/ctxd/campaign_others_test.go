//go:build linux

package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// probe is a client that behaves well and measures what it waits for.
type probe struct {
	stop  context.CancelFunc
	done  sync.WaitGroup
	times latencies
}

// watch calls what a note app calls while somebody types, a few hundred times
// a second, until its times are asked for.
func (p *process) watch() *probe {
	p.t.Helper()
	ctx, cancel := context.WithCancel(p.t.Context())
	w := &probe{stop: cancel}
	c := p.client()
	calls := []func() error{
		func() error { return c.Call(ctx, "notes.complete", protocol.NoteComplete{Prefix: "not"}, nil) },
		func() error { return c.Call(ctx, "notes.get", protocol.NoteGet{Ref: "note-7"}, nil) },
		func() error { return c.Call(ctx, "context.assemble", map[string]any{"text": "about [[Note 3]]"}, nil) },
	}
	w.done.Go(func() {
		tick := time.NewTicker(3 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			began := time.Now()
			if err := calls[i%len(calls)](); err != nil && ctx.Err() == nil {
				p.t.Errorf("the well-behaved client: %v", err)
				return
			}
			w.times = append(w.times, time.Since(began))
		}
	})
	return w
}

// end returns the times.
func (w *probe) end() latencies {
	w.stop()
	w.done.Wait()
	if n := len(w.times); n > 0 {
		w.times = w.times[:n-1] // it was broken off
	}
	return w.times
}

// hangups waits until the daemon has closed every one of the connections, which
// need not be read from, and returns when it did.
func hangups(t *testing.T, list []*wire, since time.Time, limit time.Duration) (times latencies) {
	t.Helper()
	fds := make([]unix.PollFd, len(list))
	for i, w := range list {
		raw, err := w.nc.SyscallConn()
		if err == nil {
			err = raw.Control(func(fd uintptr) { fds[i].Fd = int32(fd) })
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for len(fds) > 0 && time.Since(since) < limit {
		if _, err := unix.Poll(fds, 100); err != nil && err != unix.EINTR {
			t.Fatal(err)
		}
		open := fds[:0]
		for _, fd := range fds {
			if fd.Revents&(unix.POLLHUP|unix.POLLERR) != 0 {
				times = append(times, time.Since(since))
			} else {
				open = append(open, fd)
			}
		}
		fds = open
	}
	if len(fds) > 0 {
		t.Errorf("%d of %d connections are open after %v", len(fds), len(list), limit)
	}
	return times
}

// TestCampaignREL7_NobodyStarvesOthers lets idle clients, clients that never
// read and clients that send a byte at a time at a daemon while another one
// works.
func TestCampaignREL7_NobodyStarvesOthers(t *testing.T) {
	stall, frame := rpc.DefaultLimits().WriteStall, figure(time.Second, 30*time.Second)
	p := serve(t, launchOptions{env: []string{"CTXD_LIMITS_FRAME_TIMEOUT=" + frame.String()}})
	c := p.client()
	fill(t, c, 500, 2000)
	ask[notes.Note](t, c, "notes.put", protocol.NotePut{NoteRecord: protocol.NoteRecord{ID: "large", Body: strings.Repeat("word ", 13000)}})
	warm := p.watch()
	<-time.After(300 * time.Millisecond) // it measures
	t.Logf("before: %v", warm.end())
	before := p.resetPeak()

	idle := figure(200, 1000)
	for range idle {
		p.greet()
	}
	others := p.watch()
	var mute, slow []*wire
	for i := range figure(10, 50) {
		mute = append(mute, p.greet())
		if i%2 == 0 {
			slow = append(slow, p.dial()) // by header
		} else {
			slow = append(slow, p.greet())
		}
	}
	began := time.Now()
	for _, w := range mute {
		_ = w.nc.SetWriteDeadline(began.Add(time.Second)) // it may be closed for others' sake
		for i := range 64 {
			if _, err := fmt.Fprintf(w.nc, `{"jsonrpc":"2.0","id":%d,"method":"notes.get","params":{"ref":"large"}}`+"\n", i); err != nil {
				break
			}
		}
	}
	asked := time.Now()
	var trickle sync.WaitGroup
	trickle.Go(func() { dribble(t.Context(), slow) })
	muteTimes := hangups(t, mute, asked, inTime(2*stall+time.Second))
	slowTimes := hangups(t, slow, began, inTime(2*frame+time.Second))
	trickle.Wait()
	times, grown := others.end(), p.status("VmHWM")-before
	t.Logf("%d idle, %d never reading, %d a byte a second: others waited %v", idle, len(mute), len(slow), times)
	t.Logf("cut: who never read after %v, who sent slowly after %v; memory grew by %s", muteTimes, slowTimes, mib(grown))
	if p99 := times.at(0.99); p99 > inTime(50*time.Millisecond) {
		t.Errorf("p99 of others is %v", p99)
	}
	if late := muteTimes.at(1); late > inTime(stall+time.Second) {
		t.Errorf("a client that never reads is cut after %v only", late)
	}
	if late := slowTimes.at(1); late > inTime(frame+time.Second) {
		t.Errorf("a client that sends a byte a second is cut after %v only", late)
	}
	if grown > 200<<20 {
		t.Errorf("memory grew by %s", mib(grown))
	}
}

// dribble sends every connection a byte of a message each second until all are
// closed. Every other one is framed by header.
func dribble(ctx context.Context, list []*wire) {
	text := `{"jsonrpc":"2.0","id":1,"method":"notes.search","params":{"query":"a long one"}}`
	whole := []string{header(text), text}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	closed := make(map[*wire]bool)
	for n := 0; n < len(text) && len(closed) < len(list); n++ {
		for i, w := range list {
			if _, err := w.nc.Write([]byte{whole[i%2][n]}); err != nil {
				closed[w] = true
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
