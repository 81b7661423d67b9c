//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// longQuery makes a search read every text for many words.
const longQuery = "meadow harbour lantern copper violet summit orchard pebble saffron willow anchor compass one two three four five six seven eight"

// press keeps as many searches under way on each of n connections as a
// connection may have running, until the returned function is called.
func (p *process) press(n, each int) (release func()) {
	ctx, cancel := context.WithCancel(p.t.Context())
	var done sync.WaitGroup
	for range n {
		c := p.client()
		for range each {
			done.Go(func() {
				for ctx.Err() == nil {
					if err := c.Call(ctx, "notes.search", protocol.NoteSearch{Query: longQuery}, nil); err != nil && ctx.Err() == nil {
						p.t.Errorf("the load: %v", err)
						return
					}
				}
			})
		}
	}
	return func() {
		cancel()
		done.Wait()
	}
}

// withdraw sends a request and withdraws it after a while. It returns how long
// the answer took from then on and what it was.
func (w *wire) withdraw(method, params string, after time.Duration) (time.Duration, answer) {
	w.t.Helper()
	w.send(`{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":` + params + "}\n")
	<-time.After(after) // it is withdrawn at any moment of its run, without an event to wait for
	began := time.Now()
	w.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":7}}` + "\n")
	a := w.reply()
	return time.Since(began), a
}

// TestCampaignREL8_CancelledWithinTime withdraws reads, searches and assembly
// at any moment of their run, with the daemon at rest and under load.
func TestCampaignREL8_CancelledWithinTime(t *testing.T) {
	p := serve(t, launchOptions{})
	fill(t, p.client(), figure(1000, 5000), 2000)
	search, _ := json.Marshal(map[string]any{"query": longQuery})
	assemble, _ := json.Marshal(map[string]any{"text": "[[Note 1]] " + longQuery, "searchNotes": 8})
	calls := []struct{ method, params string }{
		{"notes.search", string(search)},
		{"context.assemble", string(assemble)},
		{"graph.stats", "{}"},
		{"notes.list", `{"limit":1000}`},
	}
	for _, load := range []int{0, figure(4, 10)} {
		release := p.press(load, 16)
		w := p.greet()
		var times latencies
		withdrawn := 0
		// A machine that is slow may answer every one of them before its withdrawal is
		// sent: then they go on.
		for i, n := 0, figure(40, 400); i < n || withdrawn == 0 && i < 50*n; i++ {
			call := calls[i%len(calls)]
			took, a := w.withdraw(call.method, call.params, time.Duration(rand.IntN(3000))*time.Microsecond)
			switch a.code() {
			case protocol.CodeCancelled:
				withdrawn++
			case 0: // it was done before
			default:
				t.Errorf("%s: %v", call.method, a.Error)
			}
			times = append(times, took)
		}
		release()
		t.Logf("%d connections with 16 searches each: %d of %d withdrawn, answered after %v", load, withdrawn, len(times), times)
		if late := times.at(1); late > inTime(100*time.Millisecond) {
			t.Errorf("with a load of %d, a withdrawn call is answered after %v", load, late)
		}
		if withdrawn == 0 {
			t.Error("nothing was withdrawn, so the test shows nothing")
		}
	}
}

// TestCampaignREL8_Mutations withdraws a mutation that has started, which
// completes, and one behind it, which never happens.
func TestCampaignREL8_Mutations(t *testing.T) {
	p := serve(t, launchOptions{})
	for attempt := 1; ; attempt++ {
		took, withdrawn := p.withdrawMutations(300 * min(attempt, 3))
		if !withdrawn && attempt < 10 {
			continue // the daemon was done before it was told
		}
		if took > inTime(100*time.Millisecond) {
			t.Errorf("the queued mutation is answered after %v", took)
		}
		c := p.client()
		ask[notes.Note](t, c, "notes.get", protocol.NoteGet{Ref: "m-99"})
		if err := c.Call(t.Context(), "notes.get", protocol.NoteGet{Ref: "never"}, nil); err == nil || !withdrawn {
			t.Errorf("the withdrawn mutation has happened: %v", withdrawn)
		}
		return
	}
}

// withdrawMutations sends a mutation that takes a while, and another, and withdraws
// both when the first has begun. It returns how long the answer of the second took,
// and whether it was withdrawn: when it was not, it is undone.
func (p *process) withdrawMutations(size int) (took time.Duration, withdrawn bool) {
	t, w := p.t, p.greet()
	t.Helper()
	defer w.nc.Close()
	var many []protocol.NoteRecord
	for i := range 100 {
		many = append(many, protocol.NoteRecord{ID: fmt.Sprintf("m-%d", i), Body: strings.Repeat("some text [[x]] ", 10*size)})
	}
	started, _ := json.Marshal(many)
	w.send(`{"jsonrpc":"2.0","id":"started","method":"notes.putMany","params":{"progressToken":1,"notes":` + string(started) + "}}\n" +
		`{"jsonrpc":"2.0","id":"queued","method":"notes.put","params":{"id":"never","body":"x"}}` + "\n")
	w.reply() // $/progress: it has begun
	began := time.Now()
	w.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"queued"}}` + "\n" +
		`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"started"}}` + "\n")
	var ids []string
	for len(ids) < 2 {
		switch a := w.reply(); string(a.ID) {
		case `"queued"`:
			took, withdrawn = time.Since(began), a.code() == protocol.CodeCancelled
			ids = append(ids, "queued")
		case `"started"`:
			if a.Error != nil {
				t.Errorf("the mutation that had started: %v", a.Error)
			}
			ids = append(ids, "started")
		}
	}
	t.Logf("answered are %v, the queued one after %v", ids, took)
	if withdrawn && ids[0] != "queued" {
		t.Error("a mutation was withdrawn, and answered only behind the one before it")
	}
	if !withdrawn {
		ask[map[string]any](t, p.client(), "notes.delete", map[string]string{"id": "never"})
	}
	return took, withdrawn
}

// TestCampaignREL8_JobStopsBetweenTransactions withdraws an import under way:
// what it had written stays, in whole notes, and nothing more comes. A daemon
// on an idle machine may be done before the withdrawal reaches it, which shows
// nothing; then the vault grows.
func TestCampaignREL8_JobStopsBetweenTransactions(t *testing.T) {
	p := serve(t, launchOptions{})
	c := p.client()
	total := figure(2000, 10000)
	for {
		vault := filepath.Join(p.home, fmt.Sprintf("vault-%d", total))
		before := ask[protocol.Stats](t, c, "admin.stats", nil).Notes
		took, err := withdrawnImport(t, c, vault, total)
		count := ask[protocol.Stats](t, c, "admin.stats", nil).Notes - before
		t.Logf("stopped after %v with %d of %d notes: %v", took, count, total, err)
		if (err == nil || count == total) && total < 60000 {
			total *= 4
			continue
		}
		if count == 0 || count >= total {
			t.Errorf("%d of %d notes were written", count, total)
		}
		if took > inTime(time.Second) {
			t.Errorf("the import stopped after %v", took)
		}
		if again := ask[protocol.Stats](t, c, "admin.stats", nil).Notes - before; again != count {
			t.Errorf("the import goes on: %d notes, then %d", count, again)
		}
		ask[map[string]any](t, c, "vault.import", protocol.VaultImport{Path: vault})
		if n := ask[protocol.Stats](t, c, "admin.stats", nil).Notes - before; n != total {
			t.Errorf("a second import makes it %d of %d notes", n, total)
		}
		return
	}
}

// withdrawnImport imports a vault of total notes that it makes, withdraws the
// call as soon as notes are written, and says how long the call took then. There is
// no error when the import was done before.
func withdrawnImport(t *testing.T, c *client.Client, vault string, total int) (time.Duration, error) {
	t.Helper()
	if err := os.Mkdir(vault, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range total {
		name := fmt.Sprintf("%s-n%d.md", filepath.Base(vault), i)
		if err := os.WriteFile(filepath.Join(vault, name), []byte("# Title\n\n"+strings.Repeat("text [[n1]] ", 100)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var withdrawn time.Time
	err := c.CallProgress(ctx, "vault.import", protocol.VaultImport{Path: vault}, nil, func(r protocol.Progress) {
		if r.Message == "write" && r.Done > 0 && withdrawn.IsZero() {
			withdrawn = time.Now()
			cancel()
		}
	})
	if err != nil && withdrawn.IsZero() {
		t.Fatalf("the import was not withdrawn: %v", err)
	}
	return time.Since(withdrawn), err
}
