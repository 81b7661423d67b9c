package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/graph"
)

// drawn returns what fn draws on a screen of the given width, 0 for a pipe.
func drawn(width int, fn func(s *screen)) string {
	var b bytes.Buffer
	fn(&screen{Writer: &b, width: width, terminal: width > 0})
	return b.String()
}

func TestClean_NothingSteersTheTerminal(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain", "plain"},
		{"a\nb\tc\rd", "a b c d"},
		{"\x1b[31mred", "␛[31mred"},
		{"bell\a null\x00 del\x7f", "bell␇ null␀ del␡"},
		{"\u009b2J", "\ufffd2J"},
		{"\u202egnp", "\ufffdgnp"},
		{"bad \xff byte", "bad \ufffd byte"},
		{"日本 été עברית 👩‍👩‍👧", "日本 été עברית 👩‍👩‍👧"},
	} {
		if got := clean(c.in); got != c.want {
			t.Errorf("clean(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	if got := cleanLines("a\r\n\tb\x1b\rc"); got != "a\n\tb␛ c" {
		t.Errorf("cleanLines: %q", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := clean(string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")))
		if i := strings.IndexFunc(s, func(r rune) bool { return unicode.IsControl(r) || turnsDirection(r) }); i >= 0 || !utf8.ValidString(s) {
			t.Fatalf("%q", s)
		}
	})
}

func TestFit_CutsBetweenGraphemesAtTheWidth(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"short", 5, "short"},
		{"longer", 5, "long…"},
		{"日本語", 6, "日本語"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日…"},
		{"👩‍👩‍👧👩‍👩‍👧x", 4, "👩‍👩‍👧…"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"any", 0, ""},
	} {
		got := (line{text(c.in)}).fit(c.n)
		if s := (&screen{}).render(got); s != c.want {
			t.Errorf("%q in %d: %q, want %q", c.in, c.n, s, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		l := line{text(rapid.String().Draw(t, "a")), styled(strong, rapid.String().Draw(t, "b"))}
		n := rapid.IntRange(0, 40).Draw(t, "n")
		// Two spans may join into one grapheme, which is then narrower than both.
		if w := l.fit(n).width(); w > n {
			t.Fatalf("%d columns of %d", w, n)
		}
	})
}

func TestTable_FitsTheTerminalAndKeepsColumns(t *testing.T) {
	tbl := &table{head: []string{"name", "n"}, right: []int{1}, indent: 2}
	tbl.add("若葉ロードセル", "7")
	tbl.add("Zürich", "1,234")
	want := "  name                n\n  若葉ロードセル      7\n  Zürich          1,234\n"
	if got := drawn(0, tbl.draw); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
	tbl.add(strings.Repeat("wide ", 40), "5")
	for width := 20; width < 90; width += 7 {
		for l := range strings.Lines(drawn(width, tbl.draw)) {
			if w := uniseg.StringWidth(strings.TrimSuffix(l, "\n")); w > width {
				t.Errorf("%d columns on a terminal of %d: %q", w, width, l)
			}
		}
	}
}

func TestBar(t *testing.T) {
	for _, c := range []struct {
		part, whole int
		want        string
	}{
		{0, 100, "········"},
		{1, 100_000, "▏·······"},
		{50, 100, "████····"},
		{100, 100, "████████"},
		{500, 100, "████████"},
		{3, 0, "▏·······"},
	} {
		l := bar(c.part, c.whole, 8)
		if got := (&screen{}).render(l); got != c.want || l.width() != 8 {
			t.Errorf("%d of %d: %q, want %q", c.part, c.whole, got, c.want)
		}
	}
}

func TestMark_RangesAreUTF16(t *testing.T) {
	got := mark("𝛼 drift", [][2]int{{3, 8}, {6, 7}, {40, 50}})
	want := line{{"𝛼 ", normal}, {"drift", marked}, {"", normal}}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestWrapSpans_KeepsWordsWhole(t *testing.T) {
	in := line{text("The roof"), styled(marked, "top"), text(" drift, seen in May")}
	var got []string
	for _, l := range wrapSpans(in, 12) {
		got = append(got, (&screen{}).render(l))
	}
	if want := []string{"The rooftop", "drift, seen", "in May"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[a-z ]{0,60}`).Draw(t, "s")
		n := rapid.IntRange(1, 30).Draw(t, "n")
		var back []string
		for _, l := range wrapSpans(line{text(s)}, n) {
			out := (&screen{}).render(l)
			if columns(out) > n && strings.ContainsRune(strings.TrimSpace(out), ' ') {
				t.Fatalf("%q is wider than %d", out, n)
			}
			back = append(back, out)
		}
		if got, want := strings.Fields(strings.Join(back, " ")), strings.Fields(s); !slices.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}

func TestJSON_ControlsAreEscapedAndMeanTheSame(t *testing.T) {
	in := map[string]string{"a": "\u009b31m \u202e \x7f <&> 日本"}
	var b bytes.Buffer
	s := &screen{Writer: &b}
	if err := s.json(in); err != nil {
		t.Fatal(err)
	}
	if want := `{"a":"\u009b31m \u202e \u007f <&> 日本"}` + "\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	var back map[string]string
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || back["a"] != in["a"] {
		t.Errorf("%q, %v", back, err)
	}
}

func TestNumbers(t *testing.T) {
	for got, want := range map[string]string{
		number(0): "0", number(999): "999", number(1000): "1,000", number(-1234567): "-1,234,567",
		count(1, "entity"): "1 entity", count(2, "entity"): "2 entities", count(0, "note"): "0 notes", count(3, "way"): "3 ways",
		size(uint64(512)): "512 B", size(int64(1536)): "1.5 KiB", size(int64(300 << 30)): "300 GiB",
		millis(0.004): "4 µs", millis(0.25): "0.2 ms", millis(12.4): "12 ms", millis(1234): "1.23 s",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A report draws every item exactly once, whatever its edges are.
func TestCTX32_TheWalkIsDrawnWhole(t *testing.T) {
	items := []prompt.Item{
		{Kind: prompt.KindEntity, ID: "a", Title: "Alice", Chars: 1503},
		{Kind: prompt.KindEntity, ID: "b", Title: "Bo", Chars: 20, Depth: 1, Cut: true, Via: []prompt.Edge{{From: "a", Field: "boss"}, {From: "b", Field: "mentor"}, {From: "c", Field: "x"}, {From: "c", Field: "y"}, {From: "c", Field: "z"}}},
		{Kind: prompt.KindEntity, ID: "c", Title: "Core", Chars: 7, Depth: 2, Via: []prompt.Edge{{From: "b", Field: "team"}}},
		{Kind: prompt.KindEntity, ID: "d", Title: "Dora", Chars: 8, Depth: 1, Via: []prompt.Edge{{From: "gone", Field: "of"}}},
	}
	got := drawn(0, func(s *screen) { drawTree(s, "", walkOf(items)) })
	want := `@Alice  1,503
└─ boss → @Bo  20  cut
   │  also via @Bo.mentor ↺, @Core.x ↺, @Core.y ↺, @Core.z ↺
   └─ team → @Core  7
of → @Dora  8
`
	if got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}

func TestInspectGraph_NamesCantBreakTheDrawing(t *testing.T) {
	sub := &graph.Subgraph{
		Nodes: []graph.Vertex{{ID: "a", Kind: "entity", Name: "A \"quoted\" \\ name\n#1", Type: "T"}, {ID: "n", Kind: "note", Name: "<b>", Depth: 1}},
		Edges: []graph.Arc{{From: "a", To: "n", Field: `f"x`}, {From: "a", To: "a", Field: "self"}},
	}
	if got := drawn(0, func(s *screen) { drawSubgraph(s, sub) }); !strings.Contains(got, `└─ f"x → [[<b>]]`) || !strings.Contains(got, "self →  itself") || strings.Contains(got, "name\n#1") {
		t.Errorf("tree:\n%s", got)
	}
}

func TestQuoted(t *testing.T) {
	for in, want := range map[string]string{
		"": "''", "Kickoff": "Kickoff", "two words": "'two words'", "it's": `'it'\''s'`, "$(rm)": "'$(rm)'", "若葉": "若葉",
	} {
		if got := quoted(in); got != want {
			t.Errorf("quoted(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	methods := []string{"notes.get", "notes.search", "entities.get", "context.assemble"}
	for in, want := range map[string][]string{
		"notes.serch": {"notes.search"}, "assemble": {"context.assemble"}, "nothing.like.it": nil, "Notes.Get": {"notes.get"},
	} {
		if got := nearest(in, methods); !slices.Equal(got, want) {
			t.Errorf("nearest(%q) = %v, want %v", in, got, want)
		}
	}
}
