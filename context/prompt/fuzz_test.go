package prompt_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/prompt"
)

// FuzzEscape undoes both escapes and looks for structure that got through.
func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "# a\n---\n\\b", "[[x]] [id:1]", "a\r\n\u2028#b", `\\[`, "\u200b---"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			t.Skip()
		}
		line := prompt.EscapeLine(s)
		if got := prompt.UnescapeLine(line); got != oneLine(s) {
			t.Fatalf("%q became %q and then %q", s, line, got)
		}
		if start := strings.TrimLeft(line, " \t"); strings.HasPrefix(start, "#") || strings.HasPrefix(start, "---") {
			t.Fatalf("%q left %q bare", s, line)
		}
		inline := prompt.EscapeInline(s)
		if got := prompt.UnescapeInline(inline); got != oneLine(s) {
			t.Fatalf("%q became %q and then %q", s, inline, got)
		}
		if strings.ContainsAny(inline, "\n\r") || bare(inline, "[[", 0) >= 0 || bare(inline, "[id:", 0) >= 0 {
			t.Fatalf("%q left %q bare", s, inline)
		}
		for _, max := range []int{0, 1, 2, 7} {
			if cut, _ := prompt.Cut(s, max); prompt.Chars(cut) > max {
				t.Fatalf("Cut(%q, %d) = %q", s, max, cut)
			}
		}
	})
}
