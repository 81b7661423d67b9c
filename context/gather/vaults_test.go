package gather_test

import (
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/notes"
)

// vaultsOf returns what a report says of the vaults of its notes, by their ids.
func vaultsOf(r *prompt.Report) map[string]string {
	out := make(map[string]string)
	for _, section := range r.Sections {
		for _, it := range section.Items {
			out[it.ID] = it.Vault
		}
	}
	for _, d := range r.Dropped {
		out[d.ID] = d.Vault
	}
	return out
}

// TestSRCH17_AReportNamesTheVaultsOfNotes: as search does, where its reader sees notes of several
// vaults. The heading in the prompt says it only of notes that are called the same.
func TestSRCH17_AReportNamesTheVaultsOfNotes(t *testing.T) {
	w := newWorld(t)
	w.mustNote(t, notes.Draft{ID: "home", Vault: "Home", Path: "Plan.md", Body: "at home"})
	w.mustNote(t, notes.Draft{ID: "none", Title: "Diary", Body: "in no vault"})
	p := gather.Params{MentionedNoteIDs: []string{"home", "none", "work", "other", "old"}, Audience: gather.Local}
	expect := func(when string, want map[string]string, heads ...string) {
		t.Helper()
		for _, format := range []prompt.Format{prompt.Markdown, prompt.XML} {
			p := p
			if format == prompt.XML {
				p.Format = gather.XML
			}
			res := w.assemble(t, p)
			for id, vault := range want {
				if got, ok := vaultsOf(&res.Report)[id]; got != vault || !ok {
					t.Errorf("%s: the report names the vault %q of %s, want %q", when, got, id, vault)
				}
			}
			if format == prompt.XML {
				if got := strings.Count(res.System, ` vault="`); got != strings.Count(strings.Join(heads, "\n"), "(vault ") {
					t.Errorf("%s: %d notes have the vault in\n%s", when, got, res.System)
				}
				continue
			}
			for _, head := range heads {
				if !strings.Contains(res.System, "\n### "+head+"\n") {
					t.Errorf("%s: no heading %q in\n%s", when, head, res.System)
				}
			}
		}
	}
	expect("one vault", map[string]string{"home": "", "none": ""}, "[[Plan]] [id:home]")

	w.mustNote(t, notes.Draft{ID: "work", Vault: "Work", Path: "plan.md", Body: "---\nprivate: true\n---\nat work"})
	w.mustNote(t, notes.Draft{ID: "other", Vault: "Work", Path: "Ideas.md", Body: "---\nprivate: true\n---\nmany"})
	w.mustNote(t, notes.Draft{ID: "old", Vault: "Work", Path: "Old.md", Body: "---\nprivate: true\n---\nx"})
	all := map[string]string{"home": "Home", "none": "", "work": "Work", "other": "Work", "old": "Work"}
	expect("two vaults", all, "[[Plan]] [id:home] (vault Home)", "[[Diary]] [id:none]",
		"[[plan]] [id:work] (vault Work)", "[[Ideas]] [id:other]")

	p.Audience = gather.Remote
	expect("the other is private", all, "[[(private)]] [id:home]", "[[Diary]] [id:none]")
}
