//go:build unix

package vault_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes/vault"
)

// TestAFolderThatCanNotBeReadKeepsItsNotes needs a user whom the system can
// refuse something.
func TestAFolderThatCanNotBeReadKeepsItsNotes(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("the superuser can read everything")
	}
	dir := importFolder(t, map[string]string{"a.md": "x", "sub/b.md": "y"})
	w := open(t, kv.InMemory)
	w.imports(t, vault.ImportRequest{Path: dir})
	sub := filepath.Join(dir, "sub")
	if err := os.Chmod(sub, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(sub, 0o700) })
	if res := w.imports(t, vault.ImportRequest{Path: dir}); res.Removed != 0 || res.Notes != 2 {
		t.Errorf("%+v", res)
	}
}

func makeFIFO(t *testing.T, p string) {
	t.Helper()
	if err := syscall.Mkfifo(p, 0o600); err != nil {
		t.Fatal(err)
	}
}
