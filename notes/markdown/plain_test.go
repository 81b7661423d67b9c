package markdown_test

import (
	"html"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/notes/markdown"
)

func TestCTX2_PlainText(t *testing.T) {
	for _, tc := range []struct{ name, src, want string }{
		{"empty", "", ""},
		{"blanks", " \n\t\n\r\n", ""},
		{"paragraphs", "a\nb\n\n\n\nc\n\n", "a\nb\n\nc"},
		{"CR LF", "a\r\nb\r\n\r\nc", "a\nb\n\nc"},
		{"what looks like frontmatter", "---\na: x\n---\nb", "a: x\nb"},
		{"ATX headings", "# One\n## Two ##\ntext\n#", "One\nTwo\ntext"},
		{"setext headings", "One\n===\nTwo\nlines\n---\ntext", "One\nTwo\nlines\ntext"},
		{"thematic breaks", "a\n\n---\n***\n\nb", "a\n\nb"},
		{"emphasis", "*a* _b_ **c** __d__ ***e*** ~~f~~ ==g== **h *i* j**", "a b c d e f g h i j"},
		{"emphasis in words", "snake_case_name un*frigging*believable 2*3*4 a == b ~/x ~~ y", "snake_case_name unfriggingbelievable 2*3*4 a == b ~/x ~~ y"},
		{"emphasis unmatched", "* a *b **c d* e_ _f 3 * 4 ** 5", "- a *b *c d e_ _f 3 * 4 ** 5"},
		{"emphasis uneven", "**a* *b** ***c** d*", "a b c d"},
		{"emphasis over lines", "*a\nb*\n\n*c\n\nd*", "a\nb\n\n*c\n\nd*"},
		{"escapes", `\*a\* \[b\] \\ \x c:\dir \` + "`d\\`", "*a* [b] \\ \\x c:\\dir `d`"},
		{"hard breaks", "a  \nb\\\nc", "a\nb\nc"},
		{"code span", "`a *b* [[c]]` ``d`e`` `` `f` `` `g\nh` `open", "a *b* [[c]] d`e `f` g h `open"},
		{"fence", "a\n```go\n*b* [[c]]\n\n\n  d  \n```\ne", "a\n*b* [[c]]\n\n\n  d  \ne"},
		{"fence in list", "- a\n  ```\n  b\n  ```\n- c", "- a\n  b\n- c"},
		{"fence in quote", "> ```\n> b\n> ```\n> c", "b\nc"},
		{"fence open", "```\na\n", "a"},
		{"comments", "a <!-- x --> b\n\n<!-- y\n\nz -->\n\nc<!--d-->e", "a  b\n\nce"},
		{"comment to the end of a line", "a <!-- x\n\n- y -->\nb", "a\nb"},
		{"comment open", "a <!-- b", "a <!-- b"},
		{"comment before a block", "<!-- x -->\n# H\n<!-- y -->\n- i", "H\n- i"},
		{"wikilinks", "[[A]] [[B|b]] [[C#H]] [[#H]] [[D#^b1]] ![[E]] ![[p.png|300]] [[]] \\[[F]]", "A b C#H H D E p.png [[]] [[F]]"},
		{"Markdown links", `[a](b.md) [*c* d](<e f> "t") [](g) ![alt](h.png) [i](j`, "a c d  alt [i](j"},
		{"link in link", "[![alt](x)](y) [a [b](c) d](e)", "alt a b d"},
		{"reference links", "[a][r] [R][] [r] [s] [x][y]\n\n[r]: https://e.com", "a R r [s] [x][y]\n\n[r]: https://e.com"},
		{"footnotes", "a[^1]\n\n[^1]: note", "a[^1]\n\n[^1]: note"},
		{"autolinks", "<https://e.com/a_b_c> <me@e.com> https://e.com/x_y_z", "https://e.com/a_b_c me@e.com https://e.com/x_y_z"},
		{"HTML", `<b>a</b> <span class="x > y">c</span> List<String> 1 < 2 > 0 <T>`, `a c List<String> 1 < 2 > 0 <T>`},
		{"line break tag", "a<br>b<br/>c", "a\nb\nc"},
		{"entities", "&amp; &lt; &copy; &#65; &nope; & AT&T `&amp;`", "& < © A &nope; & AT&T &amp;"},
		{"lists", "* a\n+ b\n- c\n  - d\n\t* e\n1. f\n2) g\n-\n- h", "- a\n- b\n- c\n  - d\n\t- e\n1. f\n2) g\n-\n- h"},
		{"HTML blocks", "<div>\n<p>a</p><p>b</p>\n</div>\n<table><tr><td>c</td><td>d</td></tr></table>", "a b\nc d"},
		{"tasks", "- [ ] a\n- [x] b", "- [ ] a\n- [x] b"},
		{"list continued", "- a\n  b\n\n  c", "- a\n  b\n\n  c"},
		{"quotes", "> a\n> b\nc\n\n> - d\n>> e", "a\nb\nc\n\n- d\ne"},
		{"callouts", "> [!note] Title\n> a\n\n> [!warning]-\n> b", "Title\na\n\nwarning\nb"},
		{"table", "| a | *b* |\n|---|:-:|\n| [[c\\|d]] | `e` |\n|  | f\\|g |\n\nh", "a | b\nd | e\n| f|g\n\nh"},
		{"table without outer bars", "a | b\n--|--\nc | d", "a | b\nc | d"},
		{"bars that are no table", "|x| = 3", "|x| = 3"},
		{"block ids", "a ^id\n- b ^c-1\n\nx ^2", "a\n- b\n\nx ^2"},
		{"tags", "#a #b/c", "#a #b/c"},
		{"heading in list", "- # a\n  - ## b", "- a\n  - b"},
		{"scripts", "**日本語**のテキスト、*é* ==ü==", "日本語のテキスト、é ü"},
		{"not UTF-8", "*a\xff* [[b\xc3]]", "a\xff b\xc3"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, markdown.PlainText(tc.src)); diff != "" {
				t.Errorf("%q (-want +got):\n%s", tc.src, diff)
			}
		})
	}
}

func TestCTX2_DocumentPlainTextIsThatOfItsBody(t *testing.T) {
	for _, tc := range []struct{ src, want string }{
		{"---\nsecret: [[x]]\n---\n# *A*\n", "A"},
		{"---\nsecret: x: y\n---\na", "a"},
		{"\uFEFF---\r\nsecret: x\r\n---\r\na", "a"},
		{"\uFEFFa", "a"},
		{"---\nsecret: x\n---\n---\nshown: y\n---\na", "shown: y\na"},
	} {
		if got := markdown.Parse(tc.src).PlainText(); got != tc.want {
			t.Errorf("%q: got %q, want %q", tc.src, got, tc.want)
		}
		if got := markdown.PlainNote(tc.src); got != tc.want {
			t.Errorf("PlainNote(%q) = %q, want %q", tc.src, got, tc.want)
		}
	}
}

// TestCTX2_NothingIsInvented: the plain text of the real notes is their text
// with some characters left out, and spaces, bullets and table bars apart
// nothing put in.
func TestCTX2_NothingIsInvented(t *testing.T) {
	for _, vault := range []string{"vault-logseq", "vault-silverbullet"} {
		for path, src := range vaultNotes(t, testVault(t, vault)) {
			plain := markdown.PlainNote(src)
			// An entity is a character in text and stays an entity in code.
			if at := firstNew(plain, src); at != "" && firstNew(plain, html.UnescapeString(src)) != "" {
				t.Errorf("%s: %.40q is not in the note", path, at)
			}
			if again := markdown.PlainText(plain); len(again) > len(plain) {
				t.Errorf("%s: plain text of plain text grew", path)
			}
			if strings.Contains(plain, "\n\n\n") && !strings.Contains(src, "```") && !strings.Contains(src, "~~~") {
				t.Errorf("%s: more than one blank line", path)
			}
		}
	}
}

// firstNew returns plain from the first character on that does not follow in
// src, in order.
func firstNew(plain, src string) string {
	for i, r := range plain {
		if unicode.IsSpace(r) || r == '-' || r == '|' {
			continue
		}
		k := strings.IndexRune(src, r)
		if k < 0 {
			return plain[i:]
		}
		src = src[k+utf8.RuneLen(r):]
	}
	return ""
}
