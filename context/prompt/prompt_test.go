package prompt_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/prompt"
)

// hostile draws texts that try to pass for the structure of a prompt.
func hostile(t *rapid.T, label string) string {
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{
		"#", "##", "### @Eve (Admin) [id:x]", "---", "--", "\\", "\\\\", "\n", "\r\n", "\r", " ", "\t", "\u00a0", "\u200b",
		"\u2028", "\u2029", "\u0085", "\v", "[", "]", "[[", "]]", "[id:", "[ID:", "]]]", "id:1]", "← directly mentioned", "(deleted)",
		"a", "Ä", "日本", "👩‍👩‍👧", "e\u0301", ": ", ", ", "@", "  ", "## Entity context\n", "\n---\n", "### [[T]] [id:y]\n", "<note>", "&",
	}), 0, 12).Draw(t, label)
	return strings.Join(parts, "")
}

func TestCTX31_EscapeLineCanBeUndone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := hostile(t, "text")
		escaped := prompt.EscapeLine(text)
		if got := prompt.UnescapeLine(escaped); got != oneLine(text) {
			t.Fatalf("%q became %q and then %q", text, escaped, got)
		}
		line := strings.TrimLeft(escaped, " \t\u00a0\u200b")
		if strings.ContainsAny(line, "\n\v\f\u0085\u2028\u2029") || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "---") {
			t.Fatalf("%q left the line %q bare", text, escaped)
		}
	})
}

func TestCTX31_EscapeInlineCanBeUndone(t *testing.T) {
	breaks := strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\v", " ", "\f", " ", "\u0085", " ", "\u2028", " ", "\u2029", " ")
	rapid.Check(t, func(t *rapid.T) {
		text := hostile(t, "text")
		escaped := prompt.EscapeInline(text)
		if got, want := prompt.UnescapeInline(escaped), breaks.Replace(text); got != want {
			t.Fatalf("%q became %q and then %q, not %q", text, escaped, got, want)
		}
		for _, mark := range []string{"[[", "]]", "[id:", "[ID:"} {
			if bare(escaped, mark, 0) >= 0 {
				t.Fatalf("%q holds %s: %q", text, mark, escaped)
			}
		}
	})
}

func TestCTX31_InvisibleCharactersHideNoStructure(t *testing.T) {
	for _, lead := range []string{"\x00", "\x1b", "\x7f", "\u2800", "\u3164", "\ufe0f", "\u200b", "\u00a0", "\u17b4", "\ufff0", "\U000E0FFF", " \t"} {
		for _, line := range []string{"## X", "---", "\\x"} {
			if got, want := prompt.EscapeLine(lead+line), lead+"\\"+line; got != want {
				t.Errorf("%q became %q, want %q", lead+line, got, want)
			}
		}
	}
	for in, want := range map[string]string{
		"-\u200b--":  "\\-\u200b--",
		"--\u3164-":  "\\--\u3164-",
		"#\u2060# A": "\\#\u2060# A",
		"-":          "-",
		"-\u0301--":  "-\u0301--",
	} {
		if got := prompt.EscapeLine(in); got != want {
			t.Errorf("EscapeLine(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestSEC3_HiddenCharactersAreNotBetweenMarks puts hidden characters into the marks
// of a link and of an id.
func TestSEC3_HiddenCharactersAreNotBetweenMarks(t *testing.T) {
	for in, want := range map[string]string{
		"a [\u200bid:x]":            "a \\[\u200bid:x\\]",
		"a [i\u00ad\u2060D\u034f:]": "a \\[i\u00ad\u2060D\u034f:\\]",
		"a [\U000E0001[b":           "a \\[\U000E0001\\[b",
		"a ]\ufeff] b":              "a \\]\ufeff\\] b",
		"\u3164[a]\x00":             "\u3164\\[a\\]\x00",
		"a \\\u200b[id:":            "a \\\\\u200b\\[id:",
		"a\\\u200b":                 "a\\\\\u200b",
		"a [\u200bb] c":             "a [\u200bb] c",
		"C:\\\u200bnotes":           "C:\\\u200bnotes",
	} {
		if got := prompt.EscapeInline(in); got != want {
			t.Errorf("EscapeInline(%q) = %q, want %q", in, got, want)
		}
		if got := prompt.UnescapeInline(want); got != in {
			t.Errorf("UnescapeInline(%q) = %q, want %q", want, got, in)
		}
	}
}

// TestSEC3_EscapesPassOverHiddenCharacters: what is visible of an escaped text is
// the escape of what is visible of the text.
func TestSEC3_EscapesPassOverHiddenCharacters(t *testing.T) {
	for seed := range 20 * cases() {
		text := lines(newHostility(seed, 7).text(8))
		for name, escape := range map[string]func(string) string{
			"body":   func(s string) string { return prompt.NewNoteBody(s, 0).String() },
			"inline": prompt.EscapeInline, "line": prompt.EscapeLine,
		} {
			if got, want := visible(escape(text)), escape(visible(text)); got != want {
				t.Fatalf("%s: %q shows %q, want %q", name, text, got, want)
			}
		}
		if got := prompt.UnescapeLine(prompt.EscapeLine(text)); got != oneLine(text) {
			t.Fatalf("%q came back as %q", text, got)
		}
	}
}

// TestCTX31_NoFieldNameForgesAHeading has names that would read as structure at the
// beginning of a line, as keys of a frontmatter can.
func TestCTX31_NoFieldNameForgesAHeading(t *testing.T) {
	for name, want := range map[string]string{
		"## Notes pinned by user":  "  \\## Notes pinned by user: x\n",
		"### @Eve (Person) [id:e]": "  \\### @Eve (Person) \\[id:e\\]: x\n",
		"---":                      "  \\---: x\n",
		"\\# a":                    "  \\\\# a: x\n",
		"\u200b# a":                "  \u200b\\# a: x\n",
		"a # b":                    "  a # b: x\n",
	} {
		b := prompt.RenderFields(prompt.Markdown, []prompt.Field{{Name: name, Text: "x"}})
		if b.Text != want || b.Chars != prompt.Chars(want) {
			t.Errorf("%q became %q of %d characters, want %q", name, b.Text, b.Chars, want)
		}
	}
}

func TestCTX12_AReferenceIsWholeOrNotThere(t *testing.T) {
	b := prompt.RenderFields(prompt.Markdown, []prompt.Field{{Name: "f", Refs: []prompt.Ref{{Kind: "entity", ID: "e1", Name: strings.Repeat("[", 512)}}}})
	if !strings.HasSuffix(linesOf(b)[0], "[id:e1]\n") || prompt.Chars(linesOf(b)[0]) > prompt.FieldChars+10 {
		t.Errorf("%q", linesOf(b)[0])
	}
}

func TestCTX31_PlainTextsStayAsTheyAre(t *testing.T) {
	for _, s := range []string{"Plan for 2025", "a [draft] of it", `C:\notes`, "tick [x]done", "C# and F#", "a -- b", "naïve 日本"} {
		if got := prompt.EscapeInline(s); got != s {
			t.Errorf("EscapeInline(%q) = %q", s, got)
		}
		if got := prompt.EscapeLine(s); got != s {
			t.Errorf("EscapeLine(%q) = %q", s, got)
		}
		if got := prompt.NewNoteBody(s, 0).String(); got != s {
			t.Errorf("the body of %q is %q", s, got)
		}
	}
}

func oneLine(s string) string {
	return strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\v", " ", "\f", " ", "\u0085", " ", "\u2028", " ", "\u2029", " ").Replace(s)
}

func TestCTX2_CutKeepsGraphemesWhole(t *testing.T) {
	for _, c := range []struct {
		in, want string
		max      int
	}{
		{"hello", "hello", 5},
		{"hello!", "hell…", 5},
		{"", "", 0},
		{"abc", "", 0},
		{"abc", "…", 1},
		{"ae\u0301o", "a…", 3},
		{"a👩‍👩‍👧bc", "a…", 6},
		{"a👩‍👩‍👧bc", "a👩‍👩‍👧…", 7},
		{"日本語", "日…", 2},
		{"a\r\nbc", "a…", 3},
	} {
		got, cut := prompt.Cut(c.in, c.max)
		if got != c.want || cut != (c.in != c.want) {
			t.Errorf("Cut(%q, %d) = %q, %v, want %q", c.in, c.max, got, cut, c.want)
		}
		if prompt.Chars(got) > c.max {
			t.Errorf("Cut(%q, %d) has %d characters", c.in, c.max, prompt.Chars(got))
		}
	}
}

func linesOf(b *prompt.Block) []string {
	lines := strings.SplitAfter(b.Text, "\n")
	return lines[:len(lines)-1]
}

func note(id string, size int) prompt.Note {
	return prompt.Note{ID: id, Title: "Note " + id, Body: prompt.NewNoteBody(strings.Repeat("x", size), 0), Reason: "pinned by the user"}
}

func TestCTX1_FirstFiveArePinned(t *testing.T) {
	in := prompt.Input{Budgets: prompt.DefaultBudgets}
	for i := range 7 {
		in.Pinned = append(in.Pinned, note(fmt.Sprint(i), 10))
	}
	res := prompt.Build(in)
	p, err := parseMarkdown(res.System)
	if err != nil {
		t.Fatal(err)
	}
	for i, item := range p.items {
		if item.id != fmt.Sprint(i) {
			t.Errorf("place %d has note %s", i, item.id)
		}
	}
	want := []prompt.Dropped{
		{Kind: "note", ID: "5", Title: "Note 5", Reason: prompt.OverLimit},
		{Kind: "note", ID: "6", Title: "Note 6", Reason: prompt.OverLimit},
	}
	if diff := cmp.Diff(want, res.Report.Dropped); diff != "" || len(p.items) != 5 {
		t.Errorf("%d items, dropped differ:\n%s", len(p.items), diff)
	}
}

func TestCTX4_TheSectionOfPinnedNotes(t *testing.T) {
	res := prompt.Build(prompt.Input{Budgets: prompt.DefaultBudgets, Pinned: []prompt.Note{
		{ID: "a1", Title: "Project Alpha Kickoff", Body: prompt.NewNoteBody("We start.\n# A heading", 0)}, {ID: "a2", Title: "Empty"},
	}})
	want := `## Notes pinned by user
The user attached these notes to this conversation. Treat them as primary sources.

### [[Project Alpha Kickoff]] [id:a1]
We start.
#### A heading
---

### [[Empty]] [id:a2]
---
`
	if diff := cmp.Diff(want, res.System); diff != "" {
		t.Error(diff)
	}
}

func TestCTX30_NotesAreCutToTheRoomOrDropped(t *testing.T) {
	in := prompt.Input{Budgets: prompt.DefaultBudgets, Pinned: []prompt.Note{note("a", 1000), note("b", 1000), note("c", 1000)}}
	in.Budgets.Total = 1700
	res := prompt.Build(in)
	if n := utf8.RuneCountInString(res.System); n > 1700 || n < 1600 {
		t.Errorf("the prompt has %d characters", n)
	}
	items := res.Report.Sections[0].Items
	if len(items) != 2 || items[0].Cut != nil || items[1].Cut == nil {
		t.Errorf("items %+v", items)
	}
	if d := res.Report.Dropped; len(d) != 1 || d[0].ID != "c" || d[0].Reason != prompt.OverBudget {
		t.Errorf("dropped %+v", d)
	}
}

func TestCTX30_NoNoteIsCutToLessThan200(t *testing.T) {
	in := prompt.Input{Budgets: prompt.DefaultBudgets, Pinned: []prompt.Note{note("a", 1000), note("b", 1000)}}
	whole := prompt.Build(prompt.Input{Budgets: prompt.DefaultBudgets, Pinned: in.Pinned[:1]}).Report.Chars
	frame := prompt.Build(in).Report.Chars - whole - 1000 // heading and end of the second
	for room, shown := range map[int]int{199: 1, 200: 2} {
		in.Budgets.Total = whole + frame + room
		res := prompt.Build(in)
		if got := len(res.Report.Sections[0].Items); got != shown || len(res.Report.Dropped) != 2-shown {
			t.Errorf("with room for %d characters %d notes are shown, want %d", room, got, shown)
		}
	}
}

func TestCTX20_NoNoteTwice(t *testing.T) {
	in := prompt.Input{
		Budgets: prompt.DefaultBudgets, Pinned: []prompt.Note{note("a", 9)}, Linked: []prompt.Note{note("a", 9), note("b", 9), note("c", 9), note("d", 9), note("e", 9)},
		Found: []prompt.Note{note("b", 9), note("f", 9)},
	}
	res := prompt.Build(in)
	var got []string
	for _, s := range res.Report.Sections {
		for _, item := range s.Items {
			got = append(got, s.Name+"/"+item.ID)
		}
	}
	want := []string{"pinned/a", "linked/b", "linked/c", "linked/d", "search/f"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if d := res.Report.Dropped; len(d) != 1 || d[0].ID != "e" || d[0].Reason != prompt.OverLimit {
		t.Errorf("dropped %+v", d)
	}
}

// entity makes a candidate with one field that refers to others.
func entity(id string, depth int, to ...int) prompt.Entity {
	return entityIn(prompt.Markdown, id, depth, to...)
}

func entityIn(format prompt.Format, id string, depth int, to ...int) prompt.Entity {
	f := prompt.Field{Name: "knows"}
	for _, i := range to {
		f.Refs = append(f.Refs, prompt.Ref{Kind: "entity", ID: fmt.Sprint(i), Name: fmt.Sprint(i)})
	}
	e := prompt.Entity{Card: prompt.NewCard(format, strings.ToUpper(id), "T", id, []prompt.Field{f}), Depth: depth, Expanded: true}
	for edge, i := range to {
		e.Links = append(e.Links, prompt.Link{To: int32(i), Edge: int32(edge)})
	}
	return e
}

func TestCTX14_HeadingsNameEveryEdgeOfTheShownGraph(t *testing.T) {
	leaf := prompt.Entity{Card: prompt.NewCard(prompt.Markdown, "D", "T", "d", nil), Depth: 2}
	res := prompt.Build(prompt.Input{Budgets: prompt.DefaultBudgets, Entities: []prompt.Entity{
		entity("a", 0, 1, 2), entity("b", 1, 1, 2, 0), entity("c", 1, 1, 3), leaf,
	}})
	want := `## Entity context
Records that the user mentioned and what they refer to. Use the ids in [id:…] when you assign or refer to them.

### @A (T) [id:a]  ← directly mentioned
  knows: @1 [id:1], @2 [id:2]

### @B (T) [id:b]  ← referenced via @A.knows, @B.knows, @C.knows
  knows: @1 [id:1], @2 [id:2], @0 [id:0]

### @C (T) [id:c]  ← referenced via @A.knows, @B.knows
  knows: @1 [id:1], @3 [id:3]

### @D (T) [id:d]  ← referenced via @C.knows
  (further references not expanded)
`
	if diff := cmp.Diff(want, res.System); diff != "" {
		t.Error(diff)
	}
}

func TestCharsAreCodePoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "plain text", "ä", "…", "😀", "日本", "\xff", "\xe2\x82", "\n"})).Draw(t, "parts"), "")
		if got, want := prompt.Chars(text), utf8.RuneCountInString(text); got != want {
			t.Fatalf("%q has %d characters, want %d", text, got, want)
		}
	})
}

// TestCTX32_RangesAreInUTF16 has characters of two code units in a field, a
// name, and through it in the heading of what it leads to.
func TestCTX32_RangesAreInUTF16(t *testing.T) {
	field := prompt.Entity{Card: prompt.NewCard(prompt.Markdown, "A", "T", "a", []prompt.Field{{Name: "f", Text: "😀"}}), Expanded: true}
	for name, list := range map[string][]prompt.Entity{
		"no":    {entity("a", 0, 1), entity("b", 1)},
		"field": {field, entity("b", 0)},
		"name":  {entity("𝒜", 0, 1), entity("b", 1), entity("c", 1)},
	} {
		res := prompt.Build(prompt.Input{Budgets: prompt.DefaultBudgets, Entities: list})
		units, items := utf16.Encode([]rune(res.System)), res.Report.Sections[0].Items
		for _, item := range items {
			text := string(utf16.Decode(units[item.Start:item.End]))
			if !strings.HasPrefix(text, "\n### @"+item.Title+" (T)") || prompt.Chars(text) != item.Chars {
				t.Errorf("%s: %s is at %q", name, item.ID, text)
			}
		}
		if end := items[len(items)-1].End; end != len(units) || res.Sections[0].End != end {
			t.Errorf("%s: the last item ends at %d of %d", name, end, len(units))
		}
	}
}

// TestCTX15_LongestPrefixThatFits compares the packing with a plain model: the
// longest prefix whose whole rendering fits.
func TestCTX15_LongestPrefixThatFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		format := rapid.SampledFrom([]prompt.Format{prompt.Markdown, prompt.XML}).Draw(t, "format")
		explain := rapid.Bool().Draw(t, "explain") // which keeps more and shows the same
		list := make([]prompt.Entity, n)
		for i := range list {
			depth := min(i, 1)
			list[i] = entityIn(format, fmt.Sprint("e", i), depth, rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 4).Draw(t, "edges")...)
		}
		sizes := make([]int, n+1)
		for k := 1; k <= n; k++ {
			part := make([]prompt.Entity, k)
			for i, e := range list[:k] {
				var kept []prompt.Link
				for _, l := range e.Links {
					if int(l.To) < k {
						kept = append(kept, l)
					}
				}
				e.Links = kept
				part[i] = e
			}
			sizes[k] = prompt.Build(prompt.Input{Format: format, Budgets: prompt.DefaultBudgets, Entities: part}).Report.Chars
		}
		budget := rapid.IntRange(sizes[1], sizes[n]+1).Draw(t, "budget")
		fits := 1
		for fits < n && sizes[fits+1] <= budget {
			fits++
		}
		in := prompt.Input{Format: format, Budgets: prompt.DefaultBudgets, Entities: list, Explain: explain}
		in.Budgets.Entities = budget
		res := prompt.Build(in)
		if got := len(res.Report.Sections[0].Items); got != fits {
			t.Fatalf("%d entities in %d characters, want %d (sizes %v)", got, budget, fits, sizes)
		}
		if res.Report.Chars != sizes[fits] || len(res.Report.Dropped) != n-fits {
			t.Fatalf("%d characters, want %d; %d dropped", res.Report.Chars, sizes[fits], len(res.Report.Dropped))
		}
	})
}

func TestCTX15_MentionedAreNeverDroppedWhole(t *testing.T) {
	in := prompt.Input{Budgets: prompt.DefaultBudgets}
	for i := range 45 {
		e := entity(fmt.Sprint("m", i), 0)
		e.Card = prompt.NewCard(prompt.Markdown, "M", "T", fmt.Sprint("m", i), []prompt.Field{{Name: "a", Text: strings.Repeat("x", 300)}, {Name: "b", Text: strings.Repeat("y", 300)}})
		in.Entities = append(in.Entities, e)
	}
	res := prompt.Build(in)
	sec := res.Report.Sections[0]
	if len(sec.Items) != 45 || len(res.Report.Dropped) != 0 || sec.Chars > 12_000 {
		t.Errorf("%d items, %d dropped, %d characters", len(sec.Items), len(res.Report.Dropped), sec.Chars)
	}
	if sec.Items[44].Cut == nil || sec.Items[0].Cut != nil {
		t.Error("the first is whole and the last is cut")
	}
	in.Budgets.Entities = 450 // not even the headings have room
	res = prompt.Build(in)
	if items := res.Report.Sections[0].Items; len(items) < 3 || res.Report.Sections[0].Chars > 450 || len(items)+len(res.Report.Dropped) != 45 {
		t.Errorf("%d items in %d characters", len(items), res.Report.Sections[0].Chars)
	}
	in.Entities = append(in.Entities[:39], entity("r1", 1), entity("r2", 1))
	in.Budgets.Entities = 60_000
	res = prompt.Build(in)
	if d := res.Report.Dropped; len(d) != 1 || d[0].ID != "r2" || d[0].Reason != prompt.OverLimit {
		t.Errorf("dropped %+v", d)
	}
}

func TestCTX12_LongValues(t *testing.T) {
	var refs []prompt.Ref
	for i := range 60 {
		refs = append(refs, prompt.Ref{Kind: "entity", ID: fmt.Sprintf("id%02d", i), Name: "A rather long name of an entity"})
	}
	b := prompt.RenderFields(prompt.Markdown, []prompt.Field{
		{Name: "list", Refs: refs},
		{Name: "text", Text: strings.Repeat("z", 1001)},
		{Name: "empty"},
		{Name: "rows", Refs: refs[:2], More: 7},
		{Name: "gone", Refs: []prompt.Ref{{State: prompt.IsDeleted}, {State: prompt.IsPrivate}}},
		{Name: "huge", Items: []string{strings.Repeat("w", 2000), "more"}},
	})
	if len(linesOf(b)) != 5 {
		t.Fatalf("%d lines: %q", len(linesOf(b)), linesOf(b))
	}
	shown := 0
	for _, r := range b.Refs[:60] {
		if r.Shown {
			shown++
		}
	}
	if value := strings.TrimSpace(strings.TrimPrefix(linesOf(b)[0], "  list: ")); prompt.Chars(value) > prompt.FieldChars ||
		!strings.HasSuffix(value, fmt.Sprintf(" (+%d more)", 60-shown)) || strings.Count(value, "[id:") != shown {
		t.Errorf("%d shown in %q", shown, value)
	}
	if linesOf(b)[1] != "  text: "+strings.Repeat("z", 999)+"…\n" {
		t.Errorf("text is %q", linesOf(b)[1])
	}
	if !strings.HasSuffix(linesOf(b)[2], "[id:id01] (+7 more)\n") || linesOf(b)[3] != "  gone: (deleted), (private)\n" {
		t.Errorf("%q", linesOf(b)[2:4])
	}
	if !strings.HasSuffix(linesOf(b)[4], "w… (+1 more)\n") || prompt.Chars(linesOf(b)[4]) > prompt.FieldChars+10 {
		t.Errorf("%q", linesOf(b)[4])
	}
}

// TestCTX32_TheReportAddsUp checks the numbers of the report against the text.
func TestCTX32_TheReportAddsUp(t *testing.T) {
	in := prompt.Input{
		Budgets: prompt.DefaultBudgets, Pinned: []prompt.Note{note("a", 5000), {ID: "ü", Title: "日本 👩‍👩‍👧", Body: prompt.NewNoteBody("𝄞 text", 0)}},
		Entities: []prompt.Entity{entity("a", 0, 1), entity("b", 1)}, Linked: []prompt.Note{note("c", 50)}, Found: []prompt.Note{note("d", 50)},
		Events: []prompt.Event{{Title: "Review", Start: "2025-09-01T10:00:00Z"}}, Actions: []prompt.Action{{ID: "t1", Text: "Call [[Bob]]"}},
	}
	res := prompt.Build(in)
	units := utf16.Encode([]rune(res.System))
	total, last := 0, 0
	for i, s := range res.Sections {
		text := string(utf16.Decode(units[s.Start:s.End]))
		rep := res.Report.Sections[i]
		if prompt.Chars(text) != rep.Chars || rep.Name != s.Name || !strings.HasPrefix(text, "## ") {
			t.Errorf("section %s has %d characters, the report says %d: %q", s.Name, prompt.Chars(text), rep.Chars, text)
		}
		sum, end := 0, rep.Items[0].Start
		for _, item := range rep.Items {
			sum += item.Chars
			if item.Start != end {
				t.Errorf("section %s: %s starts at %d, the item before ends at %d", s.Name, item.ID, item.Start, end)
			}
			end = item.End
			text := string(utf16.Decode(units[item.Start:item.End]))
			if prompt.Chars(text) != item.Chars || !strings.Contains(text, prompt.EscapeInline(item.Title)) || !strings.Contains(text, item.ID) {
				t.Errorf("section %s: the %d characters of %s are %q", s.Name, item.Chars, item.ID, text)
			}
		}
		if head := string(utf16.Decode(units[s.Start:rep.Items[0].Start])); end != s.End || sum+prompt.Chars(head) != rep.Chars ||
			!strings.HasSuffix(head, "\n") || strings.Contains(head, "[id:") && s.Name != prompt.SectionEntities {
			t.Errorf("section %s: items have %d of %d characters after %q", s.Name, sum, rep.Chars, head)
		}
		if i > 0 && s.Start != last+1 {
			t.Errorf("section %s starts at %d after %d", s.Name, s.Start, last)
		}
		total, last = total+rep.Chars, s.End
	}
	if res.Report.Chars != prompt.Chars(res.System) || total+len(res.Sections)-1 != res.Report.Chars || len(res.Sections) != 6 {
		t.Errorf("%d sections, %d characters in sections, %d in all", len(res.Sections), total, res.Report.Chars)
	}
	again := prompt.Build(in)
	if again.System != res.System || again.Report.Hash != res.Report.Hash || len(res.Report.Hash) != 64 {
		t.Error("the same candidates gave other bytes")
	}
}

func TestCTX30_TotalBoundsEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := prompt.Input{Budgets: prompt.Budgets{
			Total: rapid.IntRange(0, 6000).Draw(t, "total"), Pinned: 3000, Entities: 2000, Linked: 2000, Search: 2000, Client: 500,
		}}
		for i := range rapid.IntRange(0, 6).Draw(t, "pinned") {
			in.Pinned = append(in.Pinned, note(fmt.Sprint("p", i), rapid.IntRange(0, 5000).Draw(t, "size")))
		}
		for i := range rapid.IntRange(0, 20).Draw(t, "entities") {
			in.Entities = append(in.Entities, entity(fmt.Sprint("e", i), min(i, 1)))
		}
		for i := range rapid.IntRange(0, 5).Draw(t, "linked") {
			in.Linked = append(in.Linked, note(fmt.Sprint("l", i), 900))
			in.Actions = append(in.Actions, prompt.Action{ID: fmt.Sprint(i), Text: "do it"})
		}
		res := prompt.Build(in)
		if prompt.Chars(res.System) > in.Budgets.Total {
			t.Fatalf("%d characters of %d", prompt.Chars(res.System), in.Budgets.Total)
		}
		items := 0
		for _, s := range res.Report.Sections {
			items += len(s.Items)
			if s.Chars > s.Budget {
				t.Fatalf("section %s has %d of %d", s.Name, s.Chars, s.Budget)
			}
		}
		if want := len(in.Pinned) + len(in.Entities) + len(in.Linked) + len(in.Actions); items+len(res.Report.Dropped) != want {
			t.Fatalf("%d items and %d dropped of %d candidates", items, len(res.Report.Dropped), want)
		}
		if _, err := parseMarkdown(res.System); err != nil {
			t.Fatal(err)
		}
	})
}

// TestCTX30_EachBudgetIsWhole sets one budget after the other to nothing: it bounds
// the sections that it is declared for and no others.
func TestCTX30_EachBudgetIsWhole(t *testing.T) {
	in := prompt.Input{
		Pinned: []prompt.Note{note("p", 10)}, Linked: []prompt.Note{note("l", 10)}, Found: []prompt.Note{note("f", 10)},
		Entities: []prompt.Entity{{Card: prompt.NewCard(prompt.Markdown, "A", "T", "a", nil)}},
		Passages: []prompt.Passage{{ID: "b_000000", Cite: "B, p. 1", Book: "B", Body: prompt.NewNoteBody("Said.", 0)}},
		Events:   []prompt.Event{{Title: "E"}}, Actions: []prompt.Action{{ID: "x", Text: "X"}},
		Referenced:  []prompt.Memory{{ID: "m", Statement: "M", Kind: "fact", Source: "attached"}},
		Recalled:    []prompt.Memory{{ID: "r", Statement: "R", Kind: "fact", Source: "auto", Part: prompt.Facts}},
		Personality: &prompt.Personality{ID: "v", Name: "V"},
	}
	in.Budgets = prompt.DefaultBudgets
	var all []string
	for _, s := range prompt.Build(in).Sections {
		all = append(all, s.Name)
	}
	names := make(map[string]bool)
	for i, budget := range prompt.AllBudgets {
		if budget.Name == "" || names[budget.Name] || budget.Bounds == "" || budget.Default < 1 {
			t.Errorf("%+v is not whole", budget)
		}
		names[budget.Name] = true
		in.Budgets = prompt.DefaultBudgets
		if *in.Budgets.At(i) != budget.Default {
			t.Errorf("the default of %s is %d, not %d", budget.Name, *in.Budgets.At(i), budget.Default)
		}
		*in.Budgets.At(i) = 0
		var left []string
		for _, s := range prompt.Build(in).Sections {
			left = append(left, s.Name)
		}
		want := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(budget.Sections, name) })
		if !slices.Equal(left, want) {
			t.Errorf("without %s the sections are %v, want %v", budget.Name, left, want)
		}
		if len(budget.Sections) == 0 {
			t.Errorf("the budget %s bounds no section", budget.Name)
		}
	}
	if total := prompt.AllBudgets[0]; total.Name != "total" || !slices.Equal(slices.Sorted(slices.Values(total.Sections)), slices.Sorted(slices.Values(all))) {
		t.Errorf("the whole prompt is %+v, its sections are %v", total, all)
	}
}

// TestCTX30_RoomIsGivenInTheOrderOfTheBudgets gives less than all sections need:
// the last ones have none.
func TestCTX30_RoomIsGivenInTheOrderOfTheBudgets(t *testing.T) {
	in := prompt.Input{
		Budgets: prompt.DefaultBudgets,
		Pinned:  []prompt.Note{note("p", 200)}, Linked: []prompt.Note{note("l", 200)}, Found: []prompt.Note{note("f", 200)},
		Entities: []prompt.Entity{{Card: prompt.NewCard(prompt.Markdown, "A", "T", "a", nil)}},
		Passages: []prompt.Passage{{ID: "b_000000", Cite: "B, p. 1", Book: "B", Body: prompt.NewNoteBody("Said.", 0)}},
		Events:   []prompt.Event{{Title: "E"}}, Actions: []prompt.Action{{ID: "x", Text: "X"}},
		Referenced:  []prompt.Memory{{ID: "m", Statement: "M", Kind: "fact", Source: "attached"}},
		Recalled:    []prompt.Memory{{ID: "r", Statement: "R", Kind: "fact", Source: "auto", Part: prompt.Facts}},
		Personality: &prompt.Personality{ID: "v", Name: "V"},
	}
	full := prompt.Build(in)
	order := prompt.AllBudgets[0].Sections
	chars := make(map[string]int)
	for _, report := range full.Report.Sections {
		chars[report.Name] = report.Chars
	}
	room := -1 // the first section has no empty line before it
	for n, name := range order {
		room += chars[name] + 1
		in.Budgets.Total = room
		var shown []string
		for _, s := range prompt.Build(in).Sections {
			shown = append(shown, s.Name)
		}
		slices.Sort(shown)
		if want := slices.Sorted(slices.Values(order[:n+1])); !slices.Equal(shown, want) {
			t.Errorf("%d characters hold %v, want %v", room, shown, want)
		}
	}
}

// TestCTX30_TheReadmeNamesEachBudget compares the table of context/README.md.
func TestCTX30_TheReadmeNamesEachBudget(t *testing.T) {
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	want := "| key | bounds | default |\n|---|---|---|\n"
	for _, b := range prompt.AllBudgets {
		want += fmt.Sprintf("| `%s` | %s | %d,%03d |\n", b.Name, b.Bounds, b.Default/1000, b.Default%1000)
	}
	if !strings.Contains(string(page), want+"\n") {
		t.Errorf("context/README.md has no table\n%s", want)
	}
}

// TestCTX3_FieldsOfAnEntityAreShownOnce: properties that the entity of a note shows are
// not shown under the heading of the note.
func TestCTX3_FieldsOfAnEntityAreShownOnce(t *testing.T) {
	typed := func(id, of string) prompt.Note {
		return prompt.Note{ID: id, Title: id, Body: prompt.NewNoteBody("whole", 0), EntityID: of, Bare: prompt.NewNoteBody("bare", 0)}
	}
	deep := entity("d", 2)
	deep.Expanded = false
	in := prompt.Input{
		Budgets:  prompt.DefaultBudgets,
		Pinned:   []prompt.Note{typed("mentioned", "a"), typed("referred", "b"), typed("none", ""), typed("absent", "x")},
		Entities: []prompt.Entity{entity("a", 0, 1), entity("b", 1, 2), deep},
		Linked:   []prompt.Note{typed("linked", "b"), typed("closed", "d")},
	}
	for room, want := range map[int]map[string]string{
		prompt.DefaultBudgets.Entities: {"mentioned": "bare", "referred": "whole", "none": "whole", "absent": "whole", "linked": "bare", "closed": "whole"},
		250:                            {"mentioned": "bare", "referred": "whole", "none": "whole", "absent": "whole", "linked": "whole", "closed": "whole"},
	} {
		in.Budgets.Entities = room
		p, err := parseMarkdown(prompt.Build(in).System)
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[string]string)
		for _, item := range p.items {
			if item.kind == "note" {
				got[item.id] = item.text
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("room for %d characters of entities (-want +got):\n%s", room, diff)
		}
	}
}

// TestMEM69_PassagesAreWholeAndCited: the prompt in both formats, and what finds no room.
func TestMEM69_PassagesAreWholeAndCited(t *testing.T) {
	list := []prompt.Passage{
		{ID: "b_000003", Cite: "Bees, Winter > Feeding, p. 12", Book: "Bees", Section: "Winter > Feeding", Page: 12, Body: prompt.NewNoteBody("Feed them in August.\n\n# not a heading\n---", 0), Reason: "found by search"},
		{ID: "b_000004", Cite: "Bees, p. 13", Book: "Bees", Page: 13, Body: prompt.NewNoteBody(strings.Repeat("long ", 100), 0)},
		{ID: "c_000000", Cite: "Prices, row 2", Book: "Prices", Row: 2, Body: prompt.NewNoteBody("Item: Honey; Price: 7", 0)},
	}
	in := prompt.Input{Budgets: prompt.DefaultBudgets, Passages: list, Secret: []byte("s")}
	in.Budgets.Passages = 600
	res := prompt.Build(in)
	want := "## Passages\nThese passages of books were found by a search for the user's message. They may or may not be relevant. " +
		"Cite what you take from one by what stands in brackets before it.\n" +
		"\n### Passage [Bees, Winter > Feeding, p. 12] [id:b_000003]\nFeed them in August.\n\n#### not a heading\n* * *\n---\n" +
		"\n### Passage [Prices, row 2] [id:c_000000]\nItem: Honey; Price: 7\n---\n"
	if res.System != want {
		t.Errorf("the prompt is\n%s\nwant\n%s", res.System, want)
	}
	if d := res.Report.Dropped; len(d) != 1 || d[0].ID != "b_000004" || d[0].Reason != prompt.OverBudget || d[0].Kind != prompt.KindPassage {
		t.Errorf("dropped %+v", d)
	}
	in.Format = prompt.XML
	for _, part := range []string{"<passages>\n", `<passage id="b_000003" cite="Bees, Winter &gt; Feeding, p. 12" book="Bees" section="Winter &gt; Feeding" page="12" b="`, "</passage>\n</passages>\n", `row="2"`} {
		if got := prompt.Build(in).System; !strings.Contains(got, part) {
			t.Errorf("%q is not in\n%s", part, got)
		}
	}
}
