package gather_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

var boundaryMark = regexp.MustCompile(`b="([^"]+)"`)

// boundary assembles a prompt of the note n with a gatherer that knows no secret
// but that of its store, and returns the boundary of the note.
func (w *world) boundary(t *testing.T) string {
	t.Helper()
	g := gather.Open(w.db, w.rooms, gather.Options{})
	var found string
	for range 2 {
		res, err := w.assembled(ctx, g, gather.Params{MentionedNoteIDs: []string{"n"}, Format: gather.XML})
		if err != nil {
			t.Fatal(err)
		}
		m := boundaryMark.FindStringSubmatch(res.System)
		if m == nil || found != "" && m[1] != found {
			t.Fatalf("the boundary was %q and is %v", found, m)
		}
		found = m[1]
	}
	return found
}

// TestCTX31_TheSecretStaysWithTheStore: a restart and a restored backup give the
// same bytes, another store gives others.
func TestCTX31_TheSecretStaysWithTheStore(t *testing.T) {
	dir := t.TempDir()
	w := worldIn(t, filepath.Join(dir, "a"), kv.Options{})
	w.mustNote(t, notes.Draft{ID: "n", Title: "T", Body: "text"})
	first, seq := w.boundary(t), w.db.Seq()
	if again := w.boundary(t); again != first || w.db.Seq() != seq {
		t.Errorf("another gatherer gives %s for %s, after %d transactions", again, first, w.db.Seq()-seq)
	}
	backup := filepath.Join(dir, "b.ctxdbackup")
	if _, err := w.db.Backup(ctx, backup, kv.BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := w.db.Close(); err != nil {
		t.Fatal(err)
	}
	w = worldIn(t, filepath.Join(dir, "a"), kv.Options{})
	if again := w.boundary(t); again != first {
		t.Errorf("after a restart %s, before %s", again, first)
	}
	other := worldIn(t, filepath.Join(dir, "c"), kv.Options{})
	other.mustNote(t, notes.Draft{ID: "n", Title: "T", Body: "text"})
	if foreign := other.boundary(t); foreign == first {
		t.Error("two stores have the same secret")
	}
	if _, err := other.db.Restore(ctx, backup, kv.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	other = worldIn(t, filepath.Join(dir, "c"), kv.Options{})
	if again := other.boundary(t); again != first {
		t.Errorf("after a restore %s, before %s", again, first)
	}
}

// TestCTX31_ManyAskAtOnce for the first secret of a store.
func TestCTX31_ManyAskAtOnce(t *testing.T) {
	w := newWorld(t)
	w.mustNote(t, notes.Draft{ID: "n", Title: "T", Body: "text"})
	seen := make([]string, 8)
	var all sync.WaitGroup
	for i := range seen {
		all.Go(func() { seen[i] = w.boundary(t) })
	}
	all.Wait()
	for _, b := range seen {
		if b != seen[0] {
			t.Fatalf("boundaries %v", seen)
		}
	}
}

// fullDisk is a file system that takes no more writes once it is full.
type fullDisk struct {
	kv.FS
	full *bool
}

func (d fullDisk) OpenFile(name string, flag int, perm fs.FileMode) (kv.File, error) {
	f, err := d.FS.OpenFile(name, flag, perm)
	return fullFile{f, d.full}, err
}

type fullFile struct {
	kv.File
	full *bool
}

func (f fullFile) WriteAt(b []byte, at int64) (int, error) {
	if *f.full {
		return 0, syscall.ENOSPC
	}
	return f.File.WriteAt(b, at)
}

// TestCTX31_AStoreThatTakesNoWritesAnswers with a secret that it keeps until it
// can be written.
func TestCTX31_AStoreThatTakesNoWritesAnswers(t *testing.T) {
	full := false
	dir := t.TempDir()
	w := worldIn(t, dir, kv.Options{FS: fullDisk{kv.OS(), &full}})
	w.mustNote(t, notes.Draft{ID: "n", Title: "T", Body: "text"})
	g := gather.Open(w.db, w.rooms, gather.Options{})
	p := gather.Params{MentionedNoteIDs: []string{"n"}, Format: gather.XML}
	seq := w.db.Seq()
	var seen []string
	for i := range 4 {
		full = i < 2
		res, err := w.assembled(ctx, g, p)
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, boundaryMark.FindStringSubmatch(res.System)[1])
		if i == 1 && w.db.Seq() != seq {
			t.Fatal("the store took a write: the test proves nothing")
		}
	}
	if again := w.boundary(t); seen[0] != seen[1] || seen[0] != seen[2] || seen[0] != seen[3] || again != seen[0] || w.db.Seq() != seq+1 {
		t.Errorf("boundaries %v and then %s", seen, again)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	g = gather.Open(w.db, w.rooms, gather.Options{})
	if _, err := w.assembled(done, g, p); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call: %v", err)
	}
}
