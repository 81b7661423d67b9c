package gather_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// put stores notes by their titles, which are their ids.
func put(t *testing.T, w *world, list map[string]string) {
	t.Helper()
	for title, body := range list {
		w.mustNote(t, notes.Draft{ID: strings.ToLower(title), Title: title, Body: body})
	}
}

const planBody = "---\nstatus: open\n---\nIntro.\n\n## Goals\nShip it.\n\n### Later\nRest.\n\n## Risks\n- Rain ^rain\n  - in May\n- Wind\n"

func TestCTX5_PinsSectionsAndBlocks(t *testing.T) {
	w := newWorld(t)
	put(t, w, map[string]string{"Plan": planBody})
	whole := "status: open\n\nIntro.\n\n##### Goals\nShip it.\n\n###### Later\nRest.\n\n##### Risks\n- Rain ^rain\n  - in May\n- Wind"
	for _, c := range []struct {
		text     string
		title    string
		want     string
		warnings []prompt.Warning
	}{
		{"[[Plan#Goals]]", "Plan#Goals", "status: open\n\n##### Goals\nShip it.\n\n###### Later\nRest.", nil},
		{"[[plan#goals#later|x]]", "Plan#goals#later", "status: open\n\n###### Later\nRest.", nil},
		{"[[Plan#^rain]]", "Plan#^rain", "status: open\n\n- Rain ^rain\n  - in May", nil},
		{"[[Plan#^rain]] [[Plan#Later]]", "Plan", "status: open\n\n###### Later\nRest.\n\n…\n\n- Rain ^rain\n  - in May", nil},
		{"[[Plan#Later]] [[Plan#Goals]]", "Plan", "status: open\n\n##### Goals\nShip it.\n\n###### Later\nRest.", nil},
		{"[[Plan#Later]] [[Plan#Later]]", "Plan#Later", "status: open\n\n###### Later\nRest.", nil},
		{"[[Plan#Later]] [[Plan]]", "Plan", whole, nil},
		{"[[Plan]] [[Plan#Later]]", "Plan", whole, nil},
		{"[[Plan#]]", "Plan", whole, nil},
		{"[[Plan#Gaols]]", "Plan", whole, []prompt.Warning{
			{Ref: "[[Plan#Gaols]]", Message: `the note has no heading "Gaols", so all of it is pinned`},
		}},
		{"[[Plan#Later]] [[Plan#^none]]", "Plan", whole, []prompt.Warning{
			{Ref: "[[Plan#^none]]", Message: "the note has no block ^none, so all of it is pinned"},
		}},
	} {
		res := w.assemble(t, gather.Params{Text: c.text})
		head, text, _ := strings.Cut(res.System, "### [[")
		if !strings.HasPrefix(head, "## Notes pinned by user") {
			t.Fatalf("%s:\n%s", c.text, res.System)
		}
		want := c.title + "]] [id:plan]\n" + c.want + "\n---\n"
		if diff := cmp.Diff(want, text); diff != "" {
			t.Errorf("%s: %s", c.text, diff)
		}
		if diff := cmp.Diff(c.warnings, res.Report.Warnings); diff != "" {
			t.Errorf("%s: %s", c.text, diff)
		}
		if items := res.Report.Sections[0].Items; len(items) != 1 || items[0].Title != c.title {
			t.Errorf("%s: %+v", c.text, items)
		}
	}
	res := w.assemble(t, gather.Params{Text: "[[Plan#Goals]]", MentionedNoteIDs: []string{"plan"}})
	if !strings.Contains(res.System, "Intro.") {
		t.Errorf("a note that is pinned by its id is pinned as a whole:\n%s", res.System)
	}
}

// A note that a field refers to is a candidate of two sections. What is missing of it is
// said once.
func TestCTX5_APinnedNoteThatIsLinkedToo(t *testing.T) {
	w := newWorld(t)
	put(t, w, map[string]string{"Plan": planBody})
	w.mustType(t, entities.Type{Name: "Project", Fields: []entities.Field{{Name: "plan", Type: record.NoteRef}}})
	w.mustPut(t, entities.Entity{ID: "p", Type: "Project", Name: "Alpha", Fields: entities.Values{"plan": "plan"}})
	res := w.assemble(t, gather.Params{Text: "@Alpha [[Plan#Gaols]]"})
	if len(res.Report.Warnings) != 1 {
		t.Errorf("%+v", res.Report.Warnings)
	}
}

// A part is looked for in what the reader may see: neither a comment nor a private name
// in a heading is found, and what is private in a part is masked.
func TestCTX5_APartHidesNothingLess(t *testing.T) {
	w := newWorld(t)
	w.mustNote(t, notes.Draft{ID: "s", Title: "Nightjar", Private: true})
	put(t, w, map[string]string{"Plan": "Intro\n\n%%\n## Hidden\nsecret\n%%\n\n## With [[Nightjar]]\nShip.\n\n## Open\nAsk [[Nightjar]].\n"})
	for text, missing := range map[string]bool{"[[Plan#Hidden]]": true, "[[Plan#With Nightjar]]": true, "[[Plan#Open]]": false} {
		res := w.assemble(t, gather.Params{Text: text})
		if (len(res.Report.Warnings) == 1) != missing {
			t.Errorf("%s: %+v", text, res.Report.Warnings)
		}
		if strings.Contains(res.System, "Nightjar") || strings.Contains(res.System, "secret") || !strings.Contains(res.System, "(private)") {
			t.Errorf("%s:\n%s", text, res.System)
		}
	}
}

// The answer is far behind the beginning of the note, which is longer than what is shown.
func TestCTX21_ShowsWhatMatches(t *testing.T) {
	w := newWorld(t)
	w.mustNote(t, notes.Draft{ID: "s", Title: "Nightjar", Private: true})
	filler := strings.Repeat("We talked about the weather. ", 100)
	put(t, w, map[string]string{
		"Minutes": "# Minutes\n" + filler + "\n\n## Hardware\nThe load cell drifts on the roof, says [[Nightjar]].\n\n## Rest\n" + filler,
		"Short":   "A load cell is a spring.",
	})
	for _, audience := range []string{gather.Local, gather.Remote} {
		res := w.assemble(t, gather.Params{Text: "why does the load cell drift?", SearchNotes: 3, Audience: audience})
		shown := "[[Nightjar]]"
		if audience == gather.Remote {
			shown = "(private)"
		}
		for _, want := range []string{
			"## Notes found by search\n", "##### Minutes > Hardware\nThe load cell drifts on the roof, says " + shown + ".",
			"A load cell is a spring.",
		} {
			if !strings.Contains(res.System, want) {
				t.Errorf("%s: no %q in\n%s", audience, want, res.System)
			}
		}
		for _, item := range res.Report.Sections[0].Items {
			if (item.Cut != nil) != (item.ID == "minutes") || item.Chars > prompt.FoundChars+100 {
				t.Errorf("%s: %+v", audience, item)
			}
		}
	}
	for text, why := range map[string]string{
		"hi": "the message asks nothing", "zzzqqq": "no note is about the message",
	} {
		res := w.assemble(t, gather.Params{Text: text, SearchNotes: 3})
		if st := res.Report.Stages[1]; res.System != "" || st.Name != "search" || !st.Skipped || st.Why != why {
			t.Errorf("%s: %+v %q", text, st, res.System)
		}
	}
}

// TestCTX40_APinnedNoteThatIsTooLong: of a pinned note that is longer than its section shows, what answers the message is shown:
// the rows of a table with its head. Without a question, or without an answer, it is the beginning.
func TestCTX40_APinnedNoteThatIsTooLong(t *testing.T) {
	w := newWorld(t)
	body := "All our shops.\n\n| City | Opened |\n|---|---|\n"
	for i := range 400 {
		city := fmt.Sprintf("Town %d", i)
		if i == 333 {
			city = "Reykjavik"
		}
		body += fmt.Sprintf("| %s | %d |\n", city, 1600+i)
	}
	put(t, w, map[string]string{"Shops": body})
	for text, want := range map[string]string{
		"[[Shops]] when did Reykjavik open?": "| City | Opened |\n|---|---|\n…\n| Town 332 | 1932 |\n| Reykjavik | 1933 |\n| Town 334 | 1934 |\n…",
		"[[Shops]]":                          "All our shops.\n\n| City | Opened |\n|---|---|\n| Town 0 | 1600 |\n",
		"[[Shops]] what about xylophones?":   "All our shops.\n\n| City | Opened |\n|---|---|\n| Town 0 | 1600 |\n",
	} {
		res := w.assemble(t, gather.Params{Text: text})
		if !strings.Contains(res.System, want) {
			t.Errorf("%s: no %q in\n%s", text, want, res.System)
		}
		if it := res.Report.Sections[0].Items[0]; it.Cut == nil || it.Cut.Unit != prompt.Rows || it.Cut.Of != 400 || it.Cut.Kept != strings.Count(res.System, "| Town")+strings.Count(res.System, "| Reyk") || it.Chars > prompt.PinnedChars+200 {
			t.Errorf("%s: %+v, %v", text, it, it.Cut)
		}
	}
}

// TestCTX40_TheReportSaysHowMuchIsShown: the unit is that in which most of what is missing is counted. What stands at the end of a
// long journal is found there.
func TestCTX40_TheReportSaysHowMuchIsShown(t *testing.T) {
	list := func(line string, n int) (b string) {
		for i := range n {
			b += fmt.Sprintf(line, i) + "\n"
		}
		return b
	}
	day := "## Day\n\n" + strings.Repeat("We spoke about the weather and the harvest of the year. ", 40) + "\n\n"
	bodies := map[string]string{
		"Code":    "How the kiln starts.\n\n```sh\n" + list("step --number %d --of kiln", 300) + "```\n",
		"List":    "The kiln needs these:\n\n" + list("- [ ] brick number %d for the kiln", 300),
		"Open":    "# Kiln\n\n```sh\n" + list("step --number %d", 100) + "\n## Zeppelin\n\nIt landed in Friedrichshafen.\n",
		"Journal": strings.Repeat(day, 280) + "## Later\n\nThe zeppelin landed in Meersburg.\n",
		"Quote":   "Said of the kiln:\n\n" + list("> it burns for the %dth day and nobody knows why", 200),
		"Plain":   strings.Repeat("The kiln burns. ", 600),
	}
	w := newWorld(t)
	put(t, w, bodies)
	for title, want := range map[string]prompt.Extent{
		"Code": {Of: 300, Unit: prompt.Lines}, "List": {Of: 300, Unit: prompt.ListItems},
		"Quote": {Of: len([]rune(strings.TrimSpace(bodies["Quote"]))), Unit: prompt.Characters},
		"Plain": {Of: len(bodies["Plain"]) - 1, Unit: prompt.Characters},
	} {
		res := w.assemble(t, gather.Params{Text: "[[" + title + "]] which kiln?"})
		cut := res.Report.Sections[0].Items[0].Cut
		if cut == nil || cut.Of != want.Of || cut.Unit != want.Unit || cut.Kept < 1 || cut.Kept >= cut.Of {
			t.Errorf("%s: %v, want of %d %s", title, cut, want.Of, want.Unit)
		}
	}
	for text, found := range map[string]string{"Where did the zeppelin land, in Meersburg?": "landed in Meersburg", "[[Open]] zeppelin": "landed in Friedrichshafen"} {
		res := w.assemble(t, gather.Params{Text: text, SearchNotes: 2})
		if !strings.Contains(res.System, found) {
			t.Errorf("%s: no %q in\n%s", text, found, res.System)
		}
	}
}

// TestCTX44_AChosenLinkIsTold: a link that the rules lead to one of several files of a name is used, and the report names the others
// that the reader may see.
func TestCTX44_AChosenLinkIsTold(t *testing.T) {
	w := newWorld(t)
	for i, p := range []string{"Lighthouse.md", "Archive/Lighthouse.md", "Projects/Lighthouse.md", "Old/2024/Lighthouse.md", "Old/Deep/Er/Lighthouse.md", "A/24/Lighthouse.md", "B/24/Lighthouse.md", "Own/Lamp.md", "Lamp.md", "Alone.md"} {
		w.mustNote(t, notes.Draft{ID: fmt.Sprintf("f%d", i), Vault: "v", Path: p, Body: "of " + p, Private: strings.HasPrefix(p, "Own/")})
	}
	w.mustNote(t, notes.Draft{ID: "titled", Title: "Lighthouse", Body: "a title"})
	const more = "Lighthouse.md was taken, and there is also A/24/Lighthouse.md, B/24/Lighthouse.md, Archive/Lighthouse.md and 3 more; write the path to mean one of them"
	for _, c := range []struct{ text, shown, audience, warning string }{
		{"[[Lighthouse]]", "of Lighthouse.md", gather.Remote, more},
		{"[[lighthouse|x]] and [[Lighthouse]]", "of Lighthouse.md", gather.Remote, more},
		{"[[2024/Lighthouse]]", "of Old/2024/Lighthouse.md", gather.Remote, ""},
		{"[[24/Lighthouse]]", "of A/24/Lighthouse.md", gather.Remote, "A/24/Lighthouse.md was taken, and there is also B/24/Lighthouse.md; write the path to mean one of them"},
		{"[[Projects/Lighthouse.md]]", "of Projects/Lighthouse.md", gather.Remote, ""},
		{"[[Lamp]]", "of Lamp.md", gather.Remote, ""}, // the other is private
		{"[[Lamp]]", "of Lamp.md", gather.Local, "Lamp.md was taken, and there is also Own/Lamp.md; write the path to mean one of them"},
		{"[[Alone]]", "of Alone.md", gather.Remote, ""},
	} {
		res := w.assemble(t, gather.Params{Text: c.text, Audience: c.audience})
		if !strings.Contains(res.System, c.shown+"\n") {
			t.Errorf("%s: %s", c.text, res.System)
		}
		var got []string
		for _, warning := range res.Report.Warnings {
			got = append(got, warning.Message)
		}
		if said := strings.Join(got, "\n"); said != c.warning {
			t.Errorf("%s: %q", c.text, said)
		}
	}
}
