//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// TestCampaignREL9_OutOfDescriptors dials far more often than the daemon has
// descriptors. Who was there before is served all along, also with what needs
// the disk, and when the others go, new clients are served at once.
func TestCampaignREL9_OutOfDescriptors(t *testing.T) {
	p := serve(t, launchOptions{wrapper: []string{"sh", "-c", `ulimit -n 64 && exec "$0" "$@"`}})
	c := p.client()
	fill(t, c, 50, 1000)
	p.awaitVectors(c) // whose file is opened for the first of them
	before := p.descriptors()
	var worst time.Duration
	for round := range figure(2, 5) {
		var many []*wire
		for range 500 {
			many = append(many, p.dial())
		}
		p.awaitLog("accept failed")
		if n := p.descriptors(); n < 60 {
			t.Fatalf("the daemon has %d descriptors open, so the test shows nothing", n)
		}
		began := time.Now()
		id := fmt.Sprintf("kept-%d", round)
		ask[notes.Note](t, c, "notes.put", protocol.NotePut{NoteRecord: protocol.NoteRecord{ID: id, Body: "text"}})
		ask[notes.Note](t, c, "notes.get", protocol.NoteGet{Ref: id})
		t.Logf("without descriptors a client writes and reads in %v", time.Since(began))
		if err := c.Call(t.Context(), "vault.import", protocol.VaultImport{Path: p.home}, nil); err != nil {
			wantTyped(t, err)
		}
		for _, w := range many {
			_ = w.nc.Close()
		}
		began = time.Now()
		p.await()
		worst = max(worst, time.Since(began))
	}
	t.Logf("500 dials with 64 descriptors: a new client is served %v after they go", worst)
	if worst > inTime(time.Second) {
		t.Errorf("a new client is served after %v only", worst)
	}
	p.settles("descriptors", func() bool { return p.descriptors() <= before })
}

// TestCampaignREL9_DescriptorsKept lets two processes keep all descriptors that the daemon
// has. Another client gets in all the same, and its connection stays.
func TestCampaignREL9_DescriptorsKept(t *testing.T) {
	for _, state := range []string{heldSilent, heldIdle, heldBusy} {
		t.Run(state, func(t *testing.T) {
			p := serve(t, launchOptions{wrapper: []string{"sh", "-c", `ulimit -n 64 && exec "$0" "$@"`}})
			c := p.client()
			fill(t, c, 50, 1000)
			p.awaitVectors(c) // whose file is opened for the first of them
			fillHubs(t, c)
			for range 2 {
				p.start(holder, p.socket, state, "60")
			}
			p.awaitLog("accept failed")
			var times latencies
			for range figure(5, 100) {
				began := time.Now()
				late, err := client.Dial(t.Context(), p.socket, client.Options{Name: "late"})
				if err != nil {
					t.Fatalf("a new client: %v\nthe log of the daemon:\n%s", err, p.log())
				}
				ask[protocol.Health](t, late, "admin.health", nil)
				times = append(times, time.Since(began))
				ask[protocol.Health](t, c, "admin.health", nil)
				_ = late.Close()
			}
			t.Logf("all descriptors are those of connections that are %s: a new client waits %v", state, times)
			if p99 := times.at(0.99); p99 > inTime(time.Second) {
				t.Errorf("p99 of a new client is %v", p99)
			}
		})
	}
}

// wantTyped checks that an error is one that a client can act on.
func wantTyped(t *testing.T, err error) {
	t.Helper()
	var e *client.Error
	if !errors.As(err, &e) || e.Code == protocol.CodeInternal {
		t.Errorf("%v", err)
	}
}

// awaitLog waits until a text stands in the log.
func (p *process) awaitLog(text string) {
	p.t.Helper()
	p.settles(fmt.Sprintf("%q in the log", text), func() bool { return strings.Contains(p.log(), text) })
}

// awaitVectors waits until every note has its vectors.
func (p *process) awaitVectors(c *client.Client) {
	p.t.Helper()
	p.settles("vectors", func() bool {
		m := ask[protocol.Stats](p.t, c, "admin.stats", nil).Index.Meanings
		return m.Vectors > 0 && m.Waiting == 0
	})
}

// settles waits until something outside of this process holds.
func (p *process) settles(what string, holds func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); !holds(); {
		if time.Now().After(deadline) {
			p.t.Fatalf("%s: it does not come to that", what)
		}
		<-time.After(2 * time.Millisecond) // another process can only be looked at again
	}
}

// TestCampaignREL9_OutOfDisk fills a small disk under the daemon: a typed error,
// reads go on, and so do writes as soon as there is room. What was acknowledged
// is there after a kill.
func TestCampaignREL9_OutOfDisk(t *testing.T) {
	home := shortHome(t)
	disk := filepath.Join(home, "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=4m,mode=0700"); err != nil {
		t.Skipf("a small disk can't be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	opts := launchOptions{home: home, data: filepath.Join(disk, "data")}
	p := serve(t, opts)
	c := p.client()
	kept := map[string]string{}
	put := func(ctx context.Context, i int) error {
		id, body := fmt.Sprintf("n-%d", i), fmt.Sprintf("%d %s", i, strings.Repeat("text ", 8000))
		err := c.Call(ctx, "notes.put", protocol.NotePut{NoteRecord: protocol.NoteRecord{ID: id, Body: body}}, nil)
		if err == nil {
			kept[id] = body
		}
		return err
	}
	refused := 0
	for i := range 400 {
		err := put(t.Context(), i)
		if err == nil {
			continue
		}
		wantNoRoom(t, err)
		ask[notes.Note](t, c, "notes.get", protocol.NoteGet{Ref: "n-0"})
		refused++
		if refused == 20 {
			break
		}
	}
	if refused == 0 {
		t.Fatal("the disk was not filled, so the test shows nothing")
	}
	h := ask[protocol.Health](t, c, "admin.health", nil)
	if h.Status == protocol.Healthy {
		t.Error("the daemon calls itself healthy")
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := put(t.Context(), 1000); err != nil {
		t.Errorf("with room again: %v", err)
	}
	t.Logf("%d notes kept, %d refused with %v; with room again a write takes %v", len(kept), refused, h.Warnings, time.Since(began))
	p.kill()
	c = serve(t, opts).client()
	for id, body := range kept {
		if n := ask[notes.Note](t, c, "notes.get", protocol.NoteGet{Ref: id}); n.Body != body {
			t.Errorf("%s has changed", id)
		}
	}
}

func wantNoRoom(t *testing.T, err error) {
	t.Helper()
	var e *client.Error
	if !errors.As(err, &e) || e.Code != protocol.CodeUnavailable || !e.Data.Retryable || !strings.Contains(e.Message, "the disk is full") {
		t.Errorf("with a full disk: %v", err)
	}
}
