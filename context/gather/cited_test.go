package gather_test

import (
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/notes"
)

// TestCTX43_AHeadingSaysWhichNoteOfThatTitle: where several notes that the reader sees are called so, and only there, the heading
// has the shortest path that leads to the note alone.
func TestCTX43_AHeadingSaysWhichNoteOfThatTitle(t *testing.T) {
	w := newWorld(t)
	w.mustNote(t, notes.Draft{ID: "p", Vault: "V", Path: "Projects/Lighthouse.md", Body: "The new tower.\n\n## Goals\n\nLight."})
	w.mustNote(t, notes.Draft{ID: "day1", Vault: "V", Path: "Days/2026-01-02.md", Body: "# Standup\n\nFirst."})
	w.mustNote(t, notes.Draft{ID: "plain", Title: "Diary", Body: "alone"})
	w.mustNote(t, notes.Draft{ID: "sharp", Title: "C# notes", Body: "alone, and no link can say its title"})
	ids := []string{"p", "day1", "plain", "sharp"}
	expect := func(when string, p gather.Params, heads ...string) {
		t.Helper()
		res := w.assemble(t, p)
		for _, head := range heads {
			if !strings.Contains(res.System, "\n### "+head+"\n") {
				t.Errorf("%s: no heading %q in\n%s", when, head, res.System)
			}
		}
		for _, s := range res.Report.Sections {
			for _, item := range s.Items {
				if !strings.Contains(strings.Join(heads, "\n"), "[["+item.Title+"]] [id:"+item.ID+"]") {
					t.Errorf("%s: the report calls %s %q", when, item.ID, item.Title)
				}
			}
		}
	}
	local := gather.Params{MentionedNoteIDs: ids, Audience: gather.Local}
	remote := gather.Params{MentionedNoteIDs: ids, Audience: gather.Remote}
	alone := []string{"[[Lighthouse]] [id:p]", "[[Standup]] [id:day1]", "[[Diary]] [id:plain]", "[[C# notes]] [id:sharp]"}
	expect("each title once", local, alone...)
	expect("each title once, remote", remote, alone...)

	private := "---\nprivate: true\n---\n"
	w.mustNote(t, notes.Draft{ID: "a", Vault: "V", Path: "Archive/2024/Lighthouse.md", Body: private + "The old one."})
	w.mustNote(t, notes.Draft{ID: "day2", Vault: "V", Path: "Days/2026-01-09.md", Body: private + "# Standup\n\nSecond."})
	pathed := []string{"[[Projects/Lighthouse]] [id:p]", "[[2026-01-02]] [id:day1]", "[[Diary]] [id:plain]", "[[C# notes]] [id:sharp]"}
	expect("two of a title", local, pathed...)
	// The names are those of private records now, so he is not shown them as titles; a path would tell no less.
	res := w.assemble(t, remote)
	for _, told := range []string{"Projects/Lighthouse", "2026-01-02"} {
		if strings.Contains(res.System, told) {
			t.Errorf("a remote prompt says %q, since there is a private note of that title:\n%s", told, res.System)
		}
	}

	w.mustNote(t, notes.Draft{ID: "a", Vault: "V", Path: "Archive/2024/Lighthouse.md", Body: "The old one."})
	w.mustNote(t, notes.Draft{ID: "day2", Vault: "V", Path: "Days/2026-01-09.md", Body: "# Standup\n\nSecond."})
	expect("both are public", remote, pathed...)
	local.MentionedNoteIDs, local.Text = nil, "Compare [[Projects/Lighthouse#Goals]] with [[2024/Lighthouse]]"
	expect("a part", local, "[[Projects/Lighthouse#Goals]] [id:p]", "[[2024/Lighthouse]] [id:a]")
}

// TestCTX43_AnEntityNamesItsNoteWhereOthersHaveItsName.
func TestCTX43_AnEntityNamesItsNoteWhereOthersHaveItsName(t *testing.T) {
	w := newWorld(t)
	person := "---\ntype: Person\ntitle: Alice\n---\n"
	w.mustNote(t, notes.Draft{ID: "n1", Vault: "V", Path: "People/Alice.md", Body: person})
	w.mustNote(t, notes.Draft{ID: "n3", Vault: "V", Path: "People/Bob.md", Body: "---\ntype: Person\n---\n"})
	of := func(note string) string { return w.notes.Get(note).EntityID }
	p := gather.Params{MentionedEntityIDs: []string{of("n1"), of("n3")}, Audience: gather.Local}
	bob := "### @Bob (Person) [id:" + of("n3") + "]  ← directly mentioned"
	expect := func(when string, heads ...string) {
		t.Helper()
		res := w.assemble(t, p)
		for _, head := range heads {
			if !strings.Contains(res.System, "\n"+head+"\n") {
				t.Errorf("%s: no heading %q in\n%s", when, head, res.System)
			}
		}
	}
	alice := "### @Alice (Person) [id:" + of("n1") + "]"
	expect("one Alice", alice+"  ← directly mentioned", bob)
	w.mustNote(t, notes.Draft{ID: "n2", Vault: "V", Path: "Staff/Alice.md", Body: person})
	expect("two", alice+" [[People/Alice]]  ← directly mentioned", bob)
	p.Format = gather.XML
	if res := w.assemble(t, p); !strings.Contains(res.System, ` type="Person" note="People/Alice" why=`) {
		t.Errorf("no note in\n%s", res.System)
	}
	p.Format, p.Audience = "", gather.Remote
	w.mustNote(t, notes.Draft{ID: "n2", Vault: "V", Path: "Staff/Alice.md", Body: "---\ntype: Person\ntitle: Alice\nprivate: true\n---\n"})
	if res := w.assemble(t, p); strings.Contains(res.System, "People/Alice") {
		t.Errorf("a remote prompt tells of a hidden one:\n%s", res.System)
	}
}
