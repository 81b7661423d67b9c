package markdown_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/ctxd/ctxd/fixtures/steps"
	"github.com/ctxd/ctxd/notes/markdown"
)

// frontmatterFunctions are all that read a text, by their names.
var frontmatterFunctions = map[string]func(text string){
	"SplitFrontmatter": func(text string) { markdown.SplitFrontmatter(text) },
	"ReadFrontmatter":  func(text string) { _, _ = markdown.ReadFrontmatter(text, 1) },
	"MentionsKey":      func(text string) { markdown.MentionsKey(text, "private") },
	"IsHeadComplete":   func(text string) { markdown.IsHeadComplete(text) },
	"MatchesKey":       func(text string) { markdown.MatchesKey(text, "private") },
	"WikilinkLen":      func(text string) { _ = markdown.WikilinkLen("[[" + text + "]]") },
	"LineEnd":          func(text string) { markdown.LineEnd(text, 0) },
	"Frontmatter.Get": func(text string) {
		fields, _ := markdown.ReadFrontmatter(text, 1)
		fields.Get("private")
	},
	"FrontmatterField.Texts":    func(text string) { markdown.FrontmatterField{Raw: text, Value: text}.Texts() },
	"FrontmatterField.IsScalar": func(text string) { markdown.FrontmatterField{Raw: text, Value: text}.IsScalar() },
}

// TestPRIV8_EveryFunctionIsLinear_Frontmatter runs all of them over texts that are hostile, bare,
// between markers and as one value, and looks at the growth of their steps. What is
// given to the YAML parser is at most 32 KiB, and not looked into here.
func TestPRIV8_EveryFunctionIsLinear_Frontmatter(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	if !steps.Counting(t, "github.com/ctxd/ctxd/notes/markdown") {
		return
	}
	places := []steps.Place{
		{},
		{Name: ", between markers", Before: "---\n", After: "\n---\n"},
		{Name: ", as a value", Before: "a: ", After: "\nb: c\n"},
	}
	steps.Each(places, func(family string, text func(size int) string, p steps.Place) {
		made := func(size int) string { return p.Before + text(size) + p.After }
		for name, call := range frontmatterFunctions {
			steps.Linear(t, name, family, 4<<10, made, func(text string) func() { return func() { call(text) } })
		}
	})
}

// TestEveryFunctionOfATextIsMeasured_Frontmatter: one that is exported has its entry above.
func TestEveryFunctionOfATextIsMeasured_Frontmatter(t *testing.T) {
	wanted := steps.Exported(t, "frontmatter_*.go", "string", "*Frontmatter", "FrontmatterField")
	steps.Every(t, wanted, slices.Collect(maps.Keys(frontmatterFunctions)))
}
