package markdown_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/notes/markdown"
)

// fieldsOf writes the inline fields of a note, one a part: line, key and value.
func fieldsOf(src string) string {
	var list []string
	markdown.InlineFields(src, func(f markdown.InlineField) {
		list = append(list, fmt.Sprintf("%d %s=%s", f.Line, f.Key, strings.Join(f.Texts(), ",")))
	})
	return strings.Join(list, " | ")
}

func TestSRCH55_TheFormsOfInlineFields(t *testing.T) {
	for _, tc := range []struct{ src, want string }{
		{"Status:: in progress", `1 Status=in progress`},
		{"---\nx: 1\n---\n\nA:: 1\nB:: 2\r\nC:: 3", `5 A=1 | 6 B=2 | 7 C=3`},
		{"- Due date:: 2026-03-04\n  - * deep:: x\n1. n:: y\n> q:: z\n> > r:: w", `1 Due date=2026-03-04 | 2 deep=x | 3 n=y | 4 q=z | 5 r=w`},
		{"- item\n  Status:: open\n> quote\n> Status:: done", `2 Status=open | 4 Status=done`},
		{"**Status**:: open\n_Place_:: Rome\n- **Übung 2**:: x\n👍 mood:: y", `1 Status=open | 2 Place=Rome | 3 Übung 2=x | 4 👍 mood=y`},
		{"We met [place:: Rome] and (with:: [[Ann]]).", `1 place=Rome | 1 with=[[Ann]]`},
		{"[a:: see [this](x.md) (b:: c) [d] e] f", `1 a=see [this](x.md) (b:: c) [d] e`},
		{"[a:: [b:: c]", `1 b=c`},
		{"(a:: f(x) y) z", `1 a=f(x) y`},
		{"# Heading [k:: v]\n\nTitle (k:: w)\n---\n", `1 k=v | 3 k=w`},
		{"| a | b |\n|---|---|\n| [k:: v] | [l:: w |\n", `3 k=v`},
		{"Key:: some [other:: thing]", `1 other=thing`},
		{"k:: a [[b]] `c` ^block-1\nl:: d <!-- e -->\nm:: f %% g %%", "1 k=a [[b]] `c` | 2 l=d | 3 m=f"},
		// Values stay as they are written.
		{"a:: *b* #tag __c__\nn:: 02134\nd:: 2026-03-04T10:00\nt:: 10:30", `1 a=*b* #tag __c__ | 2 n=02134 | 3 d=2026-03-04T10:00 | 4 t=10:30`},
		{"a:: b, c\nl:: [[A]], [[B|C]]\nq:: \"x, y\", \"z\"\none:: \"x\"", `1 a=b, c | 2 l=[[A]],[[B|C]] | 3 q=x, y,z | 4 one=x`},
		{"l::[[A]]\n[q::\"x\"]", `1 l=[[A]] | 2 q=x`},
		{"l:: [[A]] and [[B]]\nq:: \"x\" y\nr:: \"open", `1 l=[[A]] and [[B]] | 2 q="x" y | 3 r="open`},
		// What is none.
		{"std::vector is fast\nuse (std::string) or [ns::name]\nstd::vector:: x\nA:::: b\nA::: b", ``},
		{"http://a::b\n[x](http://a:: b)\n<http://a::b>\nfe80::1 (fe80::1) [2001:db8::1] ::1", ``},
		{"map :: (a -> b) -> [a]\nAt 10:30:: x\n:: x\n10:: x\n--:: x", ``},
		{"`a:: b` [`c:: d`]\n```\nc:: d\n```\n~~~\n[c:: d]\n~~~", ``},
		{"<!-- \na:: b\n-->\n%%\nc:: d\n%%\n\ne:: f", `8 e=f`},
		{"%% a:: b %% [c:: d] %% x\n\n[e:: f] %%\ng:: h", `1 c=d | 4 g=h`},
		{"$a:: b$ and $(c:: d)$\n$$\ne:: f\n$$\nIt costs $5 [k:: v] or $6", `5 k=v`},
		{"[[a:: b]] [a:: b](c.md) [d](e (f:: g)) \\[a:: b]\n[[x|k:: v]]", ``},
		{"Empty::\n[e::]\n(e:: )\nE::  ", ``},
		{"a sentence, with a comma:: x\n(see (this:: y)\nwhat? no:: z", `2 this=y`},
		{"- [ ] Pay [due:: 2026-03-04]\n- TODO x:: y\n- [x] a:: b\n  note:: c", `4 note=c`},
		{"- block\n  id:: 64f0c0a2-1111-4222-8333-444455556666\n  collapsed:: true\n  id:: mine", `4 id=mine`},
		{strings.Repeat("k", 200) + ":: v", ``},
		{"`open\nk:: v` [l:: w]\nm:: n", `2 l=w | 3 m=n`},
	} {
		if got := fieldsOf(tc.src); got != tc.want {
			t.Errorf("%q:\n got %s\nwant %s", tc.src, got, tc.want)
		}
	}
}

// Several of one key are a list, behind what the frontmatter says of it.
func TestSRCH55_FieldsAreMerged(t *testing.T) {
	src := "---\nstatus: open\ntags: [a]\nempty:\nmap: {x: 1}\n---\nSTATUS:: done\nplace:: Rome\ntags:: b\nplace:: \"Bonn\", \"Kiel\"\nempty:: no\nmap:: x"
	var list []string
	doc := markdown.Parse(src)
	for _, f := range doc.Fields() {
		list = append(list, fmt.Sprintf("%d %s=%v %v", f.Line, f.Key, f.Value, f.Texts()))
	}
	want := []string{
		"2 status=[open done] [open done]", "3 tags=[a b] [a b]", "4 empty=no [no]", "5 map=map[x:1] []",
		"8 place=[Rome Bonn Kiel] [Rome Bonn Kiel]",
	}
	if !slices.Equal(list, want) {
		t.Errorf("%q", list)
	}
	if again := doc.Fields(); len(again[1].RawItems) != 2 || len(doc.Frontmatter.Fields[1].RawItems) != 1 {
		t.Error("the frontmatter has become another one")
	}
}

func FuzzInlineFields(f *testing.F) {
	addSeeds(f)
	f.Add("k:: v [a:: (b:: c)] `d:: e` %% f:: g %%\n> h:: $i$")
	f.Fuzz(func(t *testing.T, src string) {
		last := -1
		markdown.InlineFields(src, func(f markdown.InlineField) {
			at := f.Place
			if at.Start <= last || at.Start >= at.End || at.End > len(src) || f.Key == "" || len(f.Texts()) == 0 {
				t.Fatalf("%+v behind %d", f, last)
			}
			last = at.Start
			if line := 1 + strings.Count(src[:at.Start], "\n"); line != f.Line {
				t.Errorf("%+v is in line %d", f, line)
			}
			if value := src[at.Start:at.End]; f.Raw != "" && !strings.Contains(value, f.Raw) || strings.ContainsAny(value, "\n") {
				t.Errorf("%+v: %q", f, value)
			}
		})
	})
}
