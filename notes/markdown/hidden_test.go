package markdown_test

import (
	"strings"
	"testing"

	"github.com/ctxd/ctxd/notes/markdown"
)

// masked returns a text without the references that lead to a hidden target.
func masked(text string, hidden func(target string) bool) string {
	var spans []markdown.Span
	for r := range markdown.References(text) {
		if r.Target != "" && hidden(r.Target) {
			spans = append(spans, markdown.Span{Start: r.Start, End: r.End})
		}
	}
	return markdown.Without(text, spans, "–")
}

func TestCTX34_HiddenLinks(t *testing.T) {
	hidden := func(target string) bool {
		return strings.TrimSuffix(strings.TrimPrefix(target, "Private/"), ".md") == "Plan"
	}
	for text, want := range map[string]string{
		"a [[Plan]] b [[Open]]":                  "a – b [[Open]]",
		"`[[Plan|x]]` <!-- ![[Plan#h]] -->":      "`–` <!-- – -->",
		"[[ Plan\n|x]]":                          "–",
		"a [label](Private/Plan.md#x) b":         "a – b",
		"![a [nested] label](<Plan.md> \"t\")":   "–",
		"[label][r] and [r]\n\n[r]: Plan.md 't'": "– and –\n\n–",
		"<a href='Plan.md'>label</a>":            "–",
		"[label](obsidian://open?file=Plan)":     "–",
		"see Plan.md, Other.md":                  "see –, Other.md",
		"[label](https://example.com/Plan.md)":   "[label](https://example.com/Plan.md)",
		"[open](Open.md) \\[[Plan]\\]":           "[open](Open.md) \\–", // shown as [[Plan]]
	} {
		if got := masked(text, hidden); got != want {
			t.Errorf("%q\n got %q\nwant %q", text, got, want)
		}
	}
}
