package prompt_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/text"
)

func TestCTX2_ANoteIsShownAsItStands(t *testing.T) {
	for _, src := range []string{
		"plain *emphasis* **strong** ~~gone~~ ==high== `code`",
		"- [ ] open\n- [x] done\n  - deeper\n1. one",
		"| a | b |\n|---|:-:|\n| [[c\\|d]] | `e` |",
		"a | b\n--- | ---\nc | d",
		"[text](https://e.com \"t\") ![alt](p.png) <https://e.com> [r][1]\n\n[1]: https://e.com",
		"[[Note#Heading|alias]] ![[embed.png|300]] ^block-id",
		"#tag and #nested/tag\n#tag",
		"> quote\n> > deeper\n\n> [!note]- Title\n> text",
		"a  \nhard break\\\nand <b>HTML</b> &amp; \\*escaped\\*",
		"```go\n# not a heading\nfunc main() {}\n```",
		"$$\nx^2\n$$\n\n[^1]: footnote",
		"    indented\n\n\ntwo blank lines",
		"#!shebang is no heading\n####### nor is this",
		"100%% of it, 3 * 4, a_b_c, --",
		"日本語 **強調** é 👩‍👩‍👧",
	} {
		if diff := cmp.Diff(src, prompt.NewNoteBody(prompt.RenderNote(src), 0).String()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", src, diff)
		}
	}
}

func TestCTX31_StructureOfANoteComesBelowThatOfAPrompt(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"headings", "# a\n## b ##\n### c\n#### d\n###### f\n#", "#### a\n##### b ##\n###### c\n###### d\n###### f\n####"},
		{"indented headings", "  # a\n   ## b\n    ## c", "  #### a\n   ##### b\n    ## c"},
		{"headings in containers", "> # a\n- ## b\n  # c\n1. # d", "> #### a\n- ##### b\n  #### c\n1. #### d"},
		{"headings without a blank", "##a\n###b\n#c\n####d", "#####a\n######b\n#c\n####d"},
		{"headings with a strange blank", "##\u00a0a\n##\u2003b", "#####\u00a0a\n#####\u2003b"},
		{"underlined headings", "One\n===\nTwo\nlines  \n---\ntext\n--", "#### One\n##### Two lines\n##### text"},
		{"underlined in a quote", "> a\n> b\n> ---\n> c", "> ##### a b\n> c"},
		{"no underlines", "===\n\n- a\n---\n| a |\n|---|\n| b |\n---\n> q\n---", "===\n\n- a\n* * *\n| a |\n|---|\n| b |\n* * *\n> q\n* * *"},
		{"a lazy line is not underlined", "> a\nb\n---", "> a\nb\n* * *"},
		{"rules", "a\n\n---\n***\n_ _ _\n - - -\n> ---\n- * * *", "a\n\n* * *\n* * *\n* * *\n * * *\n> * * *\n- * * *"},
		{"rules that are none", "--\n\n--- a\n**\n-*-", "--\n\n--- a\n**\n-*-"},
		{"code", "```\n# a\n## b\n### c\n #d\n---\n ---\n--- a\n\\## b\n```", "```\n# a\n\\## b\n\\### c\n #d\n\\---\n ---\n\\--- a\n\\## b\n```"},
		{"code in a quote", "> ```\n> ## a\n> ```\n## b", "> ```\n> ## a\n> ```\n##### b"},
		{"code that ends with its quote", "> ```\n## a", "> ```\n##### a"},
		{"code that ends with its item", "- ```\n  ## a\n## b", "- ```\n  ## a\n##### b"},
		{"code that is not closed", "a\n~~~~ x\nb\n~~~\n", "a\n~~~~ x\nb\n~~~\n~~~~"},
		{"not closed in a quote", "> ```\n> a", "> ```\n> a\n> ```"},
		{"not closed in an item", "1. ```\n   a", "1. ```\n   a\n   ```"},
		{"ticks that open none", "``` a`b\n## c", "``` a`b\n##### c"},
		{"tildes may have ticks", "~~~ a`b\n## c\n~~~", "~~~ a`b\n\\## c\n~~~"},
		{"a short fence closes none", "````\n```\n## a\n````", "````\n```\n\\## a\n````"},
		{"ends of lines", "a\r\n## b\r## c\u2028## d\v---\f### e\u0085# f\u2029g", "a\n##### b\n##### c\n##### d\n* * *\n###### e\n#### f\ng"},
		{"blank lines at both ends", " \n\n  a\n\nb\n \n\u200b\n", "  a\n\nb"},
		{"hidden characters", "#\u200b# a\u200db\n\u2060## c\n-\u00ad--\n\n`\u200b``\n\u034f## d\n`\u200b``\u200b", "##### a\u200db\n##### c\n* * *\n\n```\n\\\u034f## d\n```"},
		{"a long paragraph is no heading", strings.Repeat("a\n", 40) + "---", strings.Repeat("a\n", 40) + "* * *"},
		{"empty", "", ""},
		{"nothing seen", " \n\t\n\u200b", ""},
	} {
		if diff := cmp.Diff(c.want, prompt.NewNoteBody(c.src, 0).String()); diff != "" {
			t.Errorf("%s: %q (-want +got):\n%s", c.name, c.src, diff)
		}
	}
}

func TestCTX2_CommentsAreNotShown(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"HTML", "a <!-- x --> b<!--y-->c", "a bc"},
		{"HTML over lines", "a\n\n<!-- x\n\n## y -->\n\nb", "a\n\nb"},
		{"before a block", "<!-- x -->\n# H\n<!-- y -->\n- i", "# H\n- i"},
		{"at the end of a line", "a <!-- x -->\nb", "a\nb"},
		{"text behind it", "<!-- x\ny --> z", "z"},
		{"percent signs", "a %%x%% b\n\n%%\ny\n\nz\n%%\n\nc", "a b\n\nc"},
		{"several on a line", "%%a%% <!-- b --> %%c%%\nd", "d"},
		{"in an item", "- a %%x%%\n- %%y%% b\n> %%z%%\n> c", "- a\n- b\n>\n> c"},
		{"unclosed", "a <!-- b\n%% c", "a <!-- b\n%% c"},
		{"unclosed in its paragraph", "5%% a\n\n6%% b", "5%% a\n\n6%% b"},
		{"shortest", "a<!-->b<!--->c%%%%d", "abcd"},
		{"in code", "`<!-- a -->` `%%b%%`\n\n```\n<!-- c -->\n%%d%%\n```\n~~~\n%%\n~~~\n%%e%%", "`<!-- a -->` `%%b%%`\n\n```\n<!-- c -->\n%%d%%\n```\n~~~\n%%\n~~~"},
		{"ticks that are no code", "a ` b\n\n<!-- c ` -->d", "a ` b\n\nd"},
		{"behind a backslash", `a \<!-- b --> \%%c`, `a \<!-- b --> \%%c`},
		{"a fence in a comment", "<!--\n```\n-->\n# a\n<!-- b -->", "# a"},
		{"ends of lines", "a\r\n%%x%%\r\nb\rc", "a\nb\nc"},
		{"joins to structure", "#<!-- x --># a", "## a"},
	} {
		if diff := cmp.Diff(c.want, prompt.RenderNote(c.src)); diff != "" {
			t.Errorf("%s: %q (-want +got):\n%s", c.name, c.src, diff)
		}
	}
}

// bodyPieces are what texts are made of that try all forms of lines.
var bodyPieces = []string{
	"#", "##", "### ", "# a", "---", "--", "***", "* * *", "===", "\n", "\n", "\n", "\n\n", "\r\n", "\r", "\u2028", "\v", " ", "    ", "\t", "> ", ">", "- ", "1. ",
	"```", "````", "~~~", "```go\n", "`", "|", "|---|", "\\", "<!--", "-->", "%%", "a", "b.", "word ", "日本。", "é", "👩‍👩‍👧", "\u200b", "\u00ad", "[[x]]", "…",
}

func drawn(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(bodyPieces), 0, 40).Draw(t, "text"), "")
}

// TestCTX31_NoLineOfABodyIsOneOfAPrompt: and what it says is all there, and nothing else.
func TestCTX31_NoLineOfABodyIsOneOfAPrompt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := drawn(t)
		got := prompt.NewNoteBody(src, 0).String()
		for line := range strings.SplitSeq(got, "\n") {
			if line = seen(line); line == "---" || strings.HasPrefix(line, "## ") || strings.HasPrefix(line, "### ") {
				t.Fatalf("%q has the line %q", got, line)
			}
		}
		if words(got) != words(src) {
			t.Fatalf("%q says %q, not %q", got, words(got), words(src))
		}
		if !holdsContainer(src) && openAtEnd(got) {
			t.Fatalf("%q became %q, which ends in code", src, got)
		}
	})
}

// seen is a text without what shows nothing.
func seen(s string) string {
	return strings.Map(func(r rune) rune {
		if text.IsHidden(r) {
			return -1
		}
		return r
	}, s)
}

// words is what a text says: without marks that form lines, blanks and what shows nothing.
func words(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || text.IsHidden(r) || text.IsBreak(r) || strings.ContainsRune("#-*_=\\`~>", r) {
			return -1
		}
		return r
	}, s)
}

// holdsContainer reports whether a text may hold quotes or lists, with which code ends.
func holdsContainer(s string) bool {
	s = strings.ReplaceAll(seen(s), "\t", " ")
	return strings.Contains(s, ">") || strings.Contains(s, "- ") || strings.Contains(s, "* ") || strings.Contains(s, "1. ")
}

// openAtEnd reports whether code is open at the end of a text, outside of quotes and
// lists, for a reader who knows of nothing else.
func openAtEnd(s string) bool {
	char, size := byte(0), 0
	for line := range strings.SplitSeq(s, "\n") {
		rest := strings.TrimLeft(line, " ")
		if len(line)-len(rest) > 3 || rest == "" || rest[0] != '`' && rest[0] != '~' {
			continue
		}
		n := len(rest) - len(strings.TrimLeft(rest, rest[:1]))
		switch after := rest[n:]; {
		case char == 0 && n >= 3 && (rest[0] == '~' || !strings.Contains(after, "`")):
			char, size = rest[0], n
		case char == rest[0] && n >= size && strings.Trim(after, " \t") == "":
			char = 0
		}
	}
	return char != 0
}

// TestCTX2_WhatIsCutFits draws a limit: the beginning of the body is shown, and code that
// was open is closed.
func TestCTX2_WhatIsCutFits(t *testing.T) {
	cost := func(r rune) int {
		if r == '>' {
			return 4
		}
		return 1
	}
	rapid.Check(t, func(t *rapid.T) {
		b := prompt.NewNoteBody(drawn(t), 0)
		limit := rapid.IntRange(0, 200).Draw(t, "limit")
		s, cut := b.Cut(limit, nil)
		if whole := b.String(); cut != (text.CountChars(whole) > limit) || !cut && s != whole || text.CountChars(s) > limit {
			t.Fatalf("%q cut to %d is %q, %v", whole, limit, s, cut)
		}
		if head, _, _ := strings.Cut(s, text.Ellipsis); cut && limit > 0 && !strings.Contains(b.String(), text.Ellipsis) &&
			!strings.HasPrefix(b.String(), strings.TrimRight(head, " \n")) {
			t.Fatalf("%q does not begin with %q", b, head)
		}
		if cut && !holdsContainer(b.String()) && openAtEnd(s) {
			t.Fatalf("%q cut to %d is %q, which ends in code", b, limit, s)
		}
		written := 0
		s, _ = b.Cut(limit, cost)
		for _, r := range s {
			written += cost(r)
		}
		if written > limit {
			t.Fatalf("%q cut to %d takes %d", b, limit, written)
		}
	})
}

func TestCTX2_ABodyIsCutWhereALineOrASentenceEnds(t *testing.T) {
	for _, c := range []struct {
		src, want string
		limit     int
	}{
		{"one two\nthree\nfour", "one two\nthree …", 17},
		{"One two three. Four five", "One two three. …", 18},
		{"一二三四五六七八。九一二三四", "一二三四五六七八。 …", 11},
		{"Four of the five items\n4. here", "Four of the five items …", 27},
		{"Is it really? Yes", "Is it really? …", 16},
		{"e.g.this is not one", "e.g.this is…", 12},
		{"a long way before. it is", "a long way before. …", 23},
		{"Far. abcdefghijklmnopqrstuvw", "Far. abcdefghijklmn…", 20},
		{"```\nabcdefghi\njkl\nm\n```", "```\nabcdefghi\n…\n```", 21},
		{"> ```\n> abcdefgh\n> i\n> ```", "> ```\n> abcde\n…\n> ```", 21},
		{"aaaa ae\u0301o bbb", "aaaa a…", 8},
		{"````````````\nabc\n````````````", "…", 16},
		{"abc\n````````````\nabc\n````````````", "abc\n…", 24},
		{"```go\n```#\n```", "…", 10},
		{"```\na\n```\nmore of it", "```\na\n```\n…", 11},
		{"abc", "…", 1},
		{"abc", "", 0},
	} {
		got, cut := prompt.NewNoteBody(c.src, 0).Cut(c.limit, nil)
		if got != c.want || !cut {
			t.Errorf("%q cut to %d is %q, want %q", c.src, c.limit, got, c.want)
		}
	}
}

// TestCTX2_ALongNoteIsReadAsFarAsItIsShown: what is read of it does as well as all.
func TestCTX2_ALongNoteIsReadAsFarAsItIsShown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := drawn(t) + strings.Repeat(drawn(t), 3)
		most := rapid.IntRange(1, 60).Draw(t, "most")
		want, _ := prompt.NewNoteBody(src, 0).Cut(most, nil)
		short := prompt.NewNoteBody(src, most+16)
		if got, _ := short.Cut(most, nil); got != want {
			t.Fatalf("%q to %d: %q, want %q", src, most, got, want)
		}
	})
}

func TestCTX3_PropertiesComeBeforeTheText(t *testing.T) {
	long := strings.Repeat("x", 990)
	var many []prompt.Property
	for range 25 {
		many = append(many, prompt.Property{Key: "k", Value: "v"})
	}
	for _, c := range []struct {
		name, text string
		list       []prompt.Property
		want       string
	}{
		{"none", "text", nil, "text"},
		{"some", "# text", []prompt.Property{{Key: "status", Value: "in progress"}, {Key: "tags", Value: "a, b"}}, "status: in progress\ntags: a, b\n\n#### text"},
		{"no text", "", []prompt.Property{{Key: "a", Value: "b"}}, "a: b"},
		{"lines", "", []prompt.Property{{Key: "a\nb", Value: " c\r\n## d\n\ne"}}, "a b: c ## d e"},
		{"structure", "", []prompt.Property{{Key: "## a", Value: "b"}, {Key: "\u200b---", Value: "c"}, {Key: "```", Value: "d"}, {Key: "> e", Value: "f"}}, "\\## a: b\n\u200b\\---: c\n\\```: d\n\\> e: f"},
		{"many", "text", many, strings.Repeat("k: v\n", 20) + "(+5 more)\n\ntext"},
		{"long", "text", []prompt.Property{{Key: "a", Value: long + long}, {Key: "b", Value: "c"}}, "a: " + long + "xxxxxx…\n(+1 more)\n\ntext"},
		{"no room for another", "text", []prompt.Property{{Key: "a", Value: long}, {Key: "b", Value: strings.Repeat("c", 50)}}, "a: " + long + "\n(+1 more)\n\ntext"},
	} {
		if diff := cmp.Diff(c.want, prompt.NewNoteBody(c.text, 0).Under(c.list).String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestCTX31_NoPropertyIsALineOfAPrompt: nor does it change what the text after it is.
func TestCTX31_NoPropertyIsALineOfAPrompt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := prompt.NewNoteBody("## text", 0).Under([]prompt.Property{
			{Key: rapid.SampledFrom(bodyPieces).Draw(t, "mark") + drawn(t), Value: drawn(t)},
		})
		lines := strings.Split(seen(b.String()), "\n")
		if len(lines) != 3 || lines[1] != "" || lines[2] != "##### text" {
			t.Fatalf("%q", lines)
		}
		if strings.HasPrefix(lines[0], "#") || strings.HasPrefix(lines[0], "---") {
			t.Fatalf("the line %q", lines[0])
		}
	})
}
