//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// fails makes system calls of the daemon fail from now on, those on one file or
// folder when path is not empty, until heal is called, which returns how many
// did. The test is left out where there is no strace or it may not trace.
func (p *process) fails(path, calls, errno string) (heal func() int) {
	p.t.Helper()
	trace := filepath.Join(p.home, "strace.log")
	args := []string{"-f", "-p", fmt.Sprint(p.cmd.Process.Pid), "-o", trace, "-e", "trace=" + calls, "-e", "inject=" + calls + ":error=" + errno}
	if path != "" {
		args = append(args, "-P", path)
	}
	cmd := exec.Command(straceProgram(p.t), args...)
	out, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	said := ""
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), " attached") {
		said += lines.Text() + "\n"
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for lines.Scan() { // or it would have to wait
		}
	}()
	over := false
	heal = func() int {
		p.t.Helper()
		if !over {
			over = true
			_ = cmd.Process.Signal(os.Interrupt) // it lets go of the daemon
			<-drained
			_ = cmd.Wait()
		}
		log, err := os.ReadFile(trace)
		if err != nil {
			p.t.Fatal(err)
		}
		return strings.Count(string(log), "(INJECTED)")
	}
	p.t.Cleanup(func() { heal() })
	if strings.Contains(said, "not permitted") || strings.Contains(said, "ptrace") {
		heal()
		p.t.Skipf("processes can't be traced here: %s", said)
	}
	return heal
}

func straceProgram(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("there is no strace, which makes system calls fail")
	}
	return path
}

// journal returns the segment that the daemon writes to.
func (p *process) journal() string {
	p.t.Helper()
	list, err := filepath.Glob(filepath.Join(p.data, "journal-*"))
	if err != nil || len(list) == 0 {
		p.t.Fatalf("no journal: %v", err)
	}
	return list[len(list)-1]
}

// diary is what was put and acknowledged.
type diary struct {
	c    *client.Client
	kept map[string]string
	n    int
}

// put writes two notes in one transaction.
func (d *diary) put(ctx context.Context) error {
	d.n++
	body := fmt.Sprintf("%d %s", d.n, strings.Repeat("text ", 1000))
	a, b := fmt.Sprintf("n-%d-a", d.n), fmt.Sprintf("n-%d-b", d.n)
	err := d.c.Call(ctx, "notes.putMany", protocol.NotePutMany{Notes: []protocol.NoteRecord{{ID: a, Body: body}, {ID: b, Body: body}}}, nil)
	if err == nil {
		d.kept[a], d.kept[b] = body, body
	}
	return err
}

// check reads all that was acknowledged, and that no other transaction is there
// by half.
func (d *diary) check(t *testing.T) {
	t.Helper()
	for n := 1; n <= d.n; n++ {
		var bodies []string
		for _, part := range []string{"a", "b"} {
			id, note := fmt.Sprintf("n-%d-%s", n, part), notes.Note{}
			err := d.c.Call(t.Context(), "notes.get", protocol.NoteGet{Ref: id}, &note)
			var said *client.Error
			if err != nil && (!errors.As(err, &said) || said.Code != protocol.CodeNotFound) {
				t.Fatal(err)
			}
			if want, ok := d.kept[id]; ok && note.Body != want {
				t.Errorf("%s was acknowledged and is not there", id)
			}
			bodies = append(bodies, note.Body)
		}
		if bodies[0] != bodies[1] {
			t.Errorf("half of transaction %d is there", n)
		}
	}
}

// wantUnavailable checks that an error is that of a store that can't be written.
func wantUnavailable(t *testing.T, err error, retryable bool) {
	t.Helper()
	var e *client.Error
	if !errors.As(err, &e) || e.Code != protocol.CodeUnavailable || e.Data.Retryable != retryable {
		t.Errorf("error %v, want code %d, retryable %v", err, protocol.CodeUnavailable, retryable)
	} else if e.Data.Hint == "" {
		t.Errorf("%v says nothing of what to do", err)
	}
}

// TestCampaignREL3_DiskErrors has the kernel refuse what the store asks of it
// while the real daemon runs: nothing that was not written is acknowledged.
func TestCampaignREL3_DiskErrors(t *testing.T) {
	const onJournal = true
	for _, tc := range []struct {
		name, calls, errno string
		path               bool // only calls on the journal
		readOnly           bool // from then on, and not only while the calls fail
	}{
		{"flush", "fsync,fdatasync", "EIO", onJournal, true},
		{"flush, no room", "fsync,fdatasync", "ENOSPC", onJournal, true},
		{"write", "pwrite64", "EIO", onJournal, false},
		{"write, no room", "pwrite64", "ENOSPC", onJournal, false},
		{"write, over quota", "pwrite64", "EDQUOT", onJournal, false},
		{"write and cut", "pwrite64,ftruncate", "EIO", onJournal, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			opts := launchOptions{home: shortHome(t)}
			p := serve(t, opts)
			d := &diary{c: p.client(), kept: map[string]string{}}
			for range 5 {
				if err := d.put(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			path := ""
			if tc.path {
				path = p.journal()
			}
			heal := p.fails(path, tc.calls, tc.errno)
			for range 3 {
				wantUnavailable(t, d.put(t.Context()), !tc.readOnly)
			}
			d.check(t)
			h := ask[protocol.Health](t, d.c, "admin.health", nil)
			if tc.readOnly && (h.Status != protocol.Failing || h.Store.Mode != "read-only" || h.Store.Reason == "" || len(h.Warnings) == 0) {
				t.Errorf("the daemon calls itself %+v", h)
			}
			if n := heal(); n == 0 {
				t.Fatal("no call failed, so the test shows nothing")
			}
			if err := d.put(t.Context()); tc.readOnly {
				wantUnavailable(t, err, false) // the disk is well, what was written is not known
			} else if err != nil {
				t.Errorf("the disk is well again: %v", err)
			}
			d.check(t)
			p.kill()
			p = prepare(t, opts)
			p.launch()
			if r := p.await().Store; r.Mode != "read-write" || r.Recovered.Lost != 0 || len(r.Recovered.Damaged) > 0 {
				t.Errorf("after the restart: %+v", r)
			}
			d.c = p.client()
			d.check(t)
			if err := d.put(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestCampaignREL3_SnapshotFails has the kernel refuse to rename files: the
// store goes on without a snapshot, says so, and makes one when it can.
func TestCampaignREL3_SnapshotFails(t *testing.T) {
	opts := launchOptions{home: shortHome(t), args: []string{"--set", "store.snapshotAfter=64KiB"}}
	p := serve(t, opts)
	d := &diary{c: p.client(), kept: map[string]string{}}
	health := func() protocol.Health { return ask[protocol.Health](t, d.c, "admin.health", nil) }
	heal := p.fails("", "renameat,renameat2", "EIO")
	p.settles("a snapshot that failed", func() bool {
		if err := d.put(t.Context()); err != nil {
			t.Fatal(err)
		}
		return health().Store.SnapshotError != ""
	})
	if h := health(); h.Status == protocol.Healthy || h.Store.Mode != "read-write" {
		t.Errorf("the daemon calls itself %+v", h)
	}
	if n := heal(); n == 0 {
		t.Fatal("no call failed, so the test shows nothing")
	}
	p.settles("a snapshot", func() bool {
		if err := d.put(t.Context()); err != nil {
			t.Fatal(err)
		}
		return health().Store.SnapshotError == "" && health().Store.SnapshotSeq > 0
	})
	p.kill()
	d.c = serve(t, opts).client()
	d.check(t)
}

// TestCampaignREL3_FolderIsNotFlushed has the kernel refuse to make names
// durable: where a new part of the journal can't be begun, and not be undone
// either, nothing is written any more.
func TestCampaignREL3_FolderIsNotFlushed(t *testing.T) {
	opts := launchOptions{home: shortHome(t), args: []string{"--set", "store.snapshotAfter=64KiB"}}
	p := serve(t, opts)
	d := &diary{c: p.client(), kept: map[string]string{}}
	heal := p.fails(p.data, "fsync,fdatasync", "EIO")
	p.settles("a refusal", func() bool {
		err := d.put(t.Context())
		if err != nil {
			wantUnavailable(t, err, false)
		}
		return err != nil
	})
	if n := heal(); n == 0 {
		t.Fatal("no call failed, so the test shows nothing")
	}
	d.check(t)
	p.kill()
	p = serve(t, opts)
	d.c = p.client()
	d.check(t)
	if err := d.put(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestCampaignREL3_StartFails has every flush of a start fail: the daemon does
// not start, says why, and the next start is clean.
func TestCampaignREL3_StartFails(t *testing.T) {
	opts := launchOptions{home: shortHome(t)}
	p := serve(t, opts)
	d := &diary{c: p.client(), kept: map[string]string{}}
	for range 5 {
		if err := d.put(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	p.fails("", "fsync", "EIO")() // whether it can be traced at all
	p.kill()
	failing := opts
	failing.wrapper = []string{straceProgram(t), "-D", "-f", "-o", filepath.Join(p.home, "strace-start.log"), "-e", "trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:error=EIO"}
	broken := prepare(t, failing)
	broken.launch()
	select {
	case <-broken.exited:
	case <-time.After(patience):
		t.Fatalf("it started:\n%s", broken.log())
	}
	if broken.cmd.ProcessState.ExitCode() <= 0 || !strings.Contains(broken.log(), "the store can't be written") {
		t.Errorf("%v\n%s", broken.cmd.ProcessState, broken.log())
	}
	p = serve(t, opts)
	d.c = p.client()
	d.check(t)
	if err := d.put(t.Context()); err != nil {
		t.Error(err)
	}
	p.stop()
}
