package vault_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
)

// TestSRCH35_StatusCountsReferencesThatLeadNowhere apart from links in texts. For a reader who
// may not know of a note, a reference to it leads nowhere.
func TestSRCH35_StatusCountsReferencesThatLeadNowhere(t *testing.T) {
	dir := importFolder(t, map[string]string{
		".ctxd/types/person.yaml": "name: Person\nfields:\n  - {name: team, type: entity_ref}\n" +
			"  - {name: knows, type: entity_ref_list}\n  - {name: page, type: note_ref}\n",
		"Ann.md":  "---\ntype: Person\nteam: \"Core\"\nknows: [Bob, Cy, Secret]\npage: Plan\n---\n[[Nowhere]]\n",
		"Bob.md":  "---\ntype: Person\nteam: Ops\n---\n",
		"Plan.md": "text\n", "Secret.md": "---\ntype: Person\nprivate: true\nteam: Hidden\n---\n",
	})
	w := open(t, t.TempDir())
	counts := func(when string, all, public int) {
		t.Helper()
		if got := w.status(t).UnresolvedRefs; got != all {
			t.Errorf("%s: %d references lead nowhere, want %d", when, got, all)
		}
		s, err := w.im.StatusFor(t.Context(), "", func(n *notes.Note) bool { return !n.Private })
		must(t, err)
		if s.UnresolvedRefs != public {
			t.Errorf("%s: a remote reader is told of %d, want %d", when, s.UnresolvedRefs, public)
		}
	}
	w.imports(t, vault.ImportRequest{Path: dir})
	counts("imported", 4, 4) // Core, Cy, Ops and Hidden; Core, Cy, Ops and Secret
	write(t, dir, "Core.md", "---\ntype: Person\n---\n")
	must(t, os.Remove(filepath.Join(dir, "Plan.md")))
	w.imports(t, vault.ImportRequest{Path: dir})
	counts("one came, one went", 4, 4)
	must(t, os.Remove(filepath.Join(dir, "Ann.md")))
	w.imports(t, vault.ImportRequest{Path: dir})
	counts("without Ann", 2, 1)
}
