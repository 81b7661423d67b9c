package vault_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes/vault"
)

// Nothing is ever written into a vault: a folder that holds files of the daemon, or lies
// among them, is none.
func TestSEC5_FilesOfTheDaemonAreNoVault(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	top := t.TempDir()
	home, data := filepath.Join(top, "home"), filepath.Join(top, "home", "data")
	logs := filepath.Join(top, "logs")
	for _, dir := range []string{filepath.Join(data, "log"), filepath.Join(home, "notes"), logs, filepath.Join(top, "database")} {
		must(t, os.MkdirAll(dir, 0o700))
	}
	for link, to := range map[string]string{"to-home": home, "to-data": data, "to-log": filepath.Join(logs, "ctxd.log")} {
		must(t, os.Symlink(to, filepath.Join(top, link)))
	}
	must(t, os.WriteFile(filepath.Join(home, "notes", "a.md"), []byte("text"), 0o600))
	must(t, os.WriteFile(filepath.Join(top, "database", "a.md"), []byte("text"), 0o600))
	for _, c := range []struct {
		writes, vault string
		refused       bool
	}{
		{data, data, true},
		{data, home, true},
		{data, filepath.Join(data, "log"), true},
		{data, filepath.Join(top, "to-home"), true},
		{data, filepath.Join(top, "to-data"), true},
		{filepath.Join(top, "to-data"), home, true},
		{filepath.Join(top, "to-home", "not", "yet", "there"), home, true},
		{filepath.Join(logs, "ctxd.log"), logs, true},
		{filepath.Join(top, "to-log"), logs, true},
		{data, filepath.Join(home, "notes"), false},
		{data, filepath.Join(top, "database"), false},
		{filepath.Join(logs, "ctxd.log"), home, false},
	} {
		w := open(t, kv.InMemory)
		w.im = vault.NewImporter(w.db, w.ents, w.notes, vault.ImporterOptions{Writes: []string{"", c.writes}})
		for _, dry := range []bool{true, false} {
			_, err := w.im.Import(ctx, vault.ImportRequest{Path: c.vault, DryRun: dry})
			if refused := fault.KindOf(err) == fault.Invalid && strings.Contains(fault.Message(err), vault.NeverWritten); refused != c.refused || !refused && err != nil {
				t.Errorf("with files in %s, %s as a vault: %v", c.writes, c.vault, err)
			}
		}
	}
}

// Where a file lies is told of its path and of where that leads.
func TestSEC5_WhichVaultHoldsAFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	top := t.TempDir()
	root, out := filepath.Join(top, "vault"), filepath.Join(top, "out")
	must(t, os.MkdirAll(filepath.Join(root, "sub"), 0o700))
	must(t, os.Mkdir(out, 0o700))
	must(t, os.WriteFile(filepath.Join(root, "a.md"), []byte("text"), 0o600))
	must(t, os.Symlink(out, filepath.Join(root, "away")))
	must(t, os.Symlink(filepath.Join(root, "sub"), filepath.Join(out, "in")))
	w := open(t, kv.InMemory)
	_, err := w.im.Import(ctx, vault.ImportRequest{Path: root, Name: "mine"})
	must(t, err)
	for file, want := range map[string]string{
		filepath.Join(root, "b.ctxdbackup"):             "mine",
		filepath.Join(root, "sub", "b.ctxdbackup"):      "mine",
		filepath.Join(out, "in", "b.ctxdbackup"):        "mine",
		filepath.Join(out, "in", "new", "b.ctxdbackup"): "mine",
		filepath.Join(root, "away"):                     "mine", // a link that would be replaced
		filepath.Join(root, "away", "b.ctxdbackup"):     "",
		filepath.Join(out, "b.ctxdbackup"):              "",
		filepath.Join(top, "vault2", "b.ctxdbackup"):    "",
	} {
		got, err := vault.FindHoldingVault(ctx, w.db, file)
		must(t, err)
		if got != want {
			t.Errorf("%s is in vault %q, want %q", file, got, want)
		}
	}
}
