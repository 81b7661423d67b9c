//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// jobs are the long calls that an end breaks off, by what a test calls them.
func (p *process) jobs(vault string) map[string]func(context.Context, *client.Client, func(protocol.Progress)) error {
	call := func(method string, params any) func(context.Context, *client.Client, func(protocol.Progress)) error {
		return func(ctx context.Context, c *client.Client, told func(protocol.Progress)) error {
			return c.CallProgress(ctx, method, params, nil, told)
		}
	}
	return map[string]func(context.Context, *client.Client, func(protocol.Progress)) error{
		"words":   call("admin.reindex", protocol.Reindex{What: protocol.ReindexWords}),
		"vectors": call("admin.reindex", protocol.Reindex{What: protocol.ReindexVectors}),
		"import":  call("vault.import", protocol.VaultImport{Path: vault}),
		"backup":  call("admin.backup", protocol.Backup{Path: filepath.Join(p.home, "b.ctxdbackup"), Overwrite: true}),
		"check":   call("admin.check", nil),
	}
}

// wantBrokenOff checks the answer to a job that an end has broken off; it may have been
// done just before.
func wantBrokenOff(t *testing.T, err error) (broken bool) {
	t.Helper()
	var e *client.Error
	if err == nil {
		return false
	}
	if errors.As(err, &e) && e.Code == protocol.CodeConflict {
		return false // what the start makes is still being made
	}
	if e == nil || e.Code != protocol.CodeUnavailable || !e.Data.Retryable {
		t.Errorf("a job that is broken off is answered %v", err)
	}
	return true
}

// TestCampaignREL8_TheEndBreaksJobsOff ends the daemon in the middle of each kind of job.
// It is gone within five seconds, with a store that was closed well; the caller of the job
// is told, and the log says what was broken off.
func TestCampaignREL8_TheEndBreaksJobsOff(t *testing.T) {
	opts := launchOptions{home: shortHome(t)}
	p := serve(t, opts)
	fill(t, p.client(), figure(2000, 20000), 1500)
	vault := filepath.Join(p.home, "vault")
	if err := os.Mkdir(vault, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range figure(2000, 20000) {
		text := fmt.Sprintf("# Title %d\n\n%s", i, strings.Repeat("text [[n1]] ", 100))
		if err := os.WriteFile(filepath.Join(vault, fmt.Sprintf("v%d.md", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	broken := 0
	for name, call := range p.jobs(vault) {
		for _, after := range []time.Duration{0, 100 * time.Millisecond} {
			c := p.client()
			p.awaitVectors(c)
			began, answer := make(chan struct{}), make(chan error, 1)
			started := sync.OnceFunc(func() { close(began) })
			go func() { answer <- call(t.Context(), c, func(protocol.Progress) { started() }) }()
			select {
			case <-began:
			case err := <-answer:
				t.Fatalf("%s: %v", name, err)
			}
			<-time.After(after) // at any moment of its run
			told := time.Now()
			p.stop()
			took := time.Since(told)
			if wantBrokenOff(t, <-answer) {
				broken++
				if !strings.Contains(p.log(), "jobs are interrupted") {
					t.Errorf("%s: the log does not say that it was broken off", name)
				}
			}
			t.Logf("%s: gone %v after SIGTERM", name, took.Round(time.Millisecond))
			if took > inTime(5*time.Second) {
				t.Errorf("%s: the daemon is gone %v after SIGTERM only", name, took)
			}
			p = serve(t, opts)
			if h := p.await(); !h.Store.Recovered.Clean {
				t.Errorf("%s: the store was not closed well: %+v", name, h.Store.Recovered)
			}
		}
	}
	if broken == 0 {
		t.Error("no job was broken off, so the test shows nothing")
	}
}

// TestCampaignREL8_TheEndOnAFullDisk ends a daemon whose disk is full while vectors are to
// be made: nothing waits for the disk, neither the call nor the end.
func TestCampaignREL8_TheEndOnAFullDisk(t *testing.T) {
	home := shortHome(t)
	disk, data := smallDisk(t, home)
	p := serve(t, launchOptions{home: home, data: data})
	c := p.client()
	fill(t, c, 100, 1500)
	p.awaitVectors(c)
	ballast, err := os.Create(filepath.Join(disk, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	defer ballast.Close()
	size := int64(0)
	for block := make([]byte, 4096); ; size += int64(len(block)) {
		if _, err := ballast.Write(block); err != nil {
			break
		}
	}
	for _, room := range []int64{0, 16 << 10} { // for no file, and for one that holds nothing yet
		if err := ballast.Truncate(size - room); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		err := c.Call(t.Context(), "admin.reindex", protocol.Reindex{What: protocol.ReindexVectors}, nil)
		wantNoRoom(t, err)
		t.Logf("with room for %d bytes a reindex is answered after %v: %v", room, time.Since(began).Round(time.Millisecond), err)
		if err := c.Call(t.Context(), "admin.backup", protocol.Backup{Path: filepath.Join(disk, "b.ctxdbackup")}, nil); err == nil {
			t.Error("a backup fits, so the test shows nothing")
		}
	}
	told := time.Now()
	p.stop()
	took := time.Since(told)
	t.Logf("gone %v after SIGTERM", took.Round(time.Millisecond))
	if took > inTime(5*time.Second) {
		t.Errorf("the daemon is gone %v after SIGTERM only", took)
	}
}

// TestCampaignREL1_TheSecondSignal sends two signals while a client writes: the process ends
// at once, and what was acknowledged is there.
func TestCampaignREL1_TheSecondSignal(t *testing.T) {
	for round := range figure(3, 50) {
		opts := launchOptions{home: shortHome(t)}
		p := serve(t, opts)
		d := &diary{c: p.client(), kept: map[string]string{}}
		written := make(chan struct{})
		go func() {
			defer close(written)
			for d.put(t.Context()) == nil {
			}
		}()
		<-time.After(time.Duration(10*round) * time.Millisecond) // at any moment of its work
		for range 2 {
			if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Fatal(err)
			}
		}
		select {
		case <-p.exited:
		case <-time.After(patience):
			t.Fatal("the daemon does not end")
		}
		<-written
		p = serve(t, opts)
		d.c = p.client()
		d.check(t)
		p.kill()
	}
}

// TestCampaignREL8_StopSaysWhatWasBrokenOff waits with ctxd stop for a daemon that imports.
func TestCampaignREL8_StopSaysWhatWasBrokenOff(t *testing.T) {
	for total := 2000; ; total *= 4 {
		opts := launchOptions{home: shortHome(t)}
		p := serve(t, opts)
		c := p.client()
		vault := filepath.Join(p.home, "vault")
		if err := os.Mkdir(vault, 0o700); err != nil {
			t.Fatal(err)
		}
		for i := range total {
			if err := os.WriteFile(filepath.Join(vault, fmt.Sprintf("v%d.md", i)), []byte(strings.Repeat("text [[n1]] ", 100)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		began, answer := make(chan struct{}), make(chan error, 1)
		started := sync.OnceFunc(func() { close(began) })
		go func() {
			answer <- c.CallProgress(t.Context(), "vault.import", protocol.VaultImport{Path: vault}, nil, func(protocol.Progress) { started() })
		}()
		<-began
		stop := exec.Command("ctxd", "stop")
		stop.Env = p.cmd.Env
		out, err := stop.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if !wantBrokenOff(t, <-answer) && total < 100_000 {
			continue
		}
		if !slices.Contains(strings.Fields(string(out)), "vault.import") || !strings.Contains(string(out), "has stopped") {
			t.Errorf("ctxd stop says\n%s", out)
		}
		return
	}
}
