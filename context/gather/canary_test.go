package gather_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// Canaries stand in private records only: in their names, titles, aliases, texts
// and fields. Labels stand in public notes, on links to private ones. No id and no hash has a number with a point in it.
var canaries = regexp.MustCompile(`(?i)canary|8847\.25|yellow-label`)

// TestCTX34_NoCanaryReachesARemoteAudience looks for what is private in every
// place of a prompt and of its report, in both formats.
func TestCTX34_NoCanaryReachesARemoteAudience(t *testing.T) {
	w := newWorld(t)
	w.mustType(t, entities.Type{Name: "P", Fields: []entities.Field{
		{Name: "about", Type: record.Text},
		{Name: "said", Type: record.TextList},
		{Name: "boss", Type: record.EntityRef},
		{Name: "team", Type: record.EntityRefList},
		{Name: "note", Type: record.NoteRef},
		{Name: "pay", Type: record.Number},
		{Name: "reports", Type: record.Computed, Query: "SELECT p FROM P WHERE p.boss = {this}"},
		{Name: "top", Type: record.Computed, Query: "SELECT MAX(p.pay) FROM P p"},
		{Name: "first", Type: record.Computed, Query: "SELECT MIN(p.name) FROM P p WHERE p.name STARTS WITH 'C'"},
		{Name: "rich", Type: record.Computed, Query: "SELECT p FROM P WHERE p.boss.pay > 4000"},
		{Name: "chief", Type: record.Computed, Query: "SELECT p FROM P WHERE p.name = {this.boss.name}"},
		{Name: "fails", Type: record.Computed, Query: "SELECT p FROM P WHERE days_between(p.boss.name, '2020-01-01') > 1"},
		{Name: "unknown", Type: record.Computed, Query: "SELECT p FROM Nobody p WHERE p.x = {this.boss.name}"},
	}})
	for _, d := range []notes.Draft{
		{ID: "secret", Title: "Canary Plan", Path: "Private/Canary Plan.md", Aliases: []string{"Canary Alias"}, Private: true, Body: "the canary sings"},
		{ID: "twin1", Title: "Canary Twin", Private: true},
		{ID: "twin2", Title: "Canary Twin", Private: true},
		{ID: "made", Path: "Private/Canary Person.md", Body: "---\ntype: P\ntitle: Canary Person\npay: 8847.25\nprivate: true\n---\ncanary"},
		{ID: "open", Title: "Open", Path: "Open.md", Body: strings.Join([]string{
			"---", "plan: \"[[Canary Plan]]\"", "lead: Canary Zoe", "with: [Canary Alias, kept]", "see: \"[[Other]]\"", "Canary Plan: due", "---",
			"budget of [[Canary Plan]] and [[Canary Alias|yellow-label]] and ![[Canary Plan#Canary]]",
			"[yellow-label](Private/Canary%20Plan.md) and [yellow-label](<Private/Canary Plan.md> \"Canary Plan\") and [yellow-label](./Private/Canary%20Plan.md#canary)",
			"![yellow-label](Private/Canary%20Plan.md) and [[Canary Twin]] in the text and `[[Canary Plan]]` in code <!-- [[Canary Plan]] -->",
			"see [yellow-label][ref] and [yellow-label ref][] and [yellow-label ref], Private/Canary%20Plan.md",
			"", "[ref]: Private/Canary%20Plan.md \"Canary Plan\"", "[yellow-label ref]: <Private/Canary Plan.md>", "",
			"[kept](Other.md) and [[Other]] stay",
		}, "\n")},
		{ID: "other", Title: "Other", Path: "Other.md"},
	} {
		w.mustNote(t, d)
	}
	made := w.notes.Get("made").EntityID
	for _, e := range []entities.Entity{
		{ID: "z", Name: "Canary Zoe", Private: true, Aliases: []string{"Sam"}, Fields: entities.Values{"pay": 8847.25, "about": "canary", "boss": "a"}},
		{ID: "a", Name: "Ann", Aliases: []string{"Sam"}, Fields: entities.Values{
			"about": "met [[Canary Plan]] and [[Other]] in Private/Canary Plan.md", "said": []string{"ask [[Canary Alias|yellow-label]]", "no"},
			"boss": "z", "team": []string{"z", "b", made}, "note": "secret",
		}},
		{ID: "b", Name: "Bob", Fields: entities.Values{"boss": made, "note": "open", "pay": 12.0}},
		{ID: "t", Name: "Canary Trashed", Private: true},
		{ID: "hidden", Name: "X", Private: true},
	} {
		e.Type = "P"
		w.mustPut(t, e)
	}
	if _, err := w.ents.Archive(ctx, "t", nil); err != nil {
		t.Fatal(err)
	}
	text := "budget: @Ann @Sam @Bob @z_p_entity [[Open]] [[Other]] " // whose names the user types, the user may type
	leaks := func(p gather.Params) []string {
		t.Helper()
		res := w.assemble(t, p)
		if p.Audience != gather.Local && strings.Contains(res.System, "hidden") {
			t.Error("the id of a private entity is in the prompt")
		}
		raw, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		recent, err := json.Marshal(w.gather.Recent(1, audience.Local))
		if err != nil {
			t.Fatal(err)
		}
		return canaries.FindAllString(string(raw)+string(recent), -1)
	}
	for _, format := range []string{gather.Markdown, gather.XML} {
		for depth := range 4 {
			p := gather.Params{
				Text: text, Format: format, MaxDepth: &depth, SearchNotes: 8, Explain: true, MentionedEntityIDs: []string{"z", "t", made},
				MentionedNoteIDs: []string{"secret", "open", "secret", "made"},
				ActionItems:      []prompt.Action{{ID: "t1", Text: "Call", EntityIDs: []string{"hidden", "b"}}},
			}
			for range 2 { // rendered, and from the cache
				if found := leaks(p); len(found) > 0 {
					t.Fatalf("%s, depth %d: %d canaries in\n%s\n%+v", format, depth, len(found), w.assemble(t, p).System, w.assemble(t, p).Report.Dropped)
				}
			}
			p.Audience = gather.Local
			if found := leaks(p); len(found) < 20 {
				t.Fatalf("a local audience sees %d canaries: the test proves nothing", len(found))
			}
		}
	}
	res := w.assemble(t, gather.Params{Text: "[[Open]] @Ann"})
	for _, want := range []string{"plan: (private)\nlead: (private)\n", "see: [[Other]]\n", "[kept](Other.md) and [[Other]] stay", "about: met (private) and \\[\\[Other\\]\\] in (private)", "said: ask (private), no", "boss: (private)"} {
		if !strings.Contains(res.System, want) {
			t.Errorf("no %q in\n%s", want, res.System)
		}
	}
	// What the link means is looked at anew when the note is no longer private.
	no := false
	if _, err := w.notes.Patch(ctx, notes.Patch{ID: "secret", Private: &no}, nil); err != nil {
		t.Fatal(err)
	}
	if res := w.assemble(t, gather.Params{Text: "[[Open]] @Ann"}); !strings.Contains(res.System, "about: met \\[\\[Canary Plan") || !strings.Contains(res.System, "yellow-label") {
		t.Errorf("the note is public now:\n%s", res.System)
	}
}

// TestCommitsDoNotWaitForAColdWalk: blocks are rendered while commits go on, and
// the prompt shows one state all the same.
func TestCommitsDoNotWaitForAColdWalk(t *testing.T) {
	w := newWorld(t)
	w.mustType(t, person)
	const n = 1000
	var list []entities.Entity
	for i := range n {
		list = append(list, entities.Entity{ID: fmt.Sprint("e", i), Type: "P", Name: "Version 0", Fields: entities.Values{
			"boss": fmt.Sprint("e", i/6), "team": []string{fmt.Sprint("e", (6*i+1)%n), fmt.Sprint("e", (6*i+2)%n), fmt.Sprint("e", (6*i+5)%n)},
		}})
	}
	for len(list) > 0 {
		k := min(len(list), entities.MaxMany)
		if _, err := w.ents.PutMany(ctx, list[:k]); err != nil {
			t.Fatal(err)
		}
		list = list[k:]
	}
	done := make(chan error, 1)
	// A prompt looks at the store up to four times to find it in one state: more commits than
	// that, one between each two looks, are too many.
	turns := make(chan struct{}, 2)
	commits := 0
	go func() {
		for range turns {
			commits++
			name := fmt.Sprint("Version ", commits)
			if _, err := w.ents.PutMany(ctx, []entities.Entity{
				{ID: "e0", Type: "P", Name: name, Fields: entities.Values{"team": []string{"e1", "e2", "e5"}}},
				{ID: "e1", Type: "P", Name: name, Fields: entities.Values{"team": []string{"e7", "e8", "e0"}}},
			}); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	depth := prompt.MaxDepth
	names := regexp.MustCompile(`@(Version \d+) \(P\) \[id:e[01]\]`)
	for range 4 {
		g := w.fresh()
		for range 2 {
			select {
			case turns <- struct{}{}:
			case err := <-done:
				t.Fatal(err)
			}
		}
		res, err := w.assembled(ctx, g, gather.Params{MentionedEntityIDs: []string{"e0"}, MaxDepth: &depth})
		if err != nil {
			t.Fatal(err)
		}
		m := names.FindAllStringSubmatch(res.System, -1)
		if len(m) != 2 || m[0][1] != m[1][1] || strings.Count(res.System, "team: @"+m[0][1]) == 0 {
			t.Fatalf("headings %v in one prompt", m)
		}
		if reached := len(res.Report.Sections[0].Items) + len(res.Report.Dropped); reached < 200 {
			t.Fatalf("%d reached", reached)
		}
	}
	close(turns)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
