package background_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/chat/background"
	"github.com/ctxd/ctxd/entities/text"
)

func TestCHAT14_TheFirstParagraphOfProse(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"plain":                  {"One line.", "One line."},
		"two lines":              {"One line\nand another.\n\nMore.", "One line and another."},
		"frontmatter":            {"---\ntitle: X\nabstract: No.\n---\n\nIt begins here.", "It begins here."},
		"heading":                {"# Title\n\n## Part\nIt begins here.", "It begins here."},
		"setext":                 {"Title\n=====\n\nIt begins here.", "It begins here."},
		"code":                   {"```go\nfunc main() {}\n```\n\n~~~\nmore\n~~~\nIt begins here.", "It begins here."},
		"table":                  {"| a | b |\n|---|---|\n| 1 | 2 |\n\nIt begins here.", "It begins here."},
		"rule":                   {"***\n\n---\n\nIt begins here.", "It begins here."},
		"image":                  {"![a dog](dog.png)\n\n![[cat.png]]\n\n![[cat.png|300]]\n\nIt begins here.", "It begins here."},
		"image of a reference":   {"![a dog][dog]\n\nIt begins here.", "It begins here."},
		"image with brackets":    {"![a](x(1).png) It begins here.", "It begins here."},
		"badge":                  {"[![build](b.svg)](https://example.com)\n\nIt begins here.", "It begins here."},
		"embedded note":          {"![[Other]]\n\nIt begins here.", "It begins here."},
		"image in a sentence":    {"See ![the dog](dog.png) run.", "See run."},
		"image that never ends":  {"See ![the dog run.", "See ![the dog run."},
		"HTML image":             {"<img src=\"x.png\" alt=\"x\">\n\nIt begins here.", "It begins here."},
		"comment":                {"<!-- to do -->\n\nIt begins here.", "It begins here."},
		"comment of a note app":  {"%% to do %%\n\nIt begins here.", "It begins here."},
		"tags":                   {"#plan #work/now\n\nIt begins here.", "It begins here."},
		"link definition":        {"[x]: https://example.com\n\n[^1]: a note\n\nIt begins here.", "It begins here."},
		"wikilink":               {"See [[Plan]] and [[Plan#Goals|the goals]].", "See Plan and the goals."},
		"Markdown link":          {"See [the plan](plan.md) and `code`.", "See the plan and code."},
		"marks":                  {"It is **very** _good_ ~~bad~~.", "It is very good bad."},
		"quote":                  {"> It was said\n> like this.\n\nMore.", "It was said like this."},
		"list, then a paragraph": {"- one\n- two\n\nIt begins here.", "It begins here."},
		"list alone":             {"# L\n\n- [ ] buy milk\n- two", "buy milk"},
		"numbered list alone":    {"1. first\n2. second", "first"},
		"headings alone":         {"# One\n\n## Two\n", ""},
		"code alone":             {"```\nx := 1\n```\n", ""},
		"code that never ends":   {"```\nx := 1\n\nno prose", ""},
		"frontmatter alone":      {"---\ntitle: X\n---\n", ""},
		"nothing":                {"", ""},
		"blank":                  {" \n\t\n", ""},
		"marks alone":            {"… — !?", ""},
		"Windows":                {"# T\r\n\r\nOne\r\ntwo.\r\n", "One two."},
		"hidden":                 {"A\u200bB\u202eC\x1b[2J\u2028D", "ABC[2J D"},
		"emoji":                  {"👩\u200d🚀", "👩\u200d🚀"},
		"no UTF-8":               {"a\xffb", "ab"},
	} {
		if got := background.Paragraph(c.body); got != c.want {
			t.Errorf("%s: %q gives %q, want %q", name, c.body, got, c.want)
		}
	}
}

func TestCHAT14_TheFirstSentence(t *testing.T) {
	word := strings.Repeat("x", 300)
	for name, c := range map[string]struct {
		line  string
		limit int
		want  string
	}{
		"two":               {"It is done. We go home.", 15, "It is done."},
		"exact":             {"It is done. We go.", 11, "It is done."},
		"question":          {"Is it done? We go home.", 15, "Is it done?"},
		"cut after a word":  {"The bridge over the brook is built in May.", 20, "The bridge over the…"},
		"cut at a comma":    {"The bridge, over the brook, is built.", 12, "The bridge…"},
		"CJK":               {"今日は山に登りました。明日は海に行きます。", 15, "今日は山に登りました。"},
		"CJK cut":           {"今日は山に登りました。", 6, "今日は山に…"},
		"Chinese":           {"这座桥五月建成。它能承重四十吨。", 10, "这座桥五月建成。"},
		"abbreviation":      {"Dr. Müller has built it. We go home now.", 30, "Dr. Müller has built it."},
		"abbreviation, two": {"See e.g. The Bridge. We go home now.", 25, "See e.g. The Bridge."},
		"initials":          {"J. R. R. Tolkien wrote it. We go home now.", 30, "J. R. R. Tolkien wrote it."},
		"ordinal":           {"Am 1. Mai wird gebaut. Danach nicht.", 25, "Am 1. Mai wird gebaut."},
		"year":              {"It was in 2024. We go home now.", 20, "It was in 2024."},
		"decimal":           {"It has 3.5 m. And so it is here.", 20, "It has 3.5 m. And…"},
		"long word":         {word, 10, strings.Repeat("x", 9) + "…"},
		"long word behind":  {"A " + word, 10, "A " + strings.Repeat("x", 7) + "…"},
		"accent":            {strings.Repeat("e\u0301", 10), 4, "e\u0301…"},
		"family":            {"👩\u200d👩\u200d👧\u200d👦👩\u200d👩\u200d👧\u200d👦", 9, "👩\u200d👩\u200d👧\u200d👦…"},
		"family, no room":   {"👩\u200d👩\u200d👧\u200d👦 x y", 3, "…"},
		"one":               {"It is done.", 1, "…"},
	} {
		if got := background.Sentence(c.line, c.limit); got != c.want {
			t.Errorf("%s: %q within %d gives %q, want %q", name, c.line, c.limit, got, c.want)
		}
	}
}

func TestCHAT14_TheAnswerOfAModel(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		whole  bool
		limit  int
		want   string
	}{
		"sentence":          {"It is about bridges.", true, 100, "It is about bridges."},
		"quotes":            {"\n\"It is about bridges.\"\nMore", true, 100, "It is about bridges."},
		"null":              {"null", true, 100, ""},
		"thoughts":          {"<think>hm", true, 100, ""},
		"too long":          {strings.Repeat("a", 200), true, 100, strings.Repeat("a", 99) + "…"},
		"cut by the budget": {"It is about bridges over", false, 100, "It is about bridges over…"},
		"both":              {strings.Repeat("a", 200), false, 100, strings.Repeat("a", 99) + "…"},
		"nothing yet":       {" ", false, 100, ""},
	} {
		if got := background.Read(c.answer, c.whole, c.limit); got != c.want {
			t.Errorf("%s: %q gives %q, want %q", name, c.answer, got, c.want)
		}
	}
}

// sound fails unless a summary is one line within its limit, of whole characters of what it was made of.
func sound(t interface{ Errorf(string, ...any) }, got, of string, limit int) {
	switch {
	case !utf8.ValidString(got):
		t.Errorf("%q is no UTF-8", got)
	case utf8.RuneCountInString(got) > limit:
		t.Errorf("%q has more than %d characters", got, limit)
	case strings.ContainsFunc(got, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }):
		t.Errorf("%q has control characters or line breaks", got)
	}
	head, whole := strings.CutSuffix(got, text.Ellipsis)
	if !whole || !strings.HasPrefix(of, head) {
		return
	}
	ends := map[int]bool{0: true}
	for g := graphemes.FromString(of); g.Next(); {
		ends[g.End()] = true
	}
	if !ends[len(head)] {
		t.Errorf("%q ends within a character of %q", got, of)
	}
}

func TestCHAT14_ASummaryIsOneLineWithinItsLimit(t *testing.T) {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			"word ", "Dr. ", "。", "今日", "e\u0301", "👩\u200d👧", "🇩🇪", "\u200b", "\x1b[1m", "\u2028", "\n", "\n\n", "# ", "- ", "```\n",
			"[[A|b]]", "![[x.png]]", "![", "](", ")", "|", "`", "<b>", "*", "\r\n", "\xff", "1. ", "> ", "---\n", "x: y\n", "%%",
		}),
		rapid.StringN(0, 8, 32),
	)
	rapid.Check(t, func(t *rapid.T) {
		body := strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "body"), "")
		limit := rapid.IntRange(1, 120).Draw(t, "limit")
		line := background.Paragraph(body)
		sound(t, line, line, len(body)+1)
		if line != "" {
			got := background.Sentence(line, limit)
			sound(t, got, line, limit)
			if got == "" {
				t.Errorf("%q gives nothing within %d", line, limit)
			}
		}
		sound(t, background.Read(body, rapid.Bool().Draw(t, "whole"), limit), "", limit)
	})
}

func FuzzCHAT14_ASummaryIsOneLineWithinItsLimit(f *testing.F) {
	f.Add("---\na: b\n---\n# T\n\nDr. X. 今日は。\n![[x]]", 7)
	f.Add(strings.Repeat("![", 100)+strings.Repeat("(", 100), 1)
	f.Add(strings.Repeat("\"'”) ", 100)+".", 50)
	f.Fuzz(func(t *testing.T, body string, limit int) {
		limit = min(max(limit, 1), 1000)
		if line := background.Paragraph(body); line != "" {
			sound(t, line, line, len(body)+1)
			sound(t, background.Sentence(line, limit), line, limit)
		}
		sound(t, background.Read(body, true, limit), "", limit)
	})
}
