//go:build linux

package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// floods are what many hostile clients can do at once, each for a while.
var floods = []struct {
	name string
	run  func(p *process)
}{
	{"huge results", func(p *process) { p.neverRead(50, 64, "huge") }},
	{"reconnecting", func(p *process) {
		p.storm(50, func() { p.neverRead(1, 200, "large") })
	}},
	{"searches", func(p *process) {
		release := p.press(20, 16)
		<-time.After(3 * time.Second) // it is a load, for a while
		release()
	}},
	{"blank lines", func(p *process) { p.noise("\n") }},
	{"bad requests", func(p *process) { p.noise("{}\n") }},
	{"notifications", func(p *process) { p.noise(`{"jsonrpc":"2.0","method":"x"}` + "\n") }},
	{"withdrawals", func(p *process) { p.noise(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}` + "\n") }},
	{"too many", func(p *process) {
		for range 2500 {
			p.dial()
		}
	}},
}

// neverRead asks for a note time and again on each of n connections, which are
// closed when the daemon takes no more.
func (p *process) neverRead(n, each int, id string) {
	for range n {
		w := p.greet()
		_ = w.nc.SetWriteDeadline(time.Now().Add(time.Second))
		for i := range each {
			if _, err := fmt.Fprintf(w.nc, `{"jsonrpc":"2.0","id":%d,"method":"notes.get","params":{"ref":%q}}`+"\n", i, id); err != nil {
				break
			}
		}
		p.t.Cleanup(func() { _ = w.nc.Close() })
	}
}

// storm has n clients do the same again and again for a while.
func (p *process) storm(n int, do func()) {
	ctx, cancel := context.WithTimeout(p.t.Context(), 3*time.Second)
	defer cancel()
	var done sync.WaitGroup
	for range n {
		done.Go(func() {
			for ctx.Err() == nil {
				do()
			}
		})
	}
	done.Wait()
}

// noise has a few clients write the same without end.
func (p *process) noise(line string) {
	text := []byte(strings.Repeat(line, 1000))
	p.storm(4, func() {
		w := p.greet()
		_ = w.nc.SetWriteDeadline(time.Now().Add(time.Second))
		for {
			if _, err := w.nc.Write(text); err != nil {
				_ = w.nc.Close()
				return
			}
		}
	})
}

// TestCampaignREL7_Floods lets many clients at a daemon that send as much as
// they can. It lives, its memory is bounded, and another client is served all
// along. How long that one waits is only told: it runs in the process of the
// hostile ones.
func TestCampaignREL7_Floods(t *testing.T) {
	if figure(true, false) {
		t.Skip("only in the full campaign")
	}
	for _, f := range floods {
		t.Run(strings.ReplaceAll(f.name, " ", "_"), func(t *testing.T) {
			p := serve(t, launchOptions{})
			c := p.client()
			fill(t, c, 500, 2000)
			for id, lines := range map[string]int{"large": 16 << 10, "huge": 1<<20 - 10} {
				ask[notes.Note](t, c, "notes.put", protocol.NotePut{NoteRecord: protocol.NoteRecord{ID: id, Body: strings.Repeat("wor\n", lines)}})
			}
			before := p.resetPeak()
			others := p.watch()
			f.run(p)
			times, grown := others.end(), p.status("VmHWM")-before
			t.Logf("others waited %v; memory grew by %s", times, mib(grown))
			if grown > 200<<20 {
				t.Errorf("memory grew by %s", mib(grown))
			}
			ask[protocol.Health](t, c, "admin.health", nil)
		})
	}
}
