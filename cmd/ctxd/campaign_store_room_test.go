//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// smallDisk mounts one of 4 MB in a home and returns where the data goes.
func smallDisk(t *testing.T, home string) (disk, data string) {
	t.Helper()
	disk = filepath.Join(home, "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=4m,nr_inodes=100,mode=0700"); err != nil {
		t.Skipf("a small disk can't be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	return disk, filepath.Join(disk, "data")
}

// rewrite puts 24 notes of about 10 kB, so that the store has a quarter of a MB
// however often it is called.
func (d *diary) rewrite(t *testing.T, round int) error {
	t.Helper()
	for i := range 24 {
		body := fmt.Sprintf("%d %d %s", round, i, strings.Repeat("text ", 2000))
		id := fmt.Sprintf("r-%d", i)
		if err := d.c.Call(t.Context(), "notes.put", protocol.NotePut{NoteRecord: protocol.NoteRecord{ID: id, Body: body}}, nil); err != nil {
			return err
		}
		d.kept[id] = body
	}
	return nil
}

// wantKept reads what was acknowledged.
func (d *diary) wantKept(t *testing.T) {
	t.Helper()
	for id, body := range d.kept {
		if n := ask[protocol.NoteFull](t, d.c, "notes.get", protocol.NoteGet{Ref: id}); n.Body != body {
			t.Errorf("%s was acknowledged and is not there", id)
		}
	}
}

// TestCampaignREL9_NoRoomForSnapshot fills the disk so far that the store fits,
// but not a snapshot of it. Writes go on as long as the journal has room, then
// they are refused; all the while reads work. With room again both resume, and a
// snapshot frees what the journal took.
func TestCampaignREL9_NoRoomForSnapshot(t *testing.T) {
	home := shortHome(t)
	disk, data := smallDisk(t, home)
	opts := launchOptions{home: home, data: data, args: []string{"--set", "store.snapshotAfter=64KiB"}}
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 3300<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	p := serve(t, opts)
	d := &diary{c: p.client(), kept: map[string]string{}}
	health := func() protocol.Health { return ask[protocol.Health](t, d.c, "admin.health", nil) }
	warned, refused := false, 0
	for round := 0; refused < 20 && round < 200; round++ {
		err := d.rewrite(t, round)
		warned = warned || health().Store.SnapshotError != ""
		if err != nil {
			wantNoRoom(t, err)
			refused++
		}
	}
	if refused == 0 || !warned {
		t.Fatalf("%d writes refused, failed snapshot %v: the test shows nothing; %+v", refused, warned, health())
	}
	d.wantKept(t)
	if h := health(); h.Status == protocol.Healthy || h.Store.Mode != "read-write" {
		t.Errorf("the daemon calls itself %+v", h)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	round := 1000
	p.settles("a snapshot", func() bool {
		if err := d.rewrite(t, round); err != nil {
			t.Fatalf("with room again: %v, %+v", err, health())
		}
		round++
		h := health()
		return h.Store.SnapshotSeq > 0 && h.Store.SnapshotError == ""
	})
	for range 40 { // far more than fits, but for snapshots
		if err := d.rewrite(t, round); err != nil {
			t.Fatalf("with room again: %v, %+v", err, health())
		}
		round++
	}
	p.kill()
	d.c = serve(t, opts).client()
	d.wantKept(t)
	t.Logf("%d writes refused for want of room, and none acknowledged that is not there", refused)
}

// TestCampaignREL9_NoRoomForFiles leaves room for what is written, but for no
// new file: no journal segment can be begun, and no snapshot. The store goes on
// with the files that it has.
func TestCampaignREL9_NoRoomForFiles(t *testing.T) {
	home := shortHome(t)
	disk, data := smallDisk(t, home)
	opts := launchOptions{home: home, data: data, args: []string{"--set", "store.snapshotAfter=64KiB"}}
	p := serve(t, opts)
	d := &diary{c: p.client(), kept: map[string]string{}}
	health := func() protocol.Health { return ask[protocol.Health](t, d.c, "admin.health", nil) }
	many := filepath.Join(disk, "many")
	if err := os.Mkdir(many, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		err := os.WriteFile(filepath.Join(many, fmt.Sprint(i)), nil, 0o600)
		if errors.Is(err, syscall.ENOSPC) {
			break
		}
		if err != nil || i > 1000 {
			t.Fatalf("file %d: %v", i, err)
		}
	}
	p.settles("a snapshot that failed", func() bool {
		if err := d.put(t.Context()); err != nil {
			t.Fatal(err)
		}
		return health().Store.SnapshotError != ""
	})
	if h := health(); h.Status == protocol.Healthy || h.Store.Mode != "read-write" {
		t.Errorf("the daemon calls itself %+v", h)
	}
	d.check(t)
	if err := os.RemoveAll(many); err != nil {
		t.Fatal(err)
	}
	p.settles("a snapshot", func() bool {
		if err := d.put(t.Context()); err != nil {
			t.Fatal(err)
		}
		h := health()
		return h.Store.SnapshotSeq > 0 && h.Store.SnapshotError == ""
	})
	p.kill()
	d.c = serve(t, opts).client()
	d.check(t)
}
