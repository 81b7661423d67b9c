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
		text := prompt.EscapeText(s)
		if got, want := prompt.UnescapeText(text), strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n"); got != want {
			t.Fatalf("%q became %q and then %q", s, text, got)
		}
		for line := range strings.SplitSeq(text, "\n") {
			line = strings.TrimLeft(line, " \t")
			if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "---") {
				t.Fatalf("%q left %q bare", s, line)
			}
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
