//go:build unix

package search

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// Pipes in the places of the files are not waited for: they would hold up the
// start, or the end, for good.
func TestSRCH4_PipesAreNoFiles(t *testing.T) {
	b := &bags{name: "b"}
	dir, index := t.TempDir(), t.TempDir()
	m := meaning{dir: index}
	for _, name := range []string{filepath.Join(index, fileName), m.fileOf(b.model()), m.fileOf(b.model()) + partSuffix} {
		must(t, syscall.Mkfifo(name, 0o600))
	}
	for i := range 2 {
		db, err := kv.Open(dir, kv.Options{Format: 2, SnapshotAfter: -1, Durability: kv.Relaxed})
		must(t, err)
		r := over(t, db, Options{Dir: index, Embedder: b})
		if i == 0 {
			r.put(t, notes.Draft{ID: "a", Title: "Honey", Body: "bees"})
		}
		r.settled(t)
		if got := r.near(t, "bees"); got != "a" {
			t.Errorf("found %q", got)
		}
		if n := len(b.taken()); n != 1-i {
			t.Errorf("start %d: %d texts embedded", i, n)
		}
		must(t, db.Close())
	}
}
