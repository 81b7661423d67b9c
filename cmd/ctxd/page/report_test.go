package page_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/ctxd/ctxd/cmd/ctxd/page"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/prompt"
)

var update = flag.Bool("update", false, "rewrite the goldens of what is drawn")

// sampleReport has everything that a report can say.
func sampleReport() *prompt.Report {
	entity := func(id, title string, depth, chars int, via ...prompt.Edge) prompt.Item {
		return prompt.Item{Kind: prompt.KindEntity, ID: id, Title: title, Depth: depth, Chars: chars, Via: via}
	}
	alice := entity("a", "Alice Novak", 0, 1503, prompt.Edge{From: "e", Field: "lead"}, prompt.Edge{From: "a", Field: "mentor"})
	team := entity("e", "Engineering", 1, 11_023, prompt.Edge{From: "a", Field: "team"}, prompt.Edge{From: "s", Field: "team"}, prompt.Edge{From: "w", Field: "customer_of"}, prompt.Edge{From: "b", Field: "team"})
	team.Cut = &prompt.Extent{Kept: 3, Of: 40, Unit: prompt.Lines}
	return &prompt.Report{
		Chars: 15_803, Budget: 16_000,
		Sections: []prompt.SectionReport{
			{Name: prompt.SectionPinned, Chars: 1651, Budget: 20_500, Items: []prompt.Item{{Kind: prompt.KindNote, Title: "Project Alpha Kickoff", Chars: 1544, Reason: "pinned by the user", Cut: &prompt.Extent{Kept: 3, Of: 9, Unit: prompt.Rows}}}},
			{Name: prompt.SectionEntities, Chars: 11_993, Budget: 12_000, Items: []prompt.Item{
				alice, entity("b", "Bo", 0, 12), team, entity("s", "Samira Haddad", 1, 606, prompt.Edge{From: "a", Field: "reports"}),
				entity("w", "若葉ロードセル", 2, 90, prompt.Edge{From: "e", Field: "vendor"}),
			}},
			{Name: prompt.SectionLinked, Chars: 0, Budget: 6_500},
			{Name: prompt.SectionSearch, Chars: 90, Budget: 12_500, Items: []prompt.Item{
				{Kind: prompt.KindNote, ID: "n5", Title: "Plan", Vault: "Home", Chars: 40, Reason: "found by words"},
			}},
			{Name: prompt.SectionMemory, Chars: 120, Budget: 6_000, Items: []prompt.Item{
				{Kind: prompt.KindMemory, ID: "m1", Title: "train_mornings_a3f2", Chars: 60, Reason: "found by search", Distilled: true},
			}},
		},
		Dropped: []prompt.Dropped{
			{Kind: prompt.KindMemory, ID: "m2", Title: "tax_office_b1c2", Reason: prompt.Distilled},
			{Kind: prompt.KindEntity, Title: "Sam", Reason: prompt.Ambiguous, Candidates: []prompt.Candidate{{ID: "s1", Title: "Samira Haddad", Type: "Person"}, {ID: "n1", Title: "Sam", Path: "People/Sam.md"}}},
			{Kind: prompt.KindEntity, ID: "x", Reason: prompt.Unknown},
			{Kind: prompt.KindNote, ID: "p", Reason: prompt.Private},
			{Kind: prompt.KindNote, ID: "n2", Title: "Weekly Sync", Reason: prompt.OverBudget},
			{Kind: prompt.KindNote, ID: "n3", Title: "Product Principles", Vault: "Work", Reason: prompt.OverBudget},
			{Kind: prompt.KindEntity, ID: "l", Title: "Lichtwerk", Reason: prompt.OverLimit},
			{Kind: prompt.KindNote, ID: "n4", Title: "Of a later version", Reason: "tired"},
		},
		QueryErrors: []prompt.QueryError{{Entity: "w", Field: "open_orders", Message: "there is no type PurchaseOrder; types are Customer, Decision, Person, Project and Team"}, {Entity: "l", Field: "open", Message: "too long"}},
		Stages:      []prompt.Stage{{Name: "mentions", Ms: 0.03}, {Name: "search", Skipped: true, Why: "the index is being built"}, {Name: "render", Ms: 1.25}},
		Hash:        strings.Repeat("0123456789abcdef", 4),
	}
}

// sampleResult is a prompt with that report, and what only the short report says in words of its own.
func sampleResult() *prompt.Result {
	r := sampleReport()
	r.Query = "what did we plan for the evenings?"
	system := "é𝛑 [[Plan]] Planned: the evening walk."
	found := &r.Sections[3].Items[0]
	found.Start, found.End, found.Reason = 3, len(utf16.Encode([]rune(system))), prompt.FoundBySearch
	r.Sections[3].Items = append(r.Sections[3].Items,
		prompt.Item{Kind: prompt.KindNote, Title: "Evenings elsewhere", Chars: 7, Reason: "found by search, by its meaning"},
		prompt.Item{Kind: prompt.KindNote, Title: "Lighthouse", Chars: 70, Reason: "focus: named 2 turns ago"})
	r.Sections[2].Items = []prompt.Item{{Kind: prompt.KindNote, Title: "Alice Profile", Chars: 8, Reason: "linked from @Alice Novak.linked-note"}}
	r.Sections = append(r.Sections, prompt.SectionReport{Name: prompt.SectionReferenced, Items: []prompt.Item{
		{Kind: prompt.KindMemory, Title: "walk_81aa", Chars: 9, Reason: "named by the user as #7"},
		{Kind: prompt.KindMemory, Title: "nurse_1b2c", Chars: 9, Reason: prompt.PinnedByUser},
	}})
	r.Warnings = []prompt.Warning{{Ref: "[[Plan#Goals]]", Message: "the note has no heading \"Goals\", so all of it is pinned"}}
	r.Stages = append(r.Stages,
		prompt.Stage{Name: "memories", Why: prompt.TookLonger + "250ms", Skipped: true},
		prompt.Stage{Name: "passages", Why: prompt.TookLonger + "250ms", Skipped: true},
		prompt.Stage{Name: "recall", Best: []prompt.LeftOut{{Kind: prompt.KindMemory, ID: "m9", Score: 0.213, Floor: 0.4}}, Why: "none is about it", Skipped: true},
		prompt.Stage{Name: "search", Best: []prompt.LeftOut{{Kind: prompt.KindMessage, ID: "m8", Score: 0.9, Floor: 1.01}}, Why: "no vector came in time"})
	return &prompt.Result{System: system, Report: *r}
}

// TestCTX32_BriefOnScreens draws what a person asks first of a prompt: each item once, in a line, with why it is there; and
// in a line for each cause what is not.
func TestCTX32_BriefOnScreens(t *testing.T) {
	for _, c := range []struct {
		name  string
		width int
	}{{"pipe", 0}, {"80", 80}, {"40", 40}} {
		var b bytes.Buffer
		res := sampleResult()
		page.DrawBrief(&term.Screen{Writer: &b, Width: c.width, Terminal: c.width > 0}, res,
			func(kind, id string) string { return kind + " called " + id })
		golden := filepath.Join("testdata", "brief-"+c.name+".golden")
		if *update {
			if err := os.WriteFile(golden, b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if b.String() != string(want) {
			t.Errorf("%s differs (go test ./cmd/ctxd/page -run OnScreens -update):\n%s", golden, b.String())
		}
		in, _, _ := strings.Cut(b.String(), "Not in it")
		items := 0
		for _, section := range res.Report.Sections {
			items += len(section.Items)
		}
		if lines := strings.Count(in, "\n  "); lines != items {
			t.Errorf("%d lines of %d items", lines, items)
		}
		for l := range strings.Lines(b.String()) {
			if w := term.Columns(strings.TrimSuffix(l, "\n")); c.width > 0 && w > c.width {
				t.Errorf("%d columns of %d: %q", w, c.width, l)
			}
		}
	}
}

// TestCTX32_BriefOfNothing says so, and of a prompt from which nothing was left out there is no such part.
func TestCTX32_BriefOfNothing(t *testing.T) {
	for want, res := range map[string]*prompt.Result{
		"\nNothing is in it\n": {},
		"\nNothing is in it\n\nNot in it\n  search, memories  the message asks nothing\n": {Report: prompt.Report{Stages: []prompt.Stage{
			{Name: "search", Skipped: true, Why: "the message asks nothing"}, {Name: "memories", Why: "the message asks nothing"}, {Name: "render", Ms: 1},
		}}},
	} {
		var b bytes.Buffer
		page.DrawBrief(&term.Screen{Writer: &b}, res, nil)
		if b.String() != want {
			t.Errorf("got %q, want %q", b.String(), want)
		}
	}
}

// TestCTX32_ReportOnScreens draws a report for a pipe and for terminals, narrow
// and coloured. No line is wider than the terminal but the hash, which is to be
// copied.
func TestCTX32_ReportOnScreens(t *testing.T) {
	for _, c := range []struct {
		name  string
		width int
		color bool
	}{{"pipe", 0, false}, {"80", 80, false}, {"40", 40, false}, {"80-colour", 80, true}} {
		var b bytes.Buffer
		page.DrawReport(&term.Screen{Writer: &b, Width: c.width, Terminal: c.width > 0, Coloured: c.color}, sampleReport())
		golden := filepath.Join("testdata", "report-"+c.name+".golden")
		if *update {
			if err := os.WriteFile(golden, b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if b.String() != string(want) {
			t.Errorf("%s differs (go test ./cmd/ctxd -run OnScreens -update):\n%s", golden, b.String())
		}
		if c.color {
			continue
		}
		if strings.Contains(b.String(), "\x1b") {
			t.Errorf("%s: colours", c.name)
		}
		for l := range strings.Lines(b.String()) {
			if w := term.Columns(strings.TrimSuffix(l, "\n")); c.width > 0 && w > c.width && !strings.HasPrefix(l, "sha256") {
				t.Errorf("%d columns of %d: %q", w, c.width, l)
			}
		}
	}
}

// TestCTX32_EveryItemAndEdgeIsDrawnOnce counts what a report names.
func TestCTX32_EveryItemAndEdgeIsDrawnOnce(t *testing.T) {
	r := &prompt.Report{Sections: []prompt.SectionReport{{Name: prompt.SectionEntities}}}
	const n = 40
	edges := 0
	for i := range n {
		it := prompt.Item{Kind: prompt.KindEntity, ID: fmt.Sprint("id", i), Title: fmt.Sprintf("E%02d", i), Depth: min(i, 3)}
		for j := range i % 7 {
			it.Via = append(it.Via, prompt.Edge{From: fmt.Sprint("id", (i*3+j*5)%n), Field: fmt.Sprintf("f%02d_%d", i, j)})
			edges++
		}
		r.Sections[0].Items = append(r.Sections[0].Items, it)
	}
	var b bytes.Buffer
	page.DrawReport(&term.Screen{Writer: &b}, r)
	got := b.String()
	for _, it := range r.Sections[0].Items {
		if c := strings.Count(got, "@"+it.Title+"  0\n"); c != 1 {
			t.Errorf("%s is drawn %d times", it.Title, c)
		}
		for _, e := range it.Via {
			if c := strings.Count(got, e.Field); c != 1 {
				t.Errorf("edge %s is drawn %d times", e.Field, c)
			}
		}
	}
	if edges == 0 {
		t.Fatal("no edges")
	}
}
