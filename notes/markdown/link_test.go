package markdown_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ctxd/ctxd/notes/markdown"
)

// only compares what a link says, not where it stands.
var only = cmpopts.IgnoreFields(markdown.Link{}, "Raw", "Line", "Start", "End", "InFrontmatter")

func TestCHAT5_WikilinkForms(t *testing.T) {
	for _, tc := range []struct {
		src  string
		want []markdown.Link
	}{
		{"[[Title]]", []markdown.Link{{Target: "Title"}}},
		{"[[Title|the plan]]", []markdown.Link{{Target: "Title", Alias: "the plan"}}},
		{"[[ Title | the plan ]]", []markdown.Link{{Target: "Title", Alias: "the plan"}}},
		{"[[Title|a|b]]", []markdown.Link{{Target: "Title", Alias: "a|b"}}},
		{"[[Title#Goals]]", []markdown.Link{{Target: "Title", Heading: "Goals"}}},
		{"[[Title # Goals#Sub ]]", []markdown.Link{{Target: "Title", Heading: "Goals#Sub"}}},
		{"[[Title#^b1]]", []markdown.Link{{Target: "Title", Block: "b1"}}},
		{"[[Title#^b1|see]]", []markdown.Link{{Target: "Title", Block: "b1", Alias: "see"}}},
		{"![[Title]]", []markdown.Link{{Target: "Title", Embed: true}}},
		{"![[pic.png|300]]", []markdown.Link{{Target: "pic.png", Alias: "300", Embed: true}}},
		{"[[docs/params.md]]", []markdown.Link{{Target: "docs/params.md"}}},
		{"[[#Goals]]", []markdown.Link{{Heading: "Goals"}}},
		{"[[#^b1]]", []markdown.Link{{Block: "b1"}}},
		{"[[日本語|ノート]]", []markdown.Link{{Target: "日本語", Alias: "ノート"}}},
		{"[[a\xff]]", []markdown.Link{{Target: "a\xff"}}},
		{"[[a]][[b]]", []markdown.Link{{Target: "a"}, {Target: "b"}}},
		{"[[Title|]]", []markdown.Link{{Target: "Title"}}},
		{`| [[Title\|x]] |`, []markdown.Link{{Target: "Title", Alias: "x"}}},
		{"[[a [[b]]", []markdown.Link{{Target: "b"}}},
		{"[[[b]]]", []markdown.Link{{Target: "b"}}},
		{"[[[[b]]]]", []markdown.Link{{Target: "b"}}},
		{"[[a]b]]", nil},
		{"[[a [x] b]]", nil},
		{"[[]]", nil},
		{"[[ ]]", nil},
		{"[[#]]", nil},
		{"[[|x]]", nil},
		{"[[open", nil},
		{"[[open]", nil},
		{"[[two\nlines]]", nil},
		{"[[two\r\nlines]]", nil},
		{"[[", nil},
		{"![[", nil},
		{"]]", nil},
		{`\[[a]]`, nil},
		{`\![[a]]`, []markdown.Link{{Target: "a"}}},
		{`!\[[a]]`, nil},
		{`\\[[a]]`, []markdown.Link{{Target: "a"}}},
		{`[\[a]]`, nil},
		{"`[[a]]`", nil},
		{"``[[a]] ` [[b]]``", nil},
		{"`a` [[b]] `c`", []markdown.Link{{Target: "b"}}},
		{"`[[a]]", []markdown.Link{{Target: "a"}}},
		{"``[[a]]`", []markdown.Link{{Target: "a"}}},
		{"\\`[[a]]`", []markdown.Link{{Target: "a"}}},
		{"`x\n[[a]]`", nil},
		{"`x\n\n[[a]]`", []markdown.Link{{Target: "a"}}},
		{"- `x\n- [[a]]`", []markdown.Link{{Target: "a"}}},
		{"[[a`b]] c`", nil},
		{"[[a`b]] c", []markdown.Link{{Target: "a`b"}}},
		{"[[`b`]]", []markdown.Link{{Target: "`b`"}}},
		{"[[a#Use `b`]] and [[a|`a`]]", []markdown.Link{{Target: "a", Heading: "Use `b`"}, {Target: "a", Alias: "`a`"}}},
		{"![[a#`x` y|z]]", []markdown.Link{{Target: "a", Heading: "`x` y", Alias: "z", Embed: true}}},
		{"<!-- [[a]] -->", nil},
		{"<!--\n\n[[a]]\n\n--> [[b]]", []markdown.Link{{Target: "b"}}},
		{"x <!-- [[a]]\n- [[b]]\n```\n--> [[c]]\n[[d]]", []markdown.Link{{Target: "c"}, {Target: "d"}}},
		{"<!--> [[a]] -->", []markdown.Link{{Target: "a"}}},
		{"<!-- [[a]]", []markdown.Link{{Target: "a"}}},
		{"\\<!-- [[a]] -->", []markdown.Link{{Target: "a"}}},
		{"`<!--` [[a]] `-->`", []markdown.Link{{Target: "a"}}},
		{"[[a<!--b]]-->", nil},
		{"```\n[[a]]\n```\n[[b]]", []markdown.Link{{Target: "b"}}},
		{"```\n[[a]]", nil},
		{"~~~\n[[a]]\n```\n[[b]]\n~~~\n[[c]]", []markdown.Link{{Target: "c"}}},
		{"````\n```\n[[a]]\n````\n[[b]]", []markdown.Link{{Target: "b"}}},
		{"```\n[[a]]\n``` x\n[[b]]\n```", nil},
		{"```a`b\n[[a]]", []markdown.Link{{Target: "a"}}},
		{"\t\t```\n[[a]]\n\t```\n[[b]]", []markdown.Link{{Target: "b"}}},
		{"- 1. ```js\n  [[a]]\n  ```\n- [[b]]", []markdown.Link{{Target: "b"}}},
		{"> ```\n> [[a]]\n> ```\n> [[b]]", []markdown.Link{{Target: "b"}}},
		{"> ```\n> [[a]]\n[[b]]", []markdown.Link{{Target: "b"}}},
		{"    [[a]]", []markdown.Link{{Target: "a"}}},
		{"# [[a]]\n[[b]]\n===", []markdown.Link{{Target: "a"}, {Target: "b"}}},
		{"#[[multi word]]", []markdown.Link{{Target: "multi word"}}},
		{"[text]([[a]])", []markdown.Link{{Target: "a"}}},
		{"[[a]](b.md)", []markdown.Link{{Target: "a"}}},
		{"${query[[from x]]}", []markdown.Link{{Target: "from x"}}},
		{"---\nteam: [[A]]\nb: \"![[B|x]]\" # [[C]]\n---\n[[D]]", []markdown.Link{{Target: "A"}, {Target: "B", Alias: "x", Embed: true}, {Target: "C"}, {Target: "D"}}},
		{"---\nbroken: [a\nx: [[A]]\n---\n", []markdown.Link{{Target: "A"}}},
	} {
		t.Run(tc.src, func(t *testing.T) {
			doc := markdown.Parse(tc.src)
			if diff := cmp.Diff(tc.want, slices.Collect(doc.EachLink()), only); diff != "" {
				t.Errorf("links (-want +got):\n%s", diff)
			}
			checkDocument(t, tc.src, doc)
		})
	}
}

func TestCHAT5_SpansPointIntoTheSource(t *testing.T) {
	src := "\uFEFF---\r\nteam: [[A]]\r\n---\r\n# é [[B]]\r\n\r\n<!-- x\r\n\r\n--> y ![[C]]\r\n> q\r\n> [[D]]"
	doc := markdown.Parse(src)
	checkDocument(t, src, doc)
	var got []string
	for l := range doc.EachLink() {
		got = append(got, l.Raw)
		if want := map[string]int{"[[A]]": 2, "[[B]]": 4, "![[C]]": 8, "[[D]]": 10}[l.Raw]; l.Line != want {
			t.Errorf("%s on line %d, want %d", l.Raw, l.Line, want)
		}
	}
	if diff := cmp.Diff([]string{"[[A]]", "[[B]]", "![[C]]", "[[D]]"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestLinks_NothingIsFrontmatter(t *testing.T) {
	got := markdown.Links("---\na: `[[A]]` [[B]]\n---\n")
	if len(got) != 1 || got[0].Target != "B" || got[0].InFrontmatter {
		t.Errorf("got %+v", got)
	}
}

func TestParseLink(t *testing.T) {
	for _, tc := range []struct {
		text string
		ok   bool
		want string
	}{
		{"[[A]]", true, "A"},
		{"  ![[A|b]]\n", true, "A"},
		{"[[A]] x", false, ""},
		{"x [[A]]", false, ""},
		{"[[A]][[B]]", false, ""},
		{"[[ ]]", false, ""},
		{"A", false, ""},
		{"", false, ""},
		{"!", false, ""},
	} {
		l, ok := markdown.ParseLink(tc.text)
		if ok != tc.ok || l.Target != tc.want {
			t.Errorf("ParseLink(%q) = %+v, %v", tc.text, l, ok)
		}
		if ok && tc.text[l.Start:l.End] != l.Raw {
			t.Errorf("ParseLink(%q): span [%d,%d)", tc.text, l.Start, l.End)
		}
	}
}

func TestLinkText(t *testing.T) {
	for inner, want := range map[string]string{
		"A":        "A",
		"A|b":      "b",
		"A#H":      "A#H",
		"A#^b1":    "A",
		"#H":       "H",
		"#^b1":     "b1",
		"A|300":    "300",
		"dir/A.md": "dir/A.md",
	} {
		if got := markdown.ParseTarget(inner).Text(); got != want {
			t.Errorf("%q reads %q, want %q", inner, got, want)
		}
	}
	l := markdown.ParseTarget("pic.png|300x200")
	l.Embed = true
	if got := l.Text(); got != "pic.png" {
		t.Errorf("an image size is shown as text: %q", got)
	}
}

func TestSRCH34_MarkdownLinks(t *testing.T) {
	type link struct{ Raw, Target, Heading, Block string }
	for _, tc := range []struct {
		src  string
		want []link
	}{
		{"[a](x.md)", []link{{Raw: "x.md", Target: "x.md"}}},
		{"[a *b* [c] d](x/y.MD#sec 'title')", []link{{Raw: "x/y.MD#sec", Target: "x/y.MD", Heading: "sec"}}},
		{"[a](<x y.md>)", []link{{Raw: "x y.md", Target: "x y.md"}}},
		{"[a](../x%20y.md#Two%20words)", []link{{Raw: "../x%20y.md#Two%20words", Target: "../x y.md", Heading: "Two words"}}},
		{"[a](x.md#^b-1)", []link{{Raw: "x.md#^b-1", Target: "x.md", Block: "b-1"}}},
		{"[a](x.md#%5Eb-1)", []link{{Raw: "x.md#%5Eb-1", Target: "x.md", Block: "b-1"}}},
		{`[a](x\_y.md)`, []link{{Raw: `x\_y.md`, Target: "x_y.md"}}},
		{"[a](a%23b.md)", []link{{Raw: "a%23b.md", Target: "a#b.md"}}},
		{"[a](100%.md)", []link{{Raw: "100%.md", Target: "100%.md"}}},
		{"[a](%ff.md)", []link{{Raw: "%ff.md", Target: "%ff.md"}}},
		{"[a](%00.md)", []link{{Raw: "%00.md", Target: "%00.md"}}},
		{"[a](x(1).md)", []link{{Raw: "x(1).md", Target: "x(1).md"}}},
		{"[a](x.markdown \"t\")", []link{{Raw: "x.markdown", Target: "x.markdown"}}},
		{"[a\nb](\nx.md)", []link{{Raw: "x.md", Target: "x.md"}}},
		{"![a](x.md)", []link{{Raw: "x.md", Target: "x.md"}}},
		{"[![i](p.md)](x.md)", []link{{Raw: "p.md", Target: "p.md"}, {Raw: "x.md", Target: "x.md"}}},
		{"[![i](p.png)](x.md)", []link{{Raw: "p.png", Target: "p.png"}, {Raw: "x.md", Target: "x.md"}}},
		{"![a](<my pic.png>) [b](x/p%20q.pdf#page=3)", []link{
			{Raw: "my pic.png", Target: "my pic.png"}, {Raw: "x/p%20q.pdf#page=3", Target: "x/p q.pdf", Heading: "page=3"},
		}},
		{"![a][b]\n\n[b]: Board.canvas", []link{{Raw: "Board.canvas", Target: "Board.canvas"}}},
		{"see [a][b] and [b]\n\n[b]: x.md#sec", []link{{Raw: "x.md#sec", Target: "x.md", Heading: "sec"}}},
		{"> [b]: <x y.md> 'title'\n> [c]:\n> z.md\n> [d]: w.md", []link{
			{Raw: "x y.md", Target: "x y.md"}, {Raw: "z.md", Target: "z.md"}, {Raw: "w.md", Target: "w.md"},
		}},
		{"[b]:\nx.md\n[c]: y.md", []link{{Raw: "x.md", Target: "x.md"}, {Raw: "y.md", Target: "y.md"}}},
		{"words\n[b]: x.md", nil},   // a definition begins its paragraph
		{"[b]: x.md and more", nil}, // and ends its line
		{"[^b]: x.md", nil},         // a footnote
		{"- [ ]: x.md", nil},
		{"# [b]: x.md", nil},
		{"[b]: https://example.com/x.md", nil},
		{"[a](https://example.com/x.md)", nil},
		{"[a](//example.com/x.md)", nil},
		{"[a](x'[b](y.md ) [c](z.md)", []link{{Raw: "x'[b](y.md", Target: "x'[b](y.md"}, {Raw: "z.md", Target: "z.md"}}},
		{`[a](x.md "see [b](y.md)") [![c](d.png '[')](z.md)`, []link{
			{Raw: "x.md", Target: "x.md"}, {Raw: "d.png", Target: "d.png"}, {Raw: "z.md", Target: "z.md"},
		}},
		{"[a](x.txt) [b](x) [c](#d) [e]() [f](#)", []link{{Raw: "x.txt", Target: "x.txt"}, {Raw: "x", Target: "x"}, {Raw: "#d", Heading: "d"}}},
		{"[a](((634fb9a8-cab9-441e-b476-41fa828010ea))) [b](mailto:x@example.com)", nil},
		{"[a](.md)", nil},
		{"[a]([[x.md]])", nil},
		{"`[a](x.md)` `![](x.png)` <!-- [a](x.md) ![](x.png) -->", nil},
		{"```\n[a](x.md)\n![](x.png)\n[b]: x.md\n```", nil},
		{"\\[a](x.md)", nil},
		{"[a](x y.md) ![](x y.png)", nil},
		{"[a](x.md", nil},
		{"[a] (x.md)", nil},
	} {
		t.Run(tc.src, func(t *testing.T) {
			doc := markdown.Parse(tc.src)
			checkDocument(t, tc.src, doc)
			var got []link
			for l := range doc.EachFileLink() {
				got = append(got, link{l.Raw, l.Target, l.Heading, l.Block})
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestHeadings(t *testing.T) {
	src := strings.Join([]string{
		"# One *two* [[Three|3]] #", "", "para", "more", "====", "Two", "---", "", "text", "", "---", "####### no", "#no",
		"   ### Three ##x ##   ", "- # In list", "> ## In quote", "> q", "> ---", "    # indented", "```", "# code", "```", "#", "- x", "---",
	}, "\n")
	doc := markdown.Parse(src)
	checkDocument(t, src, doc)
	var got []string
	for _, h := range headings(src) {
		got = append(got, strings.Repeat("#", h.Level)+h.Text+"|"+src[h.Start:h.End])
	}
	want := []string{
		"#One two 3|# One *two* [[Three|3]] #",
		"#para more|para\nmore\n====",
		"##Two|Two\n---",
		"###Three ##x|   ### Three ##x ##   ",
		"#In list|- # In list",
		"##In quote|> ## In quote",
		"##q|> q\n> ---",
		"#|#",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSRCH32_Title(t *testing.T) {
	for _, tc := range []struct{ src, want string }{
		{"---\ntitle: From Frontmatter\n---\n# Heading", "From Frontmatter"},
		{"---\nTitle: '007'\n---\n", "007"},
		{"---\ntitle: 2026-03-04\n---\n", "2026-03-04"},
		{"---\ntitle: 1.10\n---\n", "1.10"},
		{"---\ntitle:\n---\n# Heading", "Heading"},
		{"---\ntitle: [a]\n---\n# Heading", "Heading"},
		{"---\ntitle: a: b\n---\n# Heading", "Heading"},
		{"---\ntitle: >\n  two\n  lines\n---\n", "two lines"},
		{"## Two\n\n# One *and* `more`\n\n# Later", "One and more"},
		{"Setext\n===\n# Later", "Setext"},
		{"#\n# Second", "Second"},
		{"- # In list\n\n> # In quote\n\n# Real", "Real"},
		{"```\n# code\n```\n", ""},
		{"# <!-- hidden -->\n# Shown", "Shown"},
		{"# [[Alice|A]] & Bob\n", "A & Bob"},
		{"text", ""},
		{"", ""},
	} {
		if got := markdown.Parse(tc.src).Title; got != tc.want {
			t.Errorf("%q: title %q, want %q", tc.src, got, tc.want)
		}
	}
}

func TestSRCH30_TagsAndAliases(t *testing.T) {
	for _, tc := range []struct {
		src     string
		tags    []string
		aliases []string
	}{
		{"#one and #two/three, (#four) #日本語 #a-b_c.", []string{"one", "two/three", "four", "日本語", "a-b_c"}, nil},
		{"#123 #1a ## #-x a#b /#c `#d` \\#e #", []string{"1a", "-x"}, nil},
		{"#One #ONE #one", []string{"One"}, nil},
		{"[x](#anchor) [y #in](z.md#frag) https://e.com/#frag [[N #no]]", []string{"in"}, nil},
		{"# Heading #tag\n- #item\n> #quote\n| #cell |", []string{"tag", "item", "quote", "cell"}, nil},
		{"```\n#code\n```\n<!-- #comment --> #shown", []string{"shown"}, nil},
		{"見て、#タグ。", []string{"タグ"}, nil},
		{"#trailing/ #🎉", []string{"trailing", "🎉"}, nil},
		{"---\ntags: [a, '#b', 2024, [[C]]]\naliases: [Al, B. C, 007]\n---\n#a #d", []string{"a", "b", "2024", "C", "d"}, []string{"Al", "B. C", "007"}},
		{"---\ntags: a, b c\nalias: One, Two Words\n---\n", []string{"a", "b", "c"}, []string{"One", "Two Words"}},
		{"---\ntag: x\ntags:\n  - y\n  - Y\nalias: A\naliases:\n- B\n- a\n---\n", []string{"y", "x"}, []string{"B", "a"}},
		{"---\ntags: [[A]], [[B b]]\naliases: \"[[C, d]], E\"\n---\n", []string{"A", "B b"}, []string{"C, d", "E"}},
		{"---\ntags: \"x [[A]], y\"\n---\n", []string{"x [[A]]", "y"}, nil},
		{"---\ntags:\naliases: []\n---\n", nil, nil},
		{"---\ntags: {a: b}\naliases: [[1], [2]]\n---\n", nil, nil},
	} {
		t.Run(tc.src, func(t *testing.T) {
			doc := markdown.Parse(tc.src)
			if diff := cmp.Diff(tc.tags, doc.Tags); diff != "" {
				t.Errorf("tags (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.aliases, doc.Aliases); diff != "" {
				t.Errorf("aliases (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSRCH30_ManyTags(t *testing.T) {
	var b strings.Builder
	for range 2 {
		for i := range 100 {
			fmt.Fprintf(&b, "#Tag%d #tag%d ", i, i)
		}
	}
	if got := markdown.Parse(b.String()).Tags; len(got) != 100 || got[99] != "Tag99" {
		t.Errorf("%d tags, the last %q", len(got), got[len(got)-1])
	}
}

func TestBlocks(t *testing.T) {
	src := "A paragraph\nof two lines ^p1\n\n- item ^item-2\n\nx ^2 and y ^2\n\n^alone\n\n`code ^no`\n\n# H ^h1 \n"
	doc := markdown.Parse(src)
	checkDocument(t, src, doc)
	var got []string
	for _, b := range blocks(src) {
		got = append(got, b.ID+"|"+src[b.Start:b.End])
	}
	want := []string{"p1|A paragraph\nof two lines ^p1", "item-2|- item ^item-2", "alone|^alone", "h1|# H ^h1 "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
