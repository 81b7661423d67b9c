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

// TestPRIV8_AMessageIsReadAsTheOthersReadIt: its links are those of a note app, and its mentions
// are among what is withheld.
func TestPRIV8_AMessageIsReadAsTheOthersReadIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 25).Draw(t, "pieces"), "")
		links := markdown.Links(text)
		for i := range links {
			links[i].Line = 0
		}
		m := markdown.ReadMessage(text)
		if diff := cmp.Diff(links, m.Links); diff != "" {
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
