package markdown_test

import (
	"strings"
	"testing"

	"github.com/ctxd/ctxd/notes/markdown"
)

// hostile are texts that make a careless scanner look at the same bytes again
// and again when they are repeated.
var hostile = map[string]string{
	"open links":             "[[",
	"open links, words":      "[[a b ",
	"open embeds":            "![[",
	"closed brackets":        "]]",
	"nested brackets":        "[]",
	"backticks growing":      "`a``b```c````d`````e ",
	"backtick and link":      "[[`",
	"backticks escaped":      "\\``",
	"open comments":          "<!--",
	"comment in link":        "[[<!--",
	"half comments":          "<!-- --",
	"open tags":              "<a ",
	"open tags, quoted":      `<a b="`,
	"quotes":                 ">",
	"quotes and lines":       "> \n>>",
	"bullets":                "- ",
	"stars":                  "* ",
	"numbers":                "1. ",
	"open destinations":      "[a](b ",
	"open titles":            `[a](b "`,
	"open titles, single":    `[a](b '`,
	"open titles, round":     "[a](b (",
	"open angles":            "[a](<b",
	"open parentheses":       "[a](",
	"deep parentheses":       "](((",
	"references":             "[a][b]",
	"definitions":            "[a]: b\n[a] ",
	"definition-like":        "]: ",
	"labels":                 "[a[a]: ",
	"emphasis":               "*a _b ",
	"emphasis, closing":      "a* b_ ",
	"emphasis, both":         "*a**",
	"long emphasis":          "**",
	"highlight":              "==a~~",
	"entities":               "&amp",
	"headings with brackets": "# [a]\n",
	"hashes":                 "#",
	"tags":                   "#a ",
	"carets":                 " ^a",
	"carets, blanks":         " ^a                                    ",
	"backslashes":            "\\",
	"setext":                 "a\n",
	"setext, quoted":         "> a\n",
	"rules":                  "---\n",
	"table rows":             "|a|\n",
	"delimiter rows":         "|-|\n",
	"fences":                 "```\n",
	"fences, tilde":          "~~~~ a\n```\n",
	"blank lines":            "\n",
	"CR LF":                  "\r\n",
	"CR":                     "\r",
	"NUL":                    "\x00",
	"not UTF-8":              "#\xff[[\xc3",
	"BOM":                    "\uFEFF",
	"autolinks":              "<a:b",
	"callouts":               "> [!a",
}

// TestParse_HostileText: a quarter of a megabyte of any of them, a whole one of the worst,
// is read like any other text. TestPRIV8_EveryFunctionIsLinear counts the steps; a
// quadratic scan would take minutes here.
func TestParse_HostileText(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	for name, unit := range hostile {
		size := 1 << 18
		switch name {
		case "open links", "backticks growing", "open comments", "quotes", "nested brackets":
			size = 1 << 20
		}
		t.Run(name, func(t *testing.T) {
			for _, src := range []string{
				strings.Repeat(unit, size/len(unit)),
				"- " + strings.Repeat(unit+" ", size/4/(1+len(unit))),
				"---\nx: " + strings.Repeat(unit, size/8/len(unit)) + "\n---\n" + unit,
			} {
				markdown.PlainText(src)
				checkDocument(t, src, markdown.Parse(src))
			}
		})
	}
	var ticks strings.Builder
	for n := 1; ticks.Len() < 1<<20; n++ {
		ticks.WriteString(strings.Repeat("`", n) + " ")
	}
	for name, src := range map[string]string{
		"backtick runs of all lengths": ticks.String(),
		"links in links":               strings.Repeat("[", 1<<17) + strings.Repeat("](a.md)", 1<<17),
		"images in images":             strings.Repeat("![", 1<<17) + strings.Repeat("](a.md)", 1<<17),
		"references in references":     "[a]: b\n" + strings.Repeat("[", 1<<17) + "a" + strings.Repeat("]", 1<<17),
		"emphasis in emphasis":         strings.Repeat("*a _a ", 1<<16) + strings.Repeat("a* a_ ", 1<<16),
	} {
		t.Run(name, func(t *testing.T) {
			markdown.PlainText(src)
			checkDocument(t, src, markdown.Parse(src))
		})
	}
}
