package markdown_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/notes/markdown"
)

const note = `Intro ^intro

# Plan
First.

## Goals: all of them
One **goal**.

### Deep
Deeper.

## Risks
- Rain ^rain
  - in May

  all day
- Wind

| a | b |
|---|---|
| 1 | 2 |

^table

> said
> twice ^Quote

~~~
code

more
~~~
^code

# C# Notes
Sharp.
## Risks
Other.
`

// of returns the part that [[Note#TEXT]] points at.
func of(text string) markdown.Part {
	p, _ := markdown.PartOfLink(markdown.ReadLink("[[Note#" + text + "]]"))
	return p
}

func TestCTX5_Find(t *testing.T) {
	for _, c := range []struct {
		links   string
		want    []string
		missing string
	}{
		{"Risks", []string{"## Risks\n- Rain ^rain"}, ""},
		{"goals all of THEM", []string{"## Goals: all of them\nOne **goal**.\n\n### Deep\nDeeper.\n\n"}, ""},
		{"Goals: all of them", []string{"## Goals: all of them\n"}, ""},
		{"Deep", []string{"### Deep\nDeeper.\n\n"}, ""},
		{"Plan#Deep", []string{"### Deep\nDeeper.\n\n"}, ""},
		{"C# Notes#Risks", []string{"## Risks\nOther.\n"}, ""},
		{"C# Notes", []string{"# C# Notes\nSharp.\n## Risks\nOther.\n"}, ""},
		{"Risks#Deep", nil, "Risks#Deep"},
		{"Nothing", nil, "Nothing"},
		{"^intro", []string{"Intro ^intro"}, ""},
		{"^RAIN", []string{"- Rain ^rain\n  - in May\n\n  all day"}, ""},
		{"^table", []string{"| a | b |\n|---|---|\n| 1 | 2 |\n\n^table"}, ""},
		{"^quote", []string{"> said\n> twice ^Quote"}, ""},
		{"^code", []string{"~~~\ncode\n\nmore\n~~~\n^code"}, ""},
		{"^none", nil, "^none"},
		{"Deep|^intro", []string{"Intro ^intro", "### Deep\nDeeper.\n\n"}, ""},
		{"Deep|Plan|Deep", []string{"# Plan\nFirst."}, ""},
		{"Deep|Nothing", []string{"### Deep\nDeeper.\n\n"}, "Nothing"},
	} {
		var list []markdown.Part
		for text := range strings.SplitSeq(c.links, "|") {
			list = append(list, of(text))
		}
		spans, missing := markdown.FindParts(note, list)
		ok := len(spans) == len(c.want)
		for i := 0; ok && i < len(spans); i++ {
			ok = strings.HasPrefix(note[spans[i].Start:spans[i].End], c.want[i])
		}
		if !ok {
			var got []string
			for _, s := range spans {
				got = append(got, note[s.Start:s.End])
			}
			t.Errorf("%s: %s", c.links, cmp.Diff(c.want, got))
		}
		var names []string
		for _, p := range missing {
			names = append(names, p.String())
		}
		if got := strings.Join(names, "|"); got != c.missing {
			t.Errorf("%s: missing %q", c.links, got)
		}
	}
}

func TestCTX5_TheWholeNoteIsNoPart(t *testing.T) {
	for _, link := range []string{"[[Note]]", "[[Note#]]", "[[Note|Label]]"} {
		if p, ok := markdown.PartOfLink(markdown.ReadLink(link)); ok {
			t.Errorf("%s: %+v", link, p)
		}
	}
}

func TestCTX5_NoMoreThanMaxPartsAreLookedFor(t *testing.T) {
	list := slices.Repeat([]markdown.Part{of("Deep")}, markdown.MaxParts+2)
	spans, missing := markdown.FindParts(note, list)
	if len(spans) != 1 || len(missing) != 2 {
		t.Errorf("%d spans, %d missing", len(spans), len(missing))
	}
}

// A rule is no frontmatter: the text is that of a body.
func TestCTX5_ARuleAtTheBeginning(t *testing.T) {
	const text = "---\n# A\none\n---\n# B\ntwo"
	spans, _ := markdown.FindParts(text, []markdown.Part{of("A")})
	if len(spans) != 1 || !strings.HasPrefix(text[spans[0].Start:], "# A\none") {
		t.Errorf("%v", spans)
	}
}

func FuzzFind(f *testing.F) {
	f.Add(note, "Risks", "rain")
	f.Add("- a\n\t- b ^x\n\n```\n^x\n", "a#b", "x")
	f.Add("^x", "", "x")
	f.Fuzz(func(t *testing.T, text, heading, block string) {
		list := []markdown.Part{{Heading: heading}, {Block: block}}
		spans, missing := markdown.FindParts(text, list)
		if len(spans)+len(missing) > len(list) || len(spans) == 0 && len(missing) != len(list) {
			t.Fatalf("%v %v", spans, missing)
		}
		end := 0
		for _, s := range spans {
			if s.Start < end || s.End < s.Start || s.End > len(text) || s.Start > 0 && text[s.Start-1] != '\n' {
				t.Fatalf("%v", spans)
			}
			end = s.End
		}
	})
}

// TestSRCH50_Anchors: a link finds a heading by its anchor as GitHub, VS Code and Obsidian write it, and by its text first.
func TestSRCH50_Anchors(t *testing.T) {
	const text = "# A\n\n## Other Part\n\n## Q: What now?\n\n## Über uns\n\n## C++ & C#\n\n## 1. First step\n\n## Same\n\none\n\n## Same\n\ntwo\n\n" +
		"## Using `npm run`\n\n## Hello — world\n\n## f()\n\n## snake_case *here*\n\n## Last-one\n\n## Last one\n\nfour\n\n## 日本 語\n\n## 🐝 bees\n"
	for said, want := range map[string]string{
		"other-part": "Other Part", "Other Part": "Other Part", "OTHER-PART": "Other Part", "q-what-now": "Q: What now?", "Q What now?": "Q: What now?",
		"über-uns": "Über uns", "c--c": "C++ & C#", "1-first-step": "1. First step", "same": "Same\n\none", "same-1": "Same\n\ntwo", "using-npm-run": "Using `npm run`",
		"Using `npm run`": "Using `npm run`", "Using npm run": "Using `npm run`", "hello--world": "Hello — world", "f()": "f()", "f": "f()",
		"snake_case-here": "snake_case", "snake_case *here*": "snake_case", "last-one": "Last-one", "last one": "Last one\n\nfour", "日本-語": "日本 語", "-bees": "🐝 bees", "bees": "🐝 bees",
		"no-such-part": "", "same-7": "", "same-2": "", "-": "", "": "",
	} {
		spans, missing := markdown.FindParts(text, []markdown.Part{{Heading: said}})
		got := ""
		if len(spans) == 1 && len(missing) == 0 {
			got = text[spans[0].Start:spans[0].End]
		}
		if want == "" && len(spans) > 0 || want != "" && !strings.HasPrefix(got, "## "+want) {
			t.Errorf("%q leads to %q, want %q", said, got, want)
		}
	}
}
