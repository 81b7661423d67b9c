package markdown_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/notes/markdown"
)

// pieces are what texts are made of that the readers might understand differently.
var pieces = []string{
	"@", "@Bob ", "@[Bob Smith]", "a", " ", "\n", "\n\n", "`", "``", "```\n", "[[", "]]", "[[A|b]]", "[[]]", "![[", "[", "]", "(", ")",
	"\\", "<!--", "-->", "<", ">", "!", "#tag", "# ", "> ", "- ", "^id", "|", "[x](y)", "    ", "\t", "é", "e\u0301", "看", "---\n",
	"| a | b |\n|---|---|\n", "~~~\n", "\r\n",
}

// TestPRIV8_AMessageIsReadAsTheOthersReadIt: its links are those of a note app outside code by its indent, and its mentions
// are among what is withheld.
func TestPRIV8_AMessageIsReadAsTheOthersReadIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 25).Draw(t, "pieces"), "")
		links := markdown.Links(text)
		for i := range links {
			links[i].Line = 0
		}
		m := markdown.ReadMessage(text)
		for i := 0; i < len(links); i++ { // those in code by its indent are left out
			if i < len(m.Links) && m.Links[i].Start == links[i].Start {
				continue
			}
			if !strings.Contains(text, "    ") && !strings.Contains(text, "\t") {
				break
			}
			links = slices.Delete(links, i, i+1)
			i--
		}
		if diff := cmp.Diff(links, m.Links, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%q: other links: %s", text, diff)
		}
		var again markdown.Message
		again.Read(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 25).Draw(t, "before"), ""))
		again.Forget()
		again.Read(text)
		if diff := cmp.Diff(m, again, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%q, in the memory of another: %s", text, diff)
		}
		var starts []int
		for r := range markdown.References(text) {
			starts = append(starts, r.Start)
		}
		end := 0
		for _, span := range m.Prose {
			if span[0] < end || span[1] <= span[0] {
				t.Fatalf("%q: prose is at %v", text, m.Prose)
			}
			end = span[1]
		}
		for r := range m.Mentions() {
			if r.Kind == markdown.MentionRef && !slices.Contains(starts, r.Start) {
				t.Fatalf("%q: the mention at %d is not withheld", text, r.Start)
			}
		}
	})
}

// TestREF6_CodeByItsIndent follows CommonMark: nothing in a message is meant in code by its indent. Each expectation was
// compared with a parser of CommonMark, but for the last three: what note apps read beside it.
func TestREF6_CodeByItsIndent(t *testing.T) {
	for _, tc := range []struct {
		src  string
		want string // what is meant
	}{
		{"Why does this fail?\n\n    @property\n    def [[name]](self):\n\nAsk [[Ann]].", "Ann"},
		{"    [[a]]", ""},
		{"\t[[a]]", ""},
		{"  \t[[a]]", ""},
		{"   [[a]]", "a"},
		{"text\n    [[a]]", "a"},
		{"text\n\n    one\n\n\n    [[a]]\n   [[b]]", "b"},
		{"# Heading\n    [[a]]", ""},
		{"Heading\n===\n    [[a]]", ""},
		{"---\n    [[a]]", ""},
		{"```\nx\n```\n    [[a]]", ""},
		{"text\r\n\r\n    [[a]]\r\n[[b]]\r\n", "b"},
		// Lists: the indent of the item's text counts.
		{"- one\n\n  [[a]]", "a"},
		{"- one\n\n     [[a]]", "a"},
		{"- one\n\n      [[a]]", ""},
		{"- one\n\n\t[[a]]", "a"},
		{"- one\n\n\t\t[[a]]", ""},
		{"- one\n      [[a]]", "a"},
		{"1. one\n\n      [[a]]\n\n       [[b]]", "a"},
		{"10) one\n\n       [[a]]\n\n        [[b]]", "a"},
		{"- one\n\t- two\n\n\t\t- [[a]]\n\n\t\t\t[[b]]", "a b"},
		{"- one\n    - two\n\n      [[a]]\n\n          [[b]]", "a"},
		{"- one\n\n        - [[a]]", ""},
		{"- one\n        -     [[a]]", "a"},
		{"   1. one\n\t2. two\n\n\n      3. [[a]]", "a"},
		{"- one\nlazy\n\n    [[a]]", "a"},
		{"- one\n\ntext\n\n    [[a]]", ""},
		{"- one\n# Heading\n\n    [[a]]", ""},
		{"-     [[a]]", ""},
		{"-    [[a]]", "a"},
		{"- \t[[a]]", "a"},
		{"-\t\t[[a]]", ""},
		{"- - one\n\n    [[a]]\n\n        [[b]]", "a"},
		{"* * *\n    [[a]]", ""},
		{"    - [[a]]\n    - [[b]]", ""},
		// Quotes.
		{">     [[a]]", ""},
		{">    [[a]]", "a"},
		{"text\n>     [[a]]", ""},
		{"> text\n>     [[a]]", "a"},
		{"> text\n>\n>     [[a]]\n> [[b]]", "b"},
		{"> - one\n>\n>     [[a]]\n>\n>       [[b]]", "a"},
		{"- > one\nlazy\n\n    [[a]]", "a"},
		{"    > [[a]]", ""},
		{"> one\n\n    [[a]]", ""},
		{"[^1]: one\n\n    [[a]]\n\n        [[b]]", "a"},
		{"| x |\n|---|\n    [[a]]", "a"},
		{"x <!-- y\n\n    --> [[a]]", "a"},
	} {
		var got []string
		for r := range markdown.Mentions(tc.src) {
			got = append(got, r.Target)
		}
		if got := strings.Join(got, " "); got != tc.want {
			t.Errorf("%q means %q, want %q", tc.src, got, tc.want)
		}
	}
}
