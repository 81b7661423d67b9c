package vault_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/days"
	"github.com/ctxd/ctxd/notes/vault"
)

// world is a vault that was read.
type world struct {
	notes *notes.Store
	ents  *entities.Store
	vault string
	files map[string]string // as they are on the disk, by path
	said  []vault.ImportSkip
	days  days.Settings
}

func (w *world) where() vault.RenameScope {
	return vault.RenameScope{Vault: w.vault, Source: func(p string) (string, error) { return w.files[p], nil }, Days: w.days}
}

// read imports the files of a folder into a new store.
func read(t testing.TB, dir string) *world {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	ents, err := entities.Open(db, entities.Options{})
	if err != nil {
		t.Fatal(err)
	}
	store, err := notes.Open(db, ents, notes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := vault.NewImporter(db, ents, store, vault.ImporterOptions{}).Import(context.Background(), vault.ImportRequest{Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{store, ents, res.Vault, make(map[string]string), res.Skipped, vault.DaysOf(dir)}
	err = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		w.files[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// folder writes files into a new folder.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "vault")
	for p, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// applied returns the files of a vault after a plan, and after moves that it did not ask for.
func applied(t testing.TB, files map[string]string, plan *vault.RenamePlan, moves ...vault.Move) map[string]string {
	t.Helper()
	out := make(map[string]string, len(files))
	for p, text := range files {
		out[p] = text
	}
	for _, f := range plan.Files {
		if files[f.Path] != f.Text {
			t.Fatalf("the edits of %s are of another text", f.Path)
		}
		out[f.Path] = f.Apply()
	}
	moved := make(map[string]string, len(files))
	for p, text := range out {
		to := p
		for _, m := range append(moves, plan.Moves...) {
			switch {
			case p == m.From:
				to = m.To
			case len(p) > len(m.From) && p[:len(m.From)+1] == m.From+"/":
				to = m.To + p[len(m.From):]
			}
		}
		moved[to] = text
	}
	if len(moved) != len(files) {
		t.Fatalf("%d files became %d", len(files), len(moved))
	}
	return moved
}

func asFault(err error, about **fault.Error) bool { return errors.As(err, about) }
