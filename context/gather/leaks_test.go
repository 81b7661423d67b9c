package gather_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
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
		{Name: "about", Type: record.Text},
		{Name: "said", Type: record.TextList},
		{Name: "note", Type: record.NoteRef},
		{Name: "boss", Type: record.EntityRef},
		{Name: "least", Type: record.Computed, Query: "SELECT MIN(p.about) FROM P p"},
		{Name: "most", Type: record.Computed, Query: "SELECT MAX(p.said) FROM P p"},
		{Name: "last", Type: record.Computed, Query: "SELECT MAX(p.note) FROM P p"},
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

// TestCTX34_NoTitleTells looks for canaries in prompts and reports that show a note,
// an entity and what refers to them, whose titles and names hold links to private
// ones: as they were given, or as they were taken from a heading.
func TestCTX34_NoTitleTells(t *testing.T) {
	w := newWorld(t)
	w.mustType(t, entities.Type{Name: "P", Fields: []entities.Field{
		{Name: "note", Type: record.NoteRef},
		{Name: "boss", Type: record.EntityRef},
	}})
	w.mustNote(t, notes.Draft{ID: "secret", Title: "Canary Plan", Path: "Private/Canary Plan.md", Private: true})
	w.mustPut(t, entities.Entity{ID: "z", Type: "P", Name: "Canary Zoe", Private: true})
	w.mustPut(t, entities.Entity{ID: "b", Type: "P", Name: "Bob", Fields: entities.Values{"note": "open", "boss": "e"}})
	found := func(audience string) int {
		t.Helper()
		n := 0
		for _, p := range []gather.Params{
			{MentionedNoteIDs: []string{"open"}, MentionedEntityIDs: []string{"e"}},
			{MentionedEntityIDs: []string{"b"}},
			{MentionedEntityIDs: []string{"b"}, Budgets: &gather.Budgets{Total: new(int)}},
			{MentionedEntityIDs: []string{"b"}, Format: gather.XML},
		} {
			p.Audience, p.Explain = audience, true
			raw, err := json.Marshal(w.assemble(t, p))
			if err != nil {
				t.Fatal(err)
			}
			leaks := canaries.FindAllString(string(raw), -1)
			n += len(leaks)
			if audience == gather.Remote && len(leaks) > 0 {
				t.Errorf("shows %q: %s", leaks, raw)
			}
		}
		return n
	}
	for _, d := range []notes.Draft{
		{Title: "About [[Canary Plan]]"},
		{Title: "About @Canary Zoe"},
		{Body: "# About [[Canary Plan]]\nx"},
		{Body: "Text, 1 = 1.\n\n  #\tAbout [[Canary Plan]] ##\nx"},
		{Body: "## Of it\nAbout the plan\nof [[Canary Plan]]\n  ===\nx"},
		{Body: "---\n# of it\nx: 1\n---\n#tag\n\n# About [yellow-label](Private/Canary%20Plan.md) and @[Canary Zoe]\nx"},
	} {
		d.ID, d.Path = "open", "Open.md"
		stored, err := w.notes.Put(ctx, d, nil)
		if err != nil {
			t.Fatal(err)
		}
		w.mustPut(t, entities.Entity{ID: "e", Type: "P", Name: stored.Title, NoteID: "open"})
		found(gather.Remote)
		if found(gather.Local) == 0 {
			t.Errorf("a local audience sees no canary in %q: the test proves nothing", stored.Title)
		}
	}
	// What is not private is shown, and hidden as soon as it is.
	w.mustNote(t, notes.Draft{ID: "new", Title: "Canary Two"})
	if _, err := w.notes.Put(ctx, notes.Draft{ID: "open", Title: "About [[Canary Two]]", Path: "Open.md"}, nil); err != nil {
		t.Fatal(err)
	}
	w.mustPut(t, entities.Entity{ID: "e", Type: "P", Name: "About [[Canary Two]]"})
	if found(gather.Local) == 0 {
		t.Error("the title does not show")
	}
	w.assemble(t, gather.Params{MentionedEntityIDs: []string{"b"}})
	if _, err := w.notes.Put(ctx, notes.Draft{ID: "new", Title: "Canary Two", Private: true}, nil); err != nil {
		t.Fatal(err)
	}
	found(gather.Remote)
}
