package vault_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes/vault"
)

// TestSRCH52_CopiesOfSynchronisers are no notes while their note is beside them, and are listed.
func TestSRCH52_CopiesOfSynchronisers(t *testing.T) {
	const note = "---\ntype: Person\nrole: boss\naliases: [Ali]\n---\n# Alice Novak\n\nShe keeps bees.\n"
	for name, is := range map[string]bool{
		"alice.sync-conflict-20261101-101010-ABCDEFG.md":   true,
		"alice (conflicted copy 2026-11-01 101010).md":     true,
		"alice (Jo's conflicted copy 2026-11-01).md":       true,
		"Alice (Conflicted copy ThinkPad 202611011010).md": true,
		"alice (case conflict).md":                         true, "alice (Case Conflict 1).md": true,
		"alice (In Konflikt stehende Kopie von Jo 2026-11-01).md": true, "alice (Copie en conflit de Jo 2026-11-01).md": true,
		"alice_conflict-20261101-101010.md": true, "alice (SFConflict jo@example.org 2026-11-01-10-10-10).md": true,
		"alice [conflicted].md": true, "alice.Conflict.md": true, "alice_ThinkPad_Nov-01-101010-2026_Conflict.md": true, "alice_LOCAL_4711.md": true,
		"alice 2.md": true, "alice (1).md": true, "alice-THINKPAD.md": true, "alice-Jo-s-Mac.md": true, "alice (conflict).md": true,
		"alicia.md": false, "alice (in London).md": false, "bob.sync-conflict-20261101-101010-ABCDEFG.md": false, "alice.txt": true,
	} {
		files := map[string]string{"people/alice.md": note, "people/" + name: note + "\nShe left.\n", "x.md": "# X\n\n[[Alice Novak]] and [[Ali]] and [[alice]]\n"}
		w := read(t, folder(t, files))
		n, _ := w.notes.ByPath("people/alice.md", nil)
		copied, _ := w.notes.ByPath("people/"+name, nil)
		if n == nil || is != (copied == nil) {
			t.Errorf("%s: the note is there %v, the copy %v", name, n != nil, copied != nil)
			continue
		}
		said := ""
		for _, e := range w.said {
			if e.Path == "people/"+name {
				said = e.Reason
			}
		}
		if is && !strings.HasSuffix(name, ".txt") && !strings.Contains(said, "a copy of alice.md") {
			t.Errorf("%s: status says %q", name, said)
		}
	}
}

// TestSRCH52_OrdinaryNamesStay: what only looks like a copy is a note, and a copy without its note is one.
func TestSRCH52_OrdinaryNamesStay(t *testing.T) {
	files := map[string]string{
		"Chapter.md": "# Chapter\n\nIt begins.\n", "Chapter 2.md": "# Chapter 2\n\nIt goes on.\n", "Chapter-summary.md": "# Summary\n\nAll of it.\n",
		"Meeting.md": "# Meeting\n\nMonday.\n", "Meeting (conflict resolution).md": "# How to resolve a conflict\n\nTalk.\n",
		"Old (conflicted copy 2026-11-01).md": "# Old\n", "Empty.md": "# Empty\n", "Empty 2.md": "",
		"2026-01.md": "# Plan\n\n## Done\n", "2026-01-05.md": "# Plan\n\n## Done\n",
		"sub/Chapter 3.md": "# Chapter\n\nIt begins.\n",
	}
	w := read(t, folder(t, files))
	for name := range files {
		if n, err := w.notes.ByPath(name, nil); n == nil {
			t.Errorf("%s is no note: %v", name, err)
		}
	}
}

// TestSRCH52_CopiesComeAndGoWhileFollowed: the list of copies is that of the disk, also when no note has changed.
func TestSRCH52_CopiesComeAndGoWhileFollowed(t *testing.T) {
	dir := importFolder(t, map[string]string{"sub/a.md": "one", "b.md": "two"})
	w := follows(t, dir, kv.InMemory, never, vault.Seam{})
	copies := func() []vault.Copy {
		list, err := vault.CopiesIn(w.db)(ctx)
		must(t, err)
		return list
	}
	if list := copies(); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	write(t, dir, "sub/a.Conflict.md", "other")
	want := vault.Copy{Vault: w.status(t).Vault, Path: "sub/a.Conflict.md", Of: "sub/a.md", By: "Resilio Sync"}
	w.agreed(t)
	if list := copies(); len(list) != 1 || list[0] != want {
		t.Errorf("%+v, want %+v", list, want)
	}
	must(t, os.Remove(filepath.Join(dir, "sub", "a.Conflict.md")))
	w.agreed(t)
	if list := copies(); len(list) != 0 {
		t.Errorf("the file is gone: %+v", list)
	}
}
