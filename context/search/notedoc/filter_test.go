package notedoc_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
)

// TestSRCH52_ACopyInAPrivatePlace is no copy for a reader who does not see private notes, beside a public note too.
func TestSRCH52_ACopyInAPrivatePlace(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(err)
	t.Cleanup(func() { db.Close() })
	ents, err := entities.Open(db, entities.Options{})
	must(err)
	ns, err := notes.Open(db, ents, notes.Options{PrivateFolders: []string{"*conflicted*"}})
	must(err)
	dir := t.TempDir()
	for _, name := range []string{"a.md", "a [conflicted].md", "b.md", "b.Conflict.md"} {
		must(os.WriteFile(filepath.Join(dir, name), []byte("text"), 0o600))
	}
	_, err = vault.NewImporter(db, ents, ns, vault.ImporterOptions{}).Import(t.Context(), vault.ImportRequest{Path: dir})
	must(err)
	src := notedoc.New(ns, notedoc.Options{Copies: vault.CopiesIn(db)})
	for _, public := range []bool{false, true} {
		reason, err := src.Reasons(t.Context(), "conflict", "", public)
		must(err)
		for name, found := range map[string]bool{"a.md": !public, "b.md": true} {
			n, err := ns.ByPath(name, nil)
			must(err)
			if why := reason(notedoc.Of(n)); (why != "") != found {
				t.Errorf("public %v, %s: %q", public, name, why)
			}
		}
	}
}
