package term_test

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

	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

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
		if got := term.Clean(c.in); got != c.want {
			t.Errorf("clean(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	if got := term.CleanLines("a\r\n\tb\x1b\rc"); got != "a\n\tb␛ c" {
		t.Errorf("cleanLines: %q", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := term.Clean(string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")))
		if i := strings.IndexFunc(s, func(r rune) bool {
			return unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
		}); i >= 0 || !utf8.ValidString(s) {
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
		got := (term.Line{term.Text(c.in)}).Fit(c.n)
		if s := (&term.Screen{}).Render(got); s != c.want {
			t.Errorf("%q in %d: %q, want %q", c.in, c.n, s, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		l := term.Line{term.Text(rapid.String().Draw(t, "a")), term.Styled(term.Strong, rapid.String().Draw(t, "b"))}
		n := rapid.IntRange(0, 40).Draw(t, "n")
		// Two spans may join into one grapheme, which is then narrower than both.
		if w := l.Fit(n).Width(); w > n {
			t.Fatalf("%d columns of %d", w, n)
		}
	})
}

func TestTable_FitsTheTerminalAndKeepsColumns(t *testing.T) {
	tbl := &term.Table{Head: []string{"name", "n"}, Right: []int{1}, Indent: 2}
	tbl.Add("若葉ロードセル", "7")
	tbl.Add("Zürich", "1,234")
	want := "  name                n\n  若葉ロードセル      7\n  Zürich          1,234\n"
	if got := drawnIn(0, tbl.Draw); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
	tbl.Add(strings.Repeat("wide ", 40), "5")
	for width := 20; width < 90; width += 7 {
		for l := range strings.Lines(drawnIn(width, tbl.Draw)) {
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
		l := term.Bar(c.part, c.whole, 8)
		if got := (&term.Screen{}).Render(l); got != c.want || l.Width() != 8 {
			t.Errorf("%d of %d: %q, want %q", c.part, c.whole, got, c.want)
		}
	}
}

func TestWrapSpans_KeepsWordsWhole(t *testing.T) {
	in := term.Line{term.Text("The roof"), term.Styled(term.Marked, "top"), term.Text(" drift, seen in May")}
	var got []string
	for _, l := range term.WrapSpans(in, 12) {
		got = append(got, (&term.Screen{}).Render(l))
	}
	if want := []string{"The rooftop", "drift, seen", "in May"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[a-z ]{0,60}`).Draw(t, "s")
		n := rapid.IntRange(1, 30).Draw(t, "n")
		var back []string
		for _, l := range term.WrapSpans(term.Line{term.Text(s)}, n) {
			out := (&term.Screen{}).Render(l)
			if term.Columns(out) > n && strings.ContainsRune(strings.TrimSpace(out), ' ') {
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
	s := &term.Screen{Writer: &b}
	if err := s.JSON(in); err != nil {
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
		term.Number(0): "0", term.Number(999): "999", term.Number(1000): "1,000", term.Number(-1234567): "-1,234,567",
		term.Count(1, "entity"): "1 entity", term.Count(2, "entity"): "2 entities", term.Count(0, "note"): "0 notes", term.Count(3, "way"): "3 ways",
		term.Size(uint64(512)): "512 B", term.Size(int64(1536)): "1.5 KiB", term.Size(int64(300 << 30)): "300 GiB",
		term.Millis(0.004): "4 µs", term.Millis(0.25): "0.2 ms", term.Millis(12.4): "12 ms", term.Millis(1234): "1.23 s",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// drawnIn returns what fn draws on a screen of the given width, 0 for a pipe.
func drawnIn(width int, fn func(s *term.Screen)) string {
	var b bytes.Buffer
	fn(&term.Screen{Writer: &b, Width: width, Terminal: width > 0})
	return b.String()
}
