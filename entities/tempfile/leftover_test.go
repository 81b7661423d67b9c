package tempfile_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/tempfile"
)

// TestCreate_RemovesWhatKilledProcessesLeft of the same document, and nothing else.
func TestCreate_RemovesWhatKilledProcessesLeft(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-time.Minute)
	for name, at := range map[string]time.Time{
		".a.md.123.tmp": old, ".a.md.9.tmp": time.Now(), ".a.md.x.tmp": old, ".a.md..tmp": old, ".b.md.123.tmp": old, ".a.md.json.123.tmp": old,
		"a.md.123.tmp": old, ".a.md.123": old,
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
		must(t, os.Chtimes(filepath.Join(dir, name), at, at))
	}
	must(t, os.Mkdir(filepath.Join(dir, ".a.md.7.tmp"), 0o700))
	must(t, os.Chtimes(filepath.Join(dir, ".a.md.7.tmp"), old, old))
	f, err := tempfile.Create(filepath.Join(dir, "a.md"))
	must(t, err)
	must(t, f.Close())
	list, err := os.ReadDir(dir)
	must(t, err)
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	want := []string{".a.md..tmp", ".a.md.123", ".a.md.7.tmp", ".a.md.9.tmp", ".a.md.json.123.tmp", ".a.md.x.tmp", ".b.md.123.tmp", "a.md.123.tmp", filepath.Base(f.Name())}
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("there are %q, want %q", names, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
