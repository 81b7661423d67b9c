//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// gauge is what a daemon must not leak.
type gauge struct {
	goroutines, descriptors int
	resident                int64
}

func (g gauge) String() string {
	return fmt.Sprintf("%d goroutines, %d descriptors, %s", g.goroutines, g.descriptors, mib(g.resident))
}

// gauge looks at the daemon when nobody but the caller is connected.
func (p *process) gauge() (g gauge) {
	p.t.Helper()
	c := p.client()
	defer c.Close()
	p.settles("the others are gone", func() bool {
		return ask[protocol.Stats](p.t, c, "admin.stats", nil).Connections.Open == 1
	})
	// Goroutines end a moment after their connections, and memory is what is
	// left when garbage is gone: the lowest of several looks.
	for range 20 {
		s := ask[protocol.Stats](p.t, c, "admin.stats", nil)
		now := gauge{s.Goroutines, p.descriptors(), p.status("VmRSS")}
		if g.goroutines == 0 {
			g = now
		}
		g = gauge{min(g.goroutines, now.goroutines), min(g.descriptors, now.descriptors), min(g.resident, now.resident)}
		<-time.After(10 * time.Millisecond) // another process can only be looked at again
	}
	return g
}

// TestCampaignREL10_Soak has clients of every manner come and go for a while:
// goroutines, descriptors and memory are back where they were.
func TestCampaignREL10_Soak(t *testing.T) {
	requests, connects := figure(2000, 100_000), figure(200, 5000)
	lasts := figure(time.Second, 10*time.Minute)
	p := serve(t, launchOptions{args: []string{"--log-level", "info"}})
	c := p.client()
	fill(t, c, 500, 2000)
	p.awaitVectors(c) // whose file is open from then on
	_ = c.Close()
	const workers = 8
	each := connects / workers
	p.soak(workers, max(each/10, 5), requests/connects, 0) // until caches are full
	before := p.gauge()
	began := time.Now()
	sent := p.soak(workers, each, requests/connects, lasts/time.Duration(each))
	took := time.Since(began)
	// Up to sixteen goroutines wait for the next call, and what has ended is gone a
	// while later on a machine that is slow.
	var after gauge
	p.settles("goroutines and descriptors are back", func() bool {
		after = p.gauge()
		return after.goroutines <= before.goroutines+16 && after.descriptors <= before.descriptors || time.Since(began) > took+patience/2
	})
	drift := 100 * float64(after.resident-before.resident) / float64(before.resident)
	t.Logf("%d requests on %d connections in %v\nbefore: %v\nafter:  %v, drift %.1f%%", sent, workers*each, took.Round(time.Second), before, after, drift)
	if sent < int64(requests)*9/10 {
		t.Errorf("%d requests were sent, want %d", sent, requests)
	}
	if after.goroutines > before.goroutines+16 {
		t.Errorf("%d goroutines became %d", before.goroutines, after.goroutines)
	}
	if after.descriptors > before.descriptors {
		t.Errorf("%d descriptors became %d", before.descriptors, after.descriptors)
	}
	if limit := figure(100.0, 5.0); drift > limit { // a short run ends before memory is steady
		t.Errorf("memory has drifted by %.1f%%", drift)
	}
}

// soak runs workers that connect that often, one connection a period, each for
// about n requests, and returns how many requests were sent.
func (p *process) soak(workers, connects, n int, period time.Duration) int64 {
	var sent atomic.Int64
	var done sync.WaitGroup
	for k := range workers {
		done.Go(func() {
			tick := time.NewTicker(max(period, time.Microsecond))
			defer tick.Stop()
			for i := range connects {
				manners[(i+k)%len(manners)](p, n, &sent)
				<-tick.C
			}
		})
	}
	done.Wait()
	return sent.Load()
}

// manners are how clients behave on a connection.
var manners = []func(p *process, n int, sent *atomic.Int64){wellBehaved, inBatches, hangingUp, malformed, withdrawing, halfClosing}

// wellBehaved reads and writes.
func wellBehaved(p *process, n int, sent *atomic.Int64) {
	c := p.client()
	defer c.Close()
	ctx := p.t.Context()
	for i := range n {
		sent.Add(1)
		id := "note-" + strconv.Itoa(rand.IntN(200))
		var err error
		switch i % 5 {
		case 0:
			err = c.Call(ctx, "notes.put", protocol.NotePut{NoteRecord: protocol.NoteRecord{ID: id, Title: id, Body: strings.Repeat("new text ", 200)}}, nil)
		case 1:
			err = c.Call(ctx, "notes.get", protocol.NoteGet{Ref: id}, nil)
		case 2:
			err = c.Call(ctx, "notes.search", protocol.NoteSearch{Query: "meadow text"}, nil)
		case 3:
			err = c.Call(ctx, "context.assemble", map[string]any{"text": "about [[" + id + "]]"}, nil)
		case 4:
			err = c.Call(ctx, "notes.complete", protocol.NoteComplete{Prefix: "no"}, nil)
		}
		if err != nil {
			p.t.Errorf("soak: %v", err)
			return
		}
	}
}

// inBatches sends all in one message.
func inBatches(p *process, n int, sent *atomic.Int64) {
	w := p.greet()
	defer w.nc.Close()
	one := `{"jsonrpc":"2.0","id":1,"method":"notes.get","params":{"ref":"note-3"}}`
	w.send("[" + strings.Repeat(one+",", n-1) + one + "]\n")
	sent.Add(int64(n))
	var replies []answer
	_ = w.nc.SetReadDeadline(time.Now().Add(patience))
	line, err := w.in.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &replies)
	}
	if err != nil || len(replies) != n {
		p.t.Errorf("a batch: %d replies, %v", len(replies), err)
	}
}

// hangingUp goes away with requests under way and half a message sent.
func hangingUp(p *process, n int, sent *atomic.Int64) {
	w := p.greet()
	for i := range n {
		w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"notes.search","params":{"query":"meadow"}}`+"\n", i))
	}
	sent.Add(int64(n))
	w.send(`{"jsonrpc":"2.0","id":1,"meth`)
	_ = w.nc.Close()
}

// malformed sends what is wrong in every way, the last of which ends the
// connection.
func malformed(p *process, n int, sent *atomic.Int64) {
	w := p.greet()
	defer w.nc.Close()
	for i := range n {
		w.send([]string{"{\n", "[]\n", `{"id":3}` + "\n", `{"jsonrpc":"2.0","id":1,"method":"no.such"}` + "\n"}[i%4])
		w.reply()
	}
	sent.Add(int64(n))
	w.send(strings.Repeat("[", 500) + "\n")
	w.reply()
}

// withdrawing takes every call back.
func withdrawing(p *process, n int, sent *atomic.Int64) {
	c := p.client()
	defer c.Close()
	for range n {
		sent.Add(1)
		ctx, cancel := context.WithTimeout(p.t.Context(), time.Duration(rand.IntN(2000))*time.Microsecond)
		_ = c.Call(ctx, "notes.search", protocol.NoteSearch{Query: longQuery}, nil) // it may be done before
		cancel()
	}
}

// halfClosing sends all and closes its half, then reads.
func halfClosing(p *process, n int, sent *atomic.Int64) {
	w := p.greet()
	defer w.nc.Close()
	for i := range n {
		w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"notes.complete","params":{"prefix":"no"}}`+"\n", i))
	}
	sent.Add(int64(n))
	if err := w.nc.CloseWrite(); err != nil {
		p.t.Error(err)
	}
	for range n {
		w.reply()
	}
}
