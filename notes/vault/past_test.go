package vault_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
)

// TestPRIV4_FilesThatGoLeaveTheirNames: a private file is renamed, edited, removed and
// forgotten, a public one is left out. What each was called stays private, and what was
// called nothing private does not become so.
func TestPRIV4_FilesThatGoLeaveTheirNames(t *testing.T) {
	w := openWith(t, []string{"/Secret/"}, vault.ImporterOptions{})
	dir := importFolder(t, map[string]string{
		"Secret/First Plan.md": "# First Title\n\nA text that is long enough to be known again.", "Secret/Kept.md": "kept",
		"Public.md": "---\nalias: Public Alias\n---\npublic", "Gone.md": "gone", "Renamed.md": "A public text that is long enough to be known again.",
	})
	sees := func(step string, meant map[string]bool) {
		t.Helper()
		for name, want := range meant {
			if got := notes.IsFormerTarget(w.ents.Past(), name); got != want {
				t.Errorf("%s: %q was private: %v", step, name, got)
			}
		}
	}
	do := func(err error) {
		t.Helper()
		must(t, err)
		w.imports(t, vault.ImportRequest{Path: dir})
	}
	do(nil)
	sees("at first", map[string]bool{"First Plan": false, "Kept": false, "Public": false})
	do(os.Rename(filepath.Join(dir, "Secret/First Plan.md"), filepath.Join(dir, "Secret/Second Plan.md")))
	sees("renamed", map[string]bool{"First Plan": true, "Secret/first plan.md": true, "First Title": false, "Second Plan": false})
	do(os.WriteFile(filepath.Join(dir, "Secret/Second Plan.md"), []byte("# Second Title\n\nA text that is long enough to be known again."), 0o600))
	sees("edited", map[string]bool{"First Title": true, "Second Title": false})
	do(os.Remove(filepath.Join(dir, "Secret/Second Plan.md")))
	sees("removed", map[string]bool{"Second Title": true, "Second Plan": true, "Kept": false})
	must(t, os.Rename(filepath.Join(dir, "Renamed.md"), filepath.Join(dir, "New.md")))
	do(os.Remove(filepath.Join(dir, "Gone.md")))
	sees("public files", map[string]bool{"Gone": false, "Renamed": false})
	ignore := filepath.Join(dir, ".ctxdignore")
	do(os.WriteFile(ignore, []byte("/Public.md\n"), 0o600))
	sees("left out", map[string]bool{"Public": true, "public alias": true, "New": false})
	do(os.Remove(ignore))
	sees("taken in again", map[string]bool{"Public": false, "Public Alias": false, "First Plan": true})
	_, err := w.im.Forget(t.Context(), "my-vault", nil)
	must(t, err)
	sees("forgotten", map[string]bool{"Kept": true, "Secret/Kept": true, "First Plan": true, "Public": false, "New": false})
}
