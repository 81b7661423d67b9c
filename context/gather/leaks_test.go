package gather_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/notes"
)

// namingBodies are public texts that name a private note or entity in some way
// that a reader would take for a link, by its title or by a label.
var namingBodies = []string{
	"<a href=\"Private/Canary%20Plan.md\">yellow-label</a>",
	"x [yellow-label][ref]\n\n[ref]:\n  Private/Canary%20Plan.md",
	"x [yellow-label][ref]\n\n[ref]: Private/Canary%20Plan.md\n  \"Canary Plan\"",
	"![yellow [x] label](Private/Canary%20Plan.md)",
	"[yellow [x] label](Private/Canary%20Plan.md)",
	"[![yellow-label](a.png)](Private/Canary%20Plan.md)",
	"[yellow-label](Private/Canary%20Plan.md\n\"Canary Plan\")",
	"[[Canary\nPlan]]",
	"[[ Canary Plan ]]",
	"[[Canary Plan|yellow-label\nmore]]",
	"[yellow-label](Private/Canary&#32;Plan.md)",
	"[yellow-label](obsidian://open?vault=v&file=Private%2FCanary%20Plan)",
	"[yellow-label](file:///v/Private/Canary%20Plan.md)",
	"ask @[Canary Zoe]",
	"ask @Canary Zoe",
	"ask @canary_zoe_p_entity",
	"[[Canary Plan]](x)",
	"\\[[Canary Plan]]",
	"[[[Canary Plan]]]",
	"![[Canary Plan|yellow-label]]",
	"~~~\n[[Canary Plan]]\n~~~",
	"[yellow-label]: Private/Canary%20Plan.md\n\n[YELLOW-label]",
	"> [ref]: Private/Canary%20Plan.md\n\n[yellow-label][ref]",
	"- [ref]: Private/Canary%20Plan.md\n\n[yellow-label][ref]",
	"[yellow\nlabel][ref] [yellow-label\nx][ref]\n\n[ref]: Private/Canary%20Plan.md",
	"[a [yellow-label] b][ref]\n\n[ref]: Private/Canary%20Plan.md",
	"[yellow-label\\]][ref]\n\n[ref]: Private/Canary%20Plan.md",
	"![yellow-label](Private/Canary%20Plan.md (Canary title))",
	"![yellow-label](Private/Canary%20Plan)",
	"![yellow-label\nx](Private/Canary%20Plan.md)",
	"[yellow-label](<Private/Canary Plan>)",
	"[yellow-label](private/canary%20plan.MD)",
	"<Private/Canary%20Plan.md>",
	"---\nabout: \"[[Canary Plan]]\"\n---\nx",
	"---\nrelated: [[Canary Plan]]\n---\nx",
	"`` [[Canary Plan]] ``",
	"| a | [[Canary Plan\\|yellow-label]] |\n|---|---|\n| [[Canary Plan\\|yellow-label]] | x |",
}

// TestCTX34_NoFormOfALinkTells looks for canaries in prompts and reports that show
// one public note and one public entity, which name private ones.
func TestCTX34_NoFormOfALinkTells(t *testing.T) {
	w := newWorld(t)
	w.mustType(t, entities.Type{Name: "P", Fields: []entities.Field{
		{Name: "about", Type: entities.Text},
		{Name: "said", Type: entities.TextList},
		{Name: "note", Type: entities.NoteRef},
		{Name: "boss", Type: entities.EntityRef},
		{Name: "least", Type: entities.Computed, Query: "SELECT MIN(p.about) FROM P p"},
		{Name: "most", Type: entities.Computed, Query: "SELECT MAX(p.said) FROM P p"},
		{Name: "last", Type: entities.Computed, Query: "SELECT MAX(p.note) FROM P p"},
	}})
	for _, d := range []notes.Draft{
		{ID: "secret", Title: "Canary Plan", Path: "Private/Canary Plan.md", Aliases: []string{"Canary Alias"}, Private: true, Body: "the canary sings"},
		{ID: "twin1", Title: "Canary Twin", Private: true},
		{ID: "twin2", Title: "Canary Twin", Private: true},
	} {
		w.mustNote(t, d)
	}
	w.mustPut(t, entities.Entity{ID: "z", Type: "P", Name: "Canary Zoe", Private: true, Aliases: []string{"Canaryalias"}})
	found := func(audience, format string) []string {
		t.Helper()
		raw, err := json.Marshal(w.assemble(t, gather.Params{
			MentionedEntityIDs: []string{"a"}, MentionedNoteIDs: []string{"open"}, Format: format, Audience: audience, Explain: true,
		}))
		if err != nil {
			t.Fatal(err)
		}
		return canaries.FindAllString(string(raw), -1)
	}
	local := 0
	check := func(name string) {
		t.Helper()
		for _, format := range []string{gather.Markdown, gather.XML} {
			if leaks := found(gather.Remote, format); len(leaks) > 0 {
				t.Errorf("%s in %s shows %q", name, format, leaks)
			}
		}
		local += len(found(gather.Local, gather.Markdown))
	}
	w.mustNote(t, notes.Draft{ID: "open", Title: "Open", Path: "Open.md"})
	for _, fields := range []entities.Values{
		{"about": "x [[Canary Plan]]"},
		{"said": []string{"see [[Canary Plan]]", "or @Canary Zoe"}},
		{"note": "[[Canary Twin]]"},
		{"note": "[[Canary Plan]]"},
		{"about": "x [yellow-label](Private/Canary%20Plan.md)"},
		{"about": "x [yellow-label](Private/Canary%20Plan)"},
		{"about": "ask @[Canary Zoe]"},
		{"boss": "[[Canary Zoe]]"},
	} {
		w.mustPut(t, entities.Entity{ID: "a", Type: "P", Name: "Ann", Fields: fields})
		check(fmt.Sprint(fields))
	}
	w.mustPut(t, entities.Entity{ID: "a", Type: "P", Name: "Ann"})
	for _, body := range namingBodies {
		if _, err := w.notes.Put(ctx, notes.Draft{ID: "open", Title: "Open", Path: "Open.md", Body: body}, nil); err != nil {
			t.Fatal(err)
		}
		check(fmt.Sprintf("%q", body))
	}
	if local < len(namingBodies)/2 {
		t.Errorf("a local audience sees %d canaries: the test proves little", local)
	}
}
