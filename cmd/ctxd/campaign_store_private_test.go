//go:build linux

package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/store"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// oldStore copies the golden store of format 1 into a home, with the modes that
// a careless copy leaves, and returns where.
func oldStore(t *testing.T, home string) (data string) {
	t.Helper()
	data = filepath.Join(home, "data")
	if err := os.CopyFS(data, os.DirFS(filepath.Join(goldenData, "format-1", "stopped", goldenStore))); err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadDir(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if err := os.Chmod(filepath.Join(data, f.Name()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return data
}

// openUmask runs the daemon so that whatever does not take care is open to all.
var openUmask = []string{"sh", "-c", `umask 0 && exec "$0" "$@"`}

// TestCampaignSEC1_StoreFiles looks at the modes of every file of a store after
// everything that makes it write one: an upgrade, snapshots, backups, restores,
// kills, damage.
func TestCampaignSEC1_StoreFiles(t *testing.T) {
	home := shortHome(t)
	data := oldStore(t, home)
	opts := launchOptions{home: home, data: data, wrapper: openUmask, args: []string{"--set", "store.snapshotAfter=64KiB"}}
	p := serve(t, opts)
	seen := map[string]bool{}
	look := func(after string) {
		t.Helper()
		wantPrivate(t, after, home)
		for _, name := range fileNames(t, data) {
			kind, _, _ := strings.Cut(name, "-")
			seen[kind] = true
		}
	}
	look("an upgrade")
	c := p.client()
	snapshot := func() uint64 { return ask[protocol.Health](t, c, "admin.health", nil).Store.SnapshotSeq }
	first := snapshot()
	p.settles("a snapshot", func() bool {
		fill(t, c, 10, 20_000)
		return snapshot() > first
	})
	look("a snapshot")
	backup := filepath.Join(home, "my"+store.BackupSuffix)
	ask[kv.Manifest](t, c, "admin.backup", protocol.Backup{Path: backup})
	look("a backup")
	if err := os.Chmod(backup, 0o644); err != nil { // as a copy from elsewhere may be
		t.Fatal(err)
	}
	ask[kv.Manifest](t, c, "admin.backup", protocol.Backup{Path: backup, Overwrite: true})
	look("a backup in the place of another")
	ask[protocol.Restored](t, c, "admin.restore", protocol.Restore{Path: backup})
	look("a restore")
	fill(t, c, 30, 2000)
	fill(t, c, 2, 100) // and what proves that those were stored
	p.kill()
	look("a kill")
	flipByte(t, p.journal())
	p = serve(t, opts)
	look("a start with a damaged file")
	if h := p.await(); len(h.Store.Recovered.Damaged) == 0 || h.Store.Recovered.Lost == 0 || h.Status == protocol.Healthy || len(h.Warnings) == 0 {
		t.Errorf("of a lost transaction the daemon says %+v", h)
	}
	p.stop()
	look("a stop")
	if err := os.Mkdir(filepath.Join(home, "elsewhere"), 0o700); err != nil {
		t.Fatal(err)
	}
	alone := exec.Command(openUmask[0], append(openUmask[1:], "ctxd", "backup", filepath.Join(home, "elsewhere")+"/")...)
	alone.Env = p.cmd.Env
	if out, err := alone.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	look("a backup without a daemon")
	var kinds []string
	for kind := range seen {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	for _, want := range []string{"before", "damaged", "journal", "replaced", "snapshot"} {
		if !seen[want] {
			t.Errorf("there was no %s file, so the test shows nothing of it; there were %q", want, kinds)
		}
	}
	t.Logf("files and folders of one user only, of the kinds %q", kinds)
}

// flipByte changes a byte in the middle of a file.
func flipByte(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		b[len(b)/2] ^= 1
		err = os.WriteFile(path, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// everything returns all notes of a daemon, as it tells them.
func (p *process) everything() (out []string) {
	p.t.Helper()
	c := p.client()
	defer c.Close()
	limit := 1000
	page := ask[protocol.NotePage](p.t, c, "notes.list", protocol.NoteFilter{Page: protocol.Page{Limit: limit}})
	for _, n := range page.Notes {
		out = append(out, string(ask[json.RawMessage](p.t, c, "notes.get", protocol.NoteGet{Ref: n.ID})))
	}
	return out
}

// TestCampaignREL13_KilledWhileUpgrading kills the daemon while it brings an old
// store into its own format. The next one has all of it.
func TestCampaignREL13_KilledWhileUpgrading(t *testing.T) {
	home := shortHome(t)
	oldStore(t, home)
	whole := serve(t, launchOptions{home: home})
	began := time.Now()
	want := whole.everything()
	whole.stop()
	if len(want) == 0 {
		t.Fatal("the old store has no notes")
	}
	rng := rand.New(rand.NewPCG(13, 13))
	kills, unfinished, upgraded := figure(5, 100), 0, 0
	for range kills {
		home := shortHome(t)
		data := oldStore(t, home)
		opts := launchOptions{home: home, wrapper: openUmask}
		p := prepare(t, opts)
		created, stop := newFiles(t, data, "*.tmp")
		p.launch()
		select { // it has begun
		case <-created:
		case <-p.exited:
			t.Fatal(p.log())
		}
		spin(time.Duration(rng.IntN(12_000)) * time.Microsecond)
		p.kill()
		stop()
		wantPrivate(t, "a kill", filepath.Join(home, "data", "log")) // old files get their modes in the start
		if left, _ := filepath.Glob(filepath.Join(data, "*.tmp")); len(left) > 0 {
			unfinished++
		}
		if left, _ := filepath.Glob(filepath.Join(data, "before-format-*"+store.BackupSuffix)); len(left) > 0 {
			upgraded++
		}
		p = serve(t, opts)
		if got := p.everything(); !slices.Equal(want, got) {
			t.Fatalf("%d notes, want %d, or other ones", len(got), len(want))
		}
		wantPrivate(t, "the next start", home)
		p.kill()
	}
	t.Logf("%d kills while a store was upgraded, %d with files half written, %d after the old state was kept: all notes there each time; %v",
		kills, unfinished, upgraded, time.Since(began).Round(time.Second))
}
