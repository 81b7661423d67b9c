//go:build linux

package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/store"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// edition is a set of notes that all say the same.
func edition(n int) protocol.NotePutMany {
	var out protocol.NotePutMany
	for i := range 60 {
		out.Notes = append(out.Notes, protocol.NoteRecord{
			ID: fmt.Sprintf("e-%d", i), Body: fmt.Sprintf("Note %d\n\nedition %d\n\n%s", i, n, strings.Repeat("text ", 4000)),
		})
	}
	return out
}

// edition returns which one the daemon has, and fails when it has parts of two.
func (p *process) edition() (n int) {
	p.t.Helper()
	c := p.client()
	defer c.Close()
	for i := range 60 {
		var is int
		note := ask[protocol.NoteFull](p.t, c, "notes.get", protocol.NoteGet{Ref: fmt.Sprintf("e-%d", i)})
		_, rest, _ := strings.Cut(note.Body, "\nedition ")
		if _, err := fmt.Sscanf(rest, "%d\n", &is); err != nil {
			p.t.Fatalf("%.80q: %v", note.Body, err)
		}
		if i > 0 && is != n {
			p.t.Fatalf("there are parts of the editions %d and %d", n, is)
		}
		n = is
	}
	return n
}

// TestCampaignREL12_KilledWhileRestoring kills the daemon while it replaces its
// store with a backup: it has the one or the other as a whole, and the backup
// when it has said so.
func TestCampaignREL12_KilledWhileRestoring(t *testing.T) {
	kills := figure(6, 100)
	home := shortHome(t)
	opts := launchOptions{home: home, args: []string{"--log-level", "info"}, wrapper: openUmask}
	p := serve(t, opts)
	c := p.client()
	ask[protocol.NoteList](t, c, "notes.putMany", edition(0))
	backup := filepath.Join(home, "edition-0"+store.BackupSuffix)
	ask[kv.Manifest](t, c, "admin.backup", protocol.Backup{Path: backup})
	wantPrivate(t, "a backup", home)
	ask[protocol.NoteList](t, c, "notes.putMany", edition(-1))
	began := time.Now()
	ask[protocol.Restored](t, c, "admin.restore", protocol.Restore{Path: backup})
	whole := time.Since(began)
	wantPrivate(t, "a restore", home)
	if n := p.edition(); n != 0 {
		t.Fatalf("restored edition %d", n)
	}
	rng := rand.New(rand.NewPCG(12, 12))
	replaced, answered, unfinished := 0, 0, 0
	for round := 1; round <= kills; round++ {
		c := p.client()
		ask[protocol.NoteList](t, c, "notes.putMany", edition(round))
		reply := make(chan error, 1)
		go func() {
			reply <- c.Call(t.Context(), "admin.restore", protocol.Restore{Path: backup}, nil)
		}()
		<-time.After(time.Duration(rng.Int64N(int64(whole * 5 / 4)))) // anywhere in it
		p.kill()
		err := <-reply
		var said *client.Error
		if errors.As(err, &said) {
			t.Fatalf("round %d: %v", round, err)
		}
		wantPrivate(t, "a kill", home)
		if left, _ := filepath.Glob(filepath.Join(p.data, "*.tmp")); len(left) > 0 {
			unfinished++
		}
		p = serve(t, opts)
		wantPrivate(t, "the start after a kill", home)
		switch n := p.edition(); {
		case n == 0:
			replaced++
		case n != round || err == nil:
			t.Fatalf("round %d, answered %v: there is edition %d", round, err == nil, n)
		}
		if err == nil {
			answered++
		}
		if left, _ := filepath.Glob(filepath.Join(p.data, "*.tmp")); len(left) > 0 {
			t.Errorf("a start leaves %q", left)
		}
	}
	t.Logf("%d kills while a store was replaced, which takes %v: %d had the new one (%d had been told), %d the old one (%d with files half written), each as a whole",
		kills, whole.Round(time.Millisecond), replaced, answered, kills-replaced, unfinished)
}

// TestCampaignREL9_NoRoomForBackup has no room where a backup goes, and none for
// what a restore writes: nothing is left of either, and the store goes on.
func TestCampaignREL9_NoRoomForBackup(t *testing.T) {
	home := shortHome(t)
	disk, data := smallDisk(t, home)
	// Nobody embeds there: vectors would take of the room as they come.
	p := serve(t, launchOptions{home: home, data: data, args: []string{"--set", "embedder=http", "--set", "embedding.url=http://127.0.0.1:9/v1", "--set", "embedding.model=none"}})
	c := p.client()
	ask[protocol.NoteList](t, c, "notes.putMany", edition(0)) // 1.2 MB
	backup := filepath.Join(home, "whole"+store.BackupSuffix)
	m := ask[kv.Manifest](t, c, "admin.backup", protocol.Backup{Path: backup})
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	ask[protocol.NoteList](t, c, "notes.putMany", edition(1))

	onDisk := filepath.Join(disk, "backup"+store.BackupSuffix)
	full := c.Call(t.Context(), "admin.backup", protocol.Backup{Path: onDisk}, nil)
	wantUnavailable(t, full, false)
	if !strings.Contains(full.Error(), "the disk is full") {
		t.Errorf("a full disk is called %v", full)
	}
	files := fileNames(t, disk, data)
	if err := c.Call(t.Context(), "admin.restore", protocol.Restore{Path: backup}, nil); err == nil {
		t.Fatal("restored, so the test shows nothing")
	} else {
		wantTyped(t, err)
	}
	if after := fileNames(t, disk, data); strings.Join(files, " ") != strings.Join(after, " ") {
		t.Errorf("files %q became %q", files, after)
	}
	if n := p.edition(); n != 1 {
		t.Errorf("there is edition %d", n)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	// There is room for one of the two, not for both.
	if got := ask[protocol.Restored](t, c, "admin.restore", protocol.Restore{Path: backup, DryRun: true}); got.Checksum != m.Checksum || got.Restored {
		t.Errorf("%+v", got)
	}
	ask[kv.Manifest](t, c, "admin.backup", protocol.Backup{Path: onDisk})
	if err := os.Remove(onDisk); err != nil {
		t.Fatal(err)
	}
	ask[protocol.NoteList](t, c, "notes.putMany", protocol.NotePutMany{Notes: []protocol.NoteRecord{{ID: "more", Body: "room again"}}})
	p.stop()
}

// fileNames returns the names of the files in some folders.
func fileNames(t *testing.T, dirs ...string) (out []string) {
	t.Helper()
	for _, dir := range dirs {
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			out = append(out, f.Name())
		}
	}
	return out
}
