package client_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestConformance_LSP10_VaultAboveTheNote opens a note deep in a vault of Obsidian that the daemon does not have, in an editor that
// was started in another vault: the vault is imported from its mark on, and a link to a note beside the mark is completed.
func TestConformance_LSP10_VaultAboveTheNote(t *testing.T) {
	for _, b := range bareEditors() {
		if b.always == "" {
			continue
		}
		t.Run(b.name, func(t *testing.T) {
			e := newBareEditor(t, b)
			other := filepath.Join(e.home, "Other")
			for name, content := range map[string]string{
				".obsidian/app.json": "{}\n", "Deep/Down/Leaf.md": "# Leaf\n\nA leaf falls.\n", "Trunk Of The Tree.md": "# Trunk Of The Tree\n",
			} {
				at := filepath.Join(other, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
					t.Fatal(err)
				}
				writeFile(t, at, content)
			}
			s := e.edit(t, b, b.always, filepath.Join(other, "Deep", "Down", "Leaf.md"))
			s.waits("A leaf falls.")
			s.until("the vault is not imported", func() bool { return strings.Contains(e.run(t, "vault", "list"), other) })
			s.keys(b.types("[[Trunk", "[[Trunk Of The Tree]]")...)
			if vaults := e.run(t, "vault", "list"); strings.Contains(vaults, "Down") || strings.Contains(s.screen(), "Import the notes") {
				t.Errorf("the vaults are\n%s\nthe screen\n%s", vaults, s.screen())
			}
			s.record(b.name + " vault")
		})
	}
}

// TestConformance_LSP11_LinksAndNames completes what a link can be beside the title of a note, and gives a note names that no file
// can have: the editor shows why not, and nothing is renamed.
func TestConformance_LSP11_LinksAndNames(t *testing.T) {
	today := time.Now().Format(time.DateOnly)
	for _, b := range bareEditors() {
		if b.names == nil {
			continue
		}
		t.Run(b.name, func(t *testing.T) {
			e := newBareEditor(t, b)
			s := e.edit(t, b, "", "Journal/2025-03-04.md")
			for _, c := range [][2]string{
				{"[radio](../Vendors/Licht", "[radio](../Vendors/Lichtwerk%20Radio.md)"},
				{"[radio](Lichtw", "[radio](../Vendors/Lichtwerk%20Radio.md)"},
				{"[[#2025", "[[#2025-03-04]]"},
				{"[[##Why a sec", "[[Project Alpha Kickoff#Why a second scale]]"},
				{"[[today", "[[" + today + "]]"},
			} {
				if !slices.Contains(b.misses, c[0]) {
					s.keys(b.types(c[0], c[1])...)
				}
			}
			s.record(b.name + " links")
			for name, why := range map[string]string{"a/b?": "a name of a file", "a\tb": "no control characters"} {
				s.keys(b.names(name)...)
				s.waits(why)
				s.record(b.name + " refuses, " + why)
			}
			if _, err := os.Stat(e.note("Meetings", "Project Alpha Kickoff.md")); err != nil {
				t.Error(err)
			}
		})
	}
}
