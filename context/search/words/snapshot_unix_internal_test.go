//go:build unix

package words

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ctxd/ctxd/notes"
)

// Pipes in the place of the file are not waited for: they would hold up the start, or the
// end, for good.
func TestSRCH4_APipeIsNoFile(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "index"), 0o700))
	must(t, syscall.Mkfifo(filepath.Join(dir, "index", FileName), 0o600))
	r := reopen(t, dir, nil, Options{})
	r.put(t, notes.Draft{ID: "a", Body: "bees"})
	r = reopen(t, dir, r, Options{})
	if got := r.ids(t, "bees"); got != "a" || r.Stats().Kept != 1 {
		t.Errorf("found %q: %+v", got, r.Stats())
	}
}
