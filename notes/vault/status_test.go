package vault_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
)

// TestPRIV6_StatusWithoutPrivateNotes compares the status of two vaults for a reader
// who sees no private note: one has private notes and files that were left out beside
// what the other has. A link to a private note is one to nothing.
func TestPRIV6_StatusWithoutPrivateNotes(t *testing.T) {
	public := map[string]string{
		"a.md":                    "---\ntitle: Foo: Bar\n---\n[[b]] [[hidden]]",
		"b.md":                    "[to a](a.md)",
		"person.md":               "---\ntype: Person\nage: many\n---\n",
		".ctxd/types/Person.yaml": "fields:\n  - name: age\n    type: number\n",
	}
	both := map[string]string{
		"hidden.md":          "---\nprivate: true\n---\n[[a]] [[nowhere]] [x](b.md)",
		"hidden2.md":         "---\ntype: Person\nage: none\nprivate: true\n---\n",
		"left out/secret.md": "x",
		"bytes.md":           "\x00",
		".ctxdignore":        "/left out/\n",
	}
	for p, text := range public {
		both[p] = text
	}
	status := func(files map[string]string) *vault.Status {
		t.Helper()
		w := open(t, kv.InMemory)
		w.imports(t, vault.ImportRequest{Path: importFolder(t, files)})
		all, err := w.im.Status(ctx, "my-vault")
		must(t, err)
		if len(files) == len(both) && (all.Notes != 5 || len(all.Errors) != 5) {
			t.Fatalf("%+v", all)
		}
		sees := func(n *notes.Note) bool { return !n.Private }
		s, err := w.im.StatusFor(ctx, "my-vault", sees)
		must(t, err)
		list, err := w.im.ListFor(ctx, sees)
		must(t, err)
		if diff := cmp.Diff([]vault.Status{*s}, list); diff != "" {
			t.Error(diff)
		}
		s.Path, s.LastScanAt = "", time.Time{}
		return s
	}
	with, without := status(both), status(public)
	if diff := cmp.Diff(without, with); diff != "" || len(with.Errors) != 2 || with.Unresolved != 1 {
		t.Errorf("%+v\n%s", with, diff)
	}
}
