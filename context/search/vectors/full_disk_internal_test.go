package vectors

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/embed/embedtest"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// fullDisk takes nothing while it is full.
type fullDisk struct {
	files, vectors atomic.Bool
	refused        atomic.Int64 // vectors
}

func (d *fullDisk) seam() seam {
	full := &fs.PathError{Op: "write", Path: "/a/path", Err: syscall.ENOSPC}
	return seam{
		open: func(name string, model embed.Model) (*FlatIndex, error) {
			if d.files.Load() {
				return nil, full
			}
			return OpenFlatIndex(name, model)
		},
		put: func(x *FlatIndex, it Item, current func() bool) (bool, error) {
			if d.vectors.Load() {
				d.refused.Add(1)
				return false, full
			}
			return x.Put(it, current)
		},
	}
}

// servingFile is where the vectors lie that serve, "" in memory.
func (r *rooms) servingFile() string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.serving.index.Name()
}

// wantFull checks that an error says what is the matter and what mends it.
func wantFull(t *testing.T, err error) {
	t.Helper()
	var e *fault.Error
	if !errors.As(err, &e) || e.Kind != fault.Unavailable || !e.Retryable || e.Hint == "" || !strings.Contains(e.Msg, "the disk is full") {
		t.Errorf("with a full disk: %#v", err)
	}
}

// A disk that is full is an answer to a reindex, not a wait. What was there serves, and
// nothing is left of what was begun.
func TestREL9_ReindexOnAFullDisk(t *testing.T) {
	vectors := func(d *fullDisk) *atomic.Bool { return &d.vectors }
	files := func(d *fullDisk) *atomic.Bool { return &d.files }
	bags := &embedtest.Bags{Name: "b"}
	for _, c := range []struct {
		name string
		full func(*fullDisk) *atomic.Bool
		by   embed.Embedder
	}{
		{"no room for vectors", vectors, bags},
		{"no room for a file", files, bags},
		{"no room for vectors of words", vectors, embedtest.Words{Bags: bags}},
		{"no room for their file", files, embedtest.Words{Bags: bags}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var disk fullDisk
			dir, full := t.TempDir(), c.full
			r := openAll(t, dir, Options{Dir: filepath.Join(dir, "index"), Embedder: c.by, seam: disk.seam()})
			r.put(t, notes.Draft{ID: "a", Title: "Honey", Body: "bees"}, notes.Draft{ID: "b", Title: "Wood", Body: "trees"})
			r.settled(t)
			full(&disk).Store(true)
			wantFull(t, r.Reindex(ctx, nil))
			until(t, "what was begun is given up", func() bool {
				parts, err := filepath.Glob(filepath.Join(dir, "index", "*"+PartSuffix))
				return err == nil && len(parts) == 0 && r.Stats().Building == nil
			})
			if got := r.near(t, "bees"); !strings.HasPrefix(got, "a") {
				t.Errorf("found %q", got)
			}
			full(&disk).Store(false)
			must(t, r.Reindex(ctx, nil))
			if r.servingFile() == "" {
				t.Error("the vectors are in memory only")
			}
		})
	}
}

// The end does not wait for the disk: of notes that need no embedder, the first that can't
// be kept has the others wait.
func TestREL9_TheEndDoesNotWaitForAFullDisk(t *testing.T) {
	var disk fullDisk
	dir := t.TempDir()
	db, err := kv.Open(dir, kv.Options{Format: 2, SnapshotAfter: -1, Durability: kv.Relaxed})
	must(t, err)
	r := over(t, db, Options{Dir: filepath.Join(dir, "index"), Embedder: &embedtest.Bags{Name: "b"}, seam: disk.seam()})
	two := "# One\n\n" + strings.Repeat("bees and honey ", 200) + "\n\n# Two\n\n" + strings.Repeat("trees and wood ", 200)
	one, _, _ := strings.Cut(two, "# Two")
	r.put(t, notes.Draft{ID: "a", Title: "A", Body: two})
	r.settled(t)
	disk.vectors.Store(true)
	r.put(t, notes.Draft{ID: "a", Title: "A", Body: one})
	var told atomic.Bool // of the progress after the disk refused
	r.OnProgress(func(string, int, int) { told.Store(disk.refused.Load() > 0) })
	until(t, "a round of work is over", told.Load)
	closed := make(chan error)
	go func() { closed <- db.Close() }()
	over := false
	until(t, "the store is closed", func() bool {
		select {
		case err := <-closed:
			must(t, err)
			over = true
		default:
		}
		return over
	})
}

// A reindex that is withdrawn stops: what serves stays.
func TestREL8_AWithdrawnReindexStops(t *testing.T) {
	dir := t.TempDir()
	r := openAll(t, dir, Options{Dir: filepath.Join(dir, "index"), Embedder: &embedtest.Bags{Name: "b"}})
	r.put(t, notes.Draft{ID: "a", Title: "Honey", Body: "bees"})
	r.settled(t)
	served := r.servingFile()
	withdrawn, cancel := context.WithCancel(ctx)
	cancel()
	if err := r.Reindex(withdrawn, nil); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	until(t, "what was begun is given up", func() bool {
		r.mu.RLock()
		defer r.mu.RUnlock()
		return r.building == nil && !r.anew && !r.unwanted
	})
	if _, err := os.Stat(served); err != nil || r.servingFile() != served {
		t.Errorf("vectors in %s serve, not in %s: %v", r.servingFile(), served, err)
	}
	must(t, r.Reindex(ctx, nil))
}
