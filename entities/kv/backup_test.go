package kv_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

var backupPath = filepath.Join(dir, "my.ctxdbackup")

// backedUp returns a disk with a store of five transactions, of which a backup
// holds the first three, and the state in that.
func backedUp(t testing.TB) (*disk, map[string]string) {
	t.Helper()
	d := newDisk()
	s := open(t, d, kv.Options{SnapshotAfter: -1, Format: 1})
	for i := range 3 {
		put(t, s, fmt.Sprint(i), strings.Repeat("old", i))
	}
	state := dump(t, s)
	if _, err := s.Backup(ctx, backupPath, kv.BackupOptions{Program: "test"}); err != nil {
		t.Fatal(err)
	}
	put(t, s, "0", "new")
	put(t, s, "3", "new")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return d, state
}

func TestREL12_BackupAndRestore(t *testing.T) {
	d, state := backedUp(t)
	s := open(t, d, kv.Options{SnapshotAfter: -1, Format: 1})
	now := dump(t, s)
	var told []int64
	m, err := s.Restore(ctx, backupPath, kv.RestoreOptions{
		Keep: filepath.Join(dir, "replaced.ctxdbackup"), Progress: func(done, total int64) { told = append(told, done, total) },
	})
	if err != nil {
		t.Fatal(err)
	}
	_, file := d.file("my.ctxdbackup")
	sum := sha256.Sum256(file.data)
	if m.Records != 3 || m.Collections["note"] != 3 || m.Seq != 3 || m.Format != 1 || m.Program != "test" ||
		m.Bytes != int64(len(file.data)) || m.Checksum != hex.EncodeToString(sum[:]) {
		t.Errorf("manifest %+v", m)
	}
	if len(told) == 0 {
		t.Error("no progress")
	}
	if err := s.Update(ctx, func(*kv.Tx) error { return nil }); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("the store that was replaced takes writes: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	s = open(t, d, kv.Options{SnapshotAfter: -1, Format: 1})
	wantState(t, s, state)
	if r := s.Status().Recovered; !r.Clean || s.Seq() != 6 {
		t.Errorf("transaction %d, %+v", s.Seq(), r)
	}
	put(t, s, "later", "1")
	if _, err := s.Restore(ctx, filepath.Join(dir, "replaced.ctxdbackup"), kv.RestoreOptions{Checksum: "ab"}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("another checksum: %v", err)
	}
	if _, err := s.Restore(ctx, filepath.Join(dir, "replaced.ctxdbackup"), kv.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	s = open(t, d, kv.Options{Format: 1})
	wantState(t, s, now)
}

// A backup is the state of one moment, though nobody waits for it.
func TestREL12_BackupWhileWriting(t *testing.T) {
	d := newDisk()
	s := open(t, d, kv.Options{SnapshotAfter: 4000})
	history := follow(s)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for rng := rand.New(rand.NewPCG(1, 1)); ; {
			select {
			case <-quit:
				return
			default:
			}
			if err := s.Update(ctx, func(tx *kv.Tx) error { return randomWrites(tx, rng) }); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	var backups []*kv.Manifest
	for i := range 20 {
		m, err := s.Backup(ctx, filepath.Join(dir, fmt.Sprintf("%d.ctxdbackup", i)), kv.BackupOptions{})
		if err != nil {
			t.Fatal(err)
		}
		backups = append(backups, m)
	}
	close(quit)
	<-done
	for _, m := range backups {
		to := open(t, newDisk().with(m.Path, d), kv.Options{})
		if _, err := to.Restore(ctx, m.Path, kv.RestoreOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	last := backups[len(backups)-1]
	c := newDisk().with(last.Path, d)
	to := open(t, c, kv.Options{})
	if _, err := to.Restore(ctx, last.Path, kv.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	wantState(t, open(t, c, kv.Options{}), history.at[last.Seq])
}

// with adds the file of that name from another disk.
func (d *disk) with(name string, from *disk) *disk {
	d.names[name] = from.restart().names[name]
	return d
}

func TestREL12_EveryDamageIsRefused(t *testing.T) {
	d, _ := backedUp(t)
	s := open(t, d, kv.Options{Format: 1})
	before, files := dump(t, s), d.list()
	_, node := d.file("my.ctxdbackup")
	whole := slices.Clone(node.data)
	refused := func(what string, at int) {
		t.Helper()
		if _, err := kv.ReadBackup(ctx, backupPath, kv.ReadOptions{FS: d}); fault.KindOf(err) != fault.Invalid && fault.KindOf(err) != fault.Unavailable {
			t.Fatalf("%s %d: %v", what, at, err)
		}
	}
	for bit := range 8 * len(whole) {
		d.flip(backupPath, bit)
		refused("bit", bit)
		if bit%101 == 0 {
			if _, err := s.Restore(ctx, backupPath, kv.RestoreOptions{}); err == nil {
				t.Fatalf("bit %d: restored", bit)
			}
		}
		d.flip(backupPath, bit)
	}
	for size := range whole {
		d.damage(backupPath, func([]byte) []byte { return slices.Clone(whole[:size]) })
		refused("cut at", size)
	}
	d.damage(backupPath, func([]byte) []byte { return append(slices.Clone(whole), 0) })
	refused("longer by", 1)
	wantState(t, s, before)
	if diff := cmp.Diff(files, d.list()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// Whichever operation on the disk fails while a backup is restored, and wherever
// the power goes, the store is the one or the other as a whole.
func TestREL12_RestoreIsWholeOrNot(t *testing.T) {
	from, restored := backedUp(t)
	s := open(t, from.restart(), kv.Options{Format: 1})
	old := dump(t, s)
	rng := rand.New(rand.NewPCG(5, 5))
	for _, op := range []string{"write", "sync", "rename", "open", "remove", "syncdir", "read", "readdir"} {
		for n := 1; ; n++ {
			d, failed := from.restart(), false
			s := open(t, d, kv.Options{SnapshotAfter: -1, Format: 1})
			seen := 0
			var cuts []*disk
			d.setHook(func(o, _ string) error {
				cuts = append(cuts, d.powerCut(rng))
				if o != op {
					return nil
				}
				seen++
				if seen == n {
					failed = true
					return errDisk
				}
				return nil
			})
			_, err := s.Restore(ctx, backupPath, kv.RestoreOptions{Keep: filepath.Join(dir, "kept.ctxdbackup")})
			d.setHook(nil)
			if err != nil && s.Status().Mode == "read-write" {
				wantState(t, s, old)
				put(t, s, "goes", "on")
			}
			if err != nil && fault.KindOf(err) != fault.Unavailable {
				t.Fatalf("%s %d: %v", op, n, err)
			}
			_ = s.Close()
			want := restored
			if err != nil {
				want = old
			}
			after := dump(t, open(t, d, kv.Options{Format: 1}))
			delete(after, "goes")
			if unknown := s.Status().Mode == "read-only"; diff(after, want) && (!unknown || diff(after, restored)) {
				t.Fatalf("%s %d (%v): the state after is %v", op, n, err, after)
			}
			for i, c := range cuts {
				got := dump(t, open(t, c, kv.Options{Format: 1}))
				if diff(got, old) && diff(got, restored) {
					t.Fatalf("%s %d, cut %d: %v", op, n, i, got)
				}
			}
			if !failed {
				break
			}
		}
	}
}

func diff(a, b map[string]string) bool { return !cmp.Equal(a, b) }

func TestREL12_BackupProblems(t *testing.T) {
	d, _ := backedUp(t)
	s := open(t, d, kv.Options{Format: 1})
	_, err := s.Backup(ctx, backupPath, kv.BackupOptions{})
	wantKind(t, err, fault.Conflict)
	if _, err := s.Backup(ctx, backupPath, kv.BackupOptions{Overwrite: true}); err != nil {
		t.Error(err)
	}
	stopped, cancel := context.WithCancel(ctx)
	_, err = s.Backup(stopped, filepath.Join(dir, "cancelled"), kv.BackupOptions{Progress: func(int64, int64) { cancel() }})
	if !errors.Is(err, context.Canceled) && err != nil {
		t.Errorf("cancelled: %v", err)
	}
	d.setHook(func(op, _ string) error {
		if op == "write" {
			return errDisk
		}
		return nil
	})
	_, err = s.Backup(ctx, filepath.Join(dir, "full"), kv.BackupOptions{})
	wantKind(t, err, fault.Unavailable)
	d.setHook(nil)
	for _, name := range d.list() {
		if strings.HasSuffix(name, ".tmp") || name == "full" {
			t.Errorf("%s is left", name)
		}
	}
	_, err = kv.ReadBackup(ctx, backupPath, kv.ReadOptions{FS: d, Format: 0})
	if err != nil {
		t.Error(err)
	}
	s2 := open(t, newDisk(), kv.Options{Format: 2})
	put(t, s2, "a", "1")
	if _, err := s2.Backup(ctx, filepath.Join(dir, "two"), kv.BackupOptions{}); err != nil {
		t.Fatal(err)
	}

	// On the disk of the machine.
	tmp := t.TempDir()
	real, err := kv.Open(filepath.Join(tmp, "store"), kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer real.Close()
	put(t, real, "a", "1")
	_, err = real.Backup(ctx, filepath.Join(tmp, "none", "b"), kv.BackupOptions{})
	wantKind(t, err, fault.NotFound)
	path := filepath.Join(tmp, "b")
	_, err = real.Backup(ctx, path, kv.BackupOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("%v, %v", info, err)
	}
	_, err = kv.ReadBackup(ctx, tmp, kv.ReadOptions{})
	wantKind(t, err, fault.Invalid)
	_, err = kv.ReadBackup(ctx, filepath.Join(tmp, "none"), kv.ReadOptions{})
	wantKind(t, err, fault.NotFound)
}

func TestREL13_NewerBackup(t *testing.T) {
	d := newDisk()
	s := open(t, d, kv.Options{Format: 2})
	put(t, s, "a", "1")
	if _, err := s.Backup(ctx, backupPath, kv.BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	older := open(t, newDisk().with(backupPath, d), kv.Options{Format: 1})
	put(t, older, "b", "1")
	_, err := older.Restore(ctx, backupPath, kv.RestoreOptions{})
	e := wantKind(t, err, fault.Unavailable)
	if !strings.Contains(e.Msg, "format 2") || !strings.Contains(e.Msg, "up to 1") {
		t.Error(e.Msg)
	}
	wantState(t, older, map[string]string{"b": "1"})
}

// A store that takes no more writes can still be saved from its disk.
func TestREL12_BackupOfReadOnlyStore(t *testing.T) {
	d := newDisk()
	s := open(t, d, kv.Options{})
	put(t, s, "a", "1")
	d.setHook(func(op, name string) error {
		if op == "sync" && strings.HasPrefix(name, "journal-") {
			return errDisk
		}
		return nil
	})
	if err := s.Update(ctx, func(tx *kv.Tx) error { return notes.Put(tx, "b", &record{}) }); err == nil {
		t.Fatal("acknowledged")
	}
	m, err := s.Backup(ctx, backupPath, kv.BackupOptions{})
	if err != nil || m.Records != 1 {
		t.Errorf("%+v, %v", m, err)
	}
}
