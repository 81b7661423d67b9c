package markdown_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/notes/markdown"
)

// refs lists the references of a text, each as its kind, its place and its target.
func refs(text string) []string {
	var out []string
	for r := range markdown.References(text) {
		out = append(out, fmt.Sprintf("%d %q > %q", r.Kind, text[r.Start:r.End], r.Target))
	}
	return out
}

// TestPRIV8_EveryFormOfALink finds one thing in each text.
func TestPRIV8_EveryFormOfALink(t *testing.T) {
	for _, tc := range []struct{ text, place, target string }{
		{"a [[P]] b", "[[P]]", "P"},
		{"a ![[P#H|l]] b", "![[P#H|l]]", "P"},
		{`a \[[P]] b`, "[[P]]", "P"},
		{`a \[\[P\]\] b`, `[\[P\]\]`, "P"},
		{"a [[P|l\nm]] b", "[[P|l\nm]]", "P"},
		{"a [[P Q\nR]] b", "[[P Q\nR]]", "P Q R"},
		{"a [[P|l [m] n]] b", "[[P|l [m] n]]", "P"},
		{"a [[P|l [[m]] n]] b", "[[P|l [[m]] n]]", "P"},
		{"a [[P|l ] m]] b", "[[P|l ] m]]", "P"},
		{`| [[P\|l]] |`, `[[P\|l]]`, "P"},
		{"`[[P]]`", "[[P]]", "P"},
		{"[[P%20Q]]", "[[P%20Q]]", "P Q"},
		{"a [l](P) b", "[l](P)", "P"},
		{"a ![l](P) b", "![l](P)", "P"},
		{"a [l](<P Q> 't') b", "[l](<P Q> 't')", "P Q"},
		{`a [l](P "t ) u") b`, `[l](P "t ) u")`, "P"},
		{"a [l](P\n\"t\") b", "[l](P\n\"t\")", "P"},
		{"a [l](P Q) b", "[l](P Q)", "P Q"},
		{`a \\[l](P) b`, `[l](P)`, "P"},
		{`a [l\\](P) b`, `[l\\](P)`, "P"},
		{`a [l \] m](P) b`, `[l \] m](P)`, "P"},
		{"a [l `]` m](P) b", "[l `]` m](P)", "P"},
		{"a [l [m] n](P) b", "[l [m] n](P)", "P"},
		{"a [![m](n)](P) b", "[![m](n)](P)", "P"},
		{"a [l](P%20Q#h) b", "[l](P%20Q#h)", "P Q"},
		{"a [l](P&#32;Q) b", "[l](P&#32;Q)", "P Q"},
		{"a [l](<P#1>) b", "[l](<P#1>)", "P#1"},
		{"a [l]([[P]]) b", "[l]([[P]])", "P"},
		{"a [l](obsidian://open?vault=v&file=P%20Q) b", "[l](obsidian://open?vault=v&file=P%20Q)", "P Q"},
		{"a [l](file:///v/P%20Q.md) b", "[l](file:///v/P%20Q.md)", "P Q.md"},
		{"a `[l](P)` b", "[l](P)", "P"},
		{"a [l][r] b\n\n[r]: P", "[l][r]", "P"},
		{"a [r][] b\n\n[r]: P", "[r][]", "P"},
		{"a ![r] b\n\n[r]: P", "![r]", "P"},
		{"a [l [m] n][r] b\n\n[r]: P", "[l [m] n][r]", "P"},
		{"a [l]\n[r] b\n\n[r]: P", "[l]\n[r]", "P"},
		{"a [R\n r] b\n\n[r r]: P", "[R\n r]", "P"},
		{"a\n\n[r]: P 't'\nb", "[r]: P 't'", "P"},
		{"a\n\n[r]:\n  P\nb", "[r]:\n  P", "P"},
		{"a\n\n[r]: P\n  \"t\nu\"\nb", "[r]: P\n  \"t\nu\"", "P"},
		{"a\n\n> [r]: <P Q>\nb", "[r]: <P Q>", "P Q"},
		{"a\n\n[r]: P Q\nb", "[r]: P Q", "P Q"},
		{`a <a href="P">l</a> b`, `<a href="P">l</a>`, "P"},
		{"a <A\nclass='x > y' HREF = 'P'>l</A > b", "<A\nclass='x > y' HREF = 'P'>l</A >", "P"},
		{"a <a href=P>l</a> b", "<a href=P>l</a>", "P"},
		{`a <a href="P">l b`, `<a href="P">l b`, "P"},
		{`a <a href="P`, `<a href="P`, "P"},
		{`a <a name="x">m <a href="P">l</abbr></a> b`, `<a href="P">l</abbr></a>`, "P"},
		{`a <area href="P" alt="l"> b`, `<area href="P" alt="l">`, "P"},
		{"a <P/Q.md> b", "<P/Q.md>", "P/Q.md"},
		{"a obsidian://open?file=P%20Q. b", "obsidian://open?file=P%20Q.", "P Q"},
		{"(file:///P%20Q)", "file:///P%20Q)", "P Q"},
		{"see P.md.", "P.md", "P.md"},
		{"see P Q.MARKDOWN b", "P Q.MARKDOWN", "P Q.MARKDOWN"},
		{"x,P (old).md b", "P (old).md", "P (old).md"},
		{"P.md.bak", "P.md", "P.md"},
		{"_P%20Q.md_", "_P%20Q.md", "P Q.md"},
		{"_P.md b", "_P.md", "P.md"},
		{"ask @P Q", "@", ""},
		{"ask @[P Q] b", "@[P Q]", "P Q"},
		{`ask \@P`, "@", ""},

		{`<iframe src="P">l</iframe> b`, `<iframe src="P">l</iframe>`, "P"},
		{`<iframe src="P"> b`, `<iframe src="P">`, "P"},
		{`a <img alt="l > m" title='l' src="P"> b`, `<img alt="l > m" title='l' src="P">`, "P"},
		{`a <img title=don't alt="l" src=P> b`, `<img title=don't alt="l" src=P>`, "P"},
		{`a <img title="=" src=P alt="l"> b`, `<img title="=" src=P alt="l">`, "P"},
		{`a <img title='say="x' src=P alt='y"'> b`, `<img title='say="x' src=P alt='y"'>`, "P"},
		{"a <img\nalt='l'\nsrcset='x.png 1x, P Q 2x'\n/> b", "<img\nalt='l'\nsrcset='x.png 1x, P Q 2x'\n/>", "P Q"},
		{`a <img srcset="x.png,P"> b`, `<img srcset="x.png,P">`, "P"},
		{`a <a ping="x P" href="y">l</a> b`, `<a ping="x P" href="y">l</a>`, "P"},
		{`a <object data=P>l</object> b`, `<object data=P>l</object>`, "P"},
		{`a <q cite="P">l</q> b`, `<q cite="P">l</q>`, "P"},
		{`a <video poster="P">l</video> b`, `<video poster="P">l</video>`, "P"},
		{`a <form action="P" title="l"> b`, `<form action="P" title="l">`, "P"},
		{`a <button formaction="P">l</button> b`, `<button formaction="P">l</button>`, "P"},
		{`a <svg:use xlink:href="P" title=l> b`, `<svg:use xlink:href="P" title=l>`, "P"},
		{`a <x-y src="P" title="l"> b`, `<x-y src="P" title="l">`, "P"},
		{`a <b <img alt=l src=P> b`, "<img alt=l src=P>", "P"},
		{`a <img alt=l <b src=P> b`, "<img alt=l <b src=P>", "P"},
		{`a <img alt="l" src="P" b`, `<img alt="l" src="P" b`, "P"},
		{`a <img alt="l src="P" b`, `<img alt="l src="P" b`, "P"},
		{`src="P"> <`, `src="P`, "P"},

		{"[[P&#32;Q]]", "[[P&#32;Q]]", "P Q"},
		{"[[P&#x20;Q|l]]", "[[P&#x20;Q|l]]", "P Q"},
		{"[[P&nbsp;Q]]", "[[P&nbsp;Q]]", "P Q"},
		{"[[P&vert;l]]", "[[P&vert;l]]", "P"},
		{"é [[P&num;h]] é", "[[P&num;h]]", "P"},
		{"a &#91;&lbrack;P&rsqb;] b", "&#91;&lbrack;P&rsqb;]", "P"},
		{"a &#91[P]] b", "&#91[P]]", "P"},
		{"a [l](&#80;) b", "[l](&#80;)", "P"},
		{"a [l&#93;(P) b", "[l&#93;(P)", "P"},
		{"a &lt;img alt=l src=P&gt; b", "&lt;img alt=l src=P&gt;", "P"},
		{"a P&period;md b", "P&period;md", "P.md"},
		{"a &commat;P b", "&commat;", "P b"},
		{"a @P&#32;Q b", "@", "P Q b"},

		{"[[P^b]]", "[[P^b]]", "P"},
		{"[[P.md?x=1#h]]", "[[P.md?x=1#h]]", "P.md"},
		{"[[P.md:3:7|l]]", "[[P.md:3:7|l]]", "P.md"},
		{"[l](P.md:3)", "[l](P.md:3)", "P.md"},
		{"[l](P.md:3:7)", "[l](P.md:3:7)", "P.md"},
		{"[l](P%20Q.md:L3-L7#x)", "[l](P%20Q.md:L3-L7#x)", "P Q.md"},
		{"[l](P.md?x=1#y)", "[l](P.md?x=1#y)", "P.md"},
		{"[l](P^b)", "[l](P^b)", "P"},
		{"[l](Re:P.md)", "[l](Re:P.md)", "Re:P.md"},

		{"a [[P|l", "[[P|l", "P"},
		{"a [[P|l\nb", "[[P|l", "P"},
		{"a ![[P\nb", "![[P", "P"},
		{"a ![[P is", "![[", ""},
		{"a [[P [[Q]] b", "[[", ""},
		{"a [[P is\n# [[Q]] b", "[[", ""},
		{"a [[P\n# [[Q]] b", "[[P", "P"},
		{"a [l](P", "[l](P", "P"},
		{"a [l](P Q is\nb", "[l](P Q is", "P Q"},
		{"a ![l](<P Q", "![l](<P Q", "P Q"},
		{"a [l](P [m](Q) b", "[l](P [m", "P"},
		{"a [l](P Q is\n\nb)", "[l](P Q is\n\nb)", "P Q"},
		{`a <a href="P"`, `<a href="P"`, "P"},
		{`a <a title=l href="P Q is`, `<a title=l href="P Q is`, "P Q"},
	} {
		found := false
		for r := range markdown.References(tc.text) {
			found = found || r.Target == tc.target && tc.text[r.Start:r.End] == tc.place
		}
		if !found {
			t.Errorf("%q: no %q > %q, but\n%s", tc.text, tc.place, tc.target, strings.Join(refs(tc.text), "\n"))
		}
	}
}

// TestPRIV8_WhatRefersToNothing finds nothing.
func TestPRIV8_WhatRefersToNothing(t *testing.T) {
	for _, text := range []string{
		"", "plain text", "a [x] b [ ] c", "me@example.com", "1 < 2 > 0", "a = b", "x.mdb", ".md", "[[]]", "[[#h]]", "R&D", "a &amp; b", "<img alt='x' src='https://example.com/P'>", "[l](https://example.com:80/P:3)", "metadata=P",
		"[r]", "[^1]: P", "https://example.com/P", "[l](https://example.com/P)", "[l](mailto:a@b.c)", "<b>x</b>", "()[]", `\[x\]`, "<>",
	} {
		if got := refs(text); len(got) > 0 {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestPRIV8_LabelsAreKnownOutsideOfTheirNote(t *testing.T) {
	labels := markdown.LabelsOf("# [x][r]\n\n[r]: P%20Q\n[R]: Z")
	var got []string
	for r := range labels.References("see [x][r]") {
		got = append(got, fmt.Sprint(r.Start, r.End, " ", r.Target))
	}
	if diff := cmp.Diff([]string{"4 10 P%20Q", "4 10 P Q", "4 10 Z"}, got); diff != "" {
		t.Error(diff)
	}
	if markdown.LabelsOf("no [x]") != nil {
		t.Error("labels of a text without any")
	}
}

// hostileUnits make texts of one thing over and over, of which each could make the
// search for the others' ends long.
var hostileUnits = []string{
	"[", "]", "[[", "]]", "[[a", "[[a|", "[[a|[", "[]", "[a]", "](", "](a", "](a ", "](<a", "](a \"", "](a '", "](a (", "](((", ")", "[a](",
	"[a](b ", "[a](b c)", "[[a]](", `\[`, `\[\[`, `[[a\]`, "`[", "`", "``[`", "[`](", "<", "<a", "<a ", "<a href", "<a href=", "<a href=x",
	"<a href=\"", "<a href='", "<a href=\"x", "<a href=xxxx ", "href=", "href=\"a' ", "<a href=x>", "</", "</a", "<b href=", "<area href=x>",
	"<a.b", "<a:b>", "a.md ", "a.md", ".md", "a b c.md\n", "xxxxxxxxxx.md ", strings.Repeat("x", 3000) + ".md ", "a" + strings.Repeat(" ", 3000) + ".md",
	"@", "@@@", "@[", "@[a", "@[a]", "@a ", "://", "a://", "ab://c ", "ab://", "[a]:", "[a]: ", "[a]: b", "[a]: b\n", "[a]: b \"", "[a]: b '", "[a]: b (",
	"[a]: b\n\"", "[a]: <", "[a][", "[a][a]", "[a] ", "[a]\n", "> [a]: b\n", "[a]: b\n[a]\n", "=", " =", "\\", "\\\\", "&", "%", "\n", "\n\n", "\r\n \r\n",
	"[^a]: b", "![", "!", "[a](ab://c?file=d&path=e)", "[[a#b|c]]", "[[a\nb",
	"\"", "'", ">", "=\"", "='", "=\" '", "<img alt=\"", "<img alt='x src=\"y", "<b c=\"d' <e f='g\" ", "<img src=a ", "src=", "src=a/b ",
	"<img srcset=\"a b, c d, ", "srcset='a,", "<iframe src=a>", "<iframe src=a></iframe>", "</iframe", "<q cite=a><video src=b>",
	"<iframe src=a><object data=b><audio src=c>", "<x:y:z- ", "a-b:c=", "=     ", "\"     ", "&#91;", "&amp;", "&#", "&#91", "&lbrack;&#91;a", "&lt;a href=b ",
	"@&#97;", "&#64;a ", "[[a?b^c:1:2", "[[a:1", "[a](b:1 c", "[a](b c d e f g h i j k l m n\n", "[a](b?c^d:1) ", "![[a\n",
}

// TestPRIV8_TheScannerIsLinear counts the bytes that are looked at.
func TestPRIV8_TheScannerIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	ends := []string{"", "]]", ")", ">", "</a>", "\"", "]: b", "\n[a]: b"}
	for _, unit := range hostileUnits {
		for _, end := range ends {
			work := func(size int) int {
				return markdown.ReferenceWork(strings.Repeat(unit, 1+size/len(unit)) + end)
			}
			const size = 4 << 10
			small, large := work(size), work(4*size)
			if large > 5*small || large > 40*4*size {
				t.Errorf("%.20q with %q at the end: %d bytes looked at of %d, %d of %d", unit, end, small, size, large, 4*size)
			}
		}
	}
}

// TestPRIV8_AScanAllocatesLittle: nothing for text, and no more than the lists of
// open brackets for what is hostile.
func TestPRIV8_AScanAllocatesLittle(t *testing.T) {
	scan := func(text string) float64 {
		return testing.AllocsPerRun(5, func() {
			for range markdown.References(text) {
				continue
			}
		})
	}
	for _, unit := range []string{"[", "](", "[[a]] ", "@", "<a href=x ", "a.md ", "[a]: b\n"} {
		small, large := scan(strings.Repeat(unit, 1000)), scan(strings.Repeat(unit, 4000))
		if large > 4*small+40 {
			t.Errorf("%q: %.0f allocations for 1000, %.0f for 4000", unit, small, large)
		}
	}
}

// TestPRIV8_TheFormsOfTheREADME runs the table of forms.
func TestPRIV8_TheFormsOfTheREADME(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "```forms\n")
	table, _, _ = strings.Cut(table, "```")
	kinds := make(map[markdown.RefKind]bool)
	for i, line := range strings.Split(strings.TrimSpace(table), "\n") {
		columns := regexp.MustCompile(` {2,}`).Split(strings.ReplaceAll(line, "⏎", "\n"), -1)
		if i == 0 || line == "" {
			continue
		}
		if len(columns) != 3 {
			t.Errorf("%q has %d columns", line, len(columns))
			continue
		}
		text, place, target := columns[0], columns[1], columns[2]
		found := false
		for r := range markdown.References(text) {
			if text[r.Start:r.End] == place && (r.Target == target || r.Open() && target == "(open)") {
				found, kinds[r.Kind] = true, true
			}
		}
		if !found {
			t.Errorf("%q: no %q to %q, but\n%s", text, place, target, strings.Join(refs(text), "\n"))
		}
	}
	for kind := markdown.WikilinkRef; kind <= markdown.DecodedMentionRef; kind++ {
		if !kinds[kind] && kind != markdown.CutMentionRef {
			t.Errorf("no example of kind %d", kind)
		}
	}
}

// TestPRIV8_TheAttributesOfTheREADME: the page names those that the scanner knows.
func TestPRIV8_TheAttributesOfTheREADME(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "the obsolete ones included:")
	list, _, _ = strings.Cut(list, "also with a prefix")
	var named []string
	for _, name := range regexp.MustCompile("`([a-z]+)`").FindAllStringSubmatch(list, -1) {
		named = append(named, name[1])
	}
	if diff := cmp.Diff(markdown.URLAttributes(), named); diff != "" {
		t.Error(diff)
	}
}

// TestREL8_AScanAsksWhetherItHasEnded goes over texts in which the scan finds much or
// nothing. It asks often, finds what References does, and does nothing more when it has
// ended.
func TestREL8_AScanAsksWhetherItHasEnded(t *testing.T) {
	const (
		size = 128 << 10 // bytes of a text
		most = 64 << 10  // bytes between two questions
		each = 4096      // steps between two questions
	)
	for part, steps := range map[string]int{ // marks, and what is read at the end since it is not closed
		"](": 2, "[](": 4, "[": 1, "]": 1, "<a href=": 3, "<a href=xxxx": 3, "<a href='": 3, "[[": 2, "[[a]] ": 4,
		"a.md ": 1, "@a ": 1, "[a](b) ": 4, "[a]: b\n[a]\n": 9, "&lsqb;](": 2,
	} {
		text := "[ " + strings.Repeat(part, size/len(part))
		asked, found := 0, 0
		for range markdown.ReferencesUntil(text, func() bool { asked++; return false }) {
			found++
		}
		for range markdown.References(text) {
			found--
		}
		if found != 0 || asked < len(text)/most || asked < size/len(part)*steps/each {
			t.Errorf("%q: it was asked %d times, and found %d more than References", part, asked, found)
		}
		for _, end := range []int{1, asked/2 + 1, asked} { // the last questions are of what is never closed
			again, behind := 0, 0
			for range markdown.ReferencesUntil(text, func() bool { again++; return again >= end }) {
				if again >= end {
					behind++
				}
			}
			if again != end || behind > 0 {
				t.Errorf("%q: ended at question %d, it was asked %d times and found %d more", part, end, again, behind)
			}
		}
	}
}
