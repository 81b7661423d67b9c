package markdown_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures/steps"
	"github.com/ctxd/ctxd/notes/markdown"
)

// functions are all that read a text, by their names.
var functions = map[string]func(text string){
	"Parse":              func(text string) { markdown.Parse(text) },
	"Document.PlainText": func(text string) { (&markdown.Document{Body: text}).PlainText() },
	"PlainText":          func(text string) { markdown.PlainText(text) },
	"PlainNote":          func(text string) { markdown.PlainNote(text) },
	"Outline":            func(text string) { markdown.Outline(text) },
	"Links":              func(text string) { markdown.Links(text) },
	"Headings":           func(text string) { markdown.Headings(text, func(markdown.Heading) {}) },
	"Blocks":             func(text string) { markdown.Blocks(text, func(markdown.Block) {}) },
	"Document.EachLink": func(text string) {
		for range markdown.Parse(text).EachLink() {
			continue
		}
	},
	"Document.EachFileLink": func(text string) {
		for range markdown.Parse(text).EachFileLink() {
			continue
		}
	},
	"Paragraphs": func(text string) {
		for range markdown.Paragraphs(text) {
			continue
		}
	},
	"Tasks":           func(text string) { markdown.Tasks(text, func(record.Task) {}) },
	"InlineFields":    func(text string) { markdown.InlineFields("k:: v\n"+text, func(markdown.InlineField) {}) },
	"MergeInline":     func(text string) { markdown.MergeInline(nil, "k:: v\n"+text) },
	"Document.Fields": func(text string) { markdown.Parse("k:: v\n" + text).Fields() },
	"MayHaveTasks":    func(text string) { markdown.MayHaveTasks(text) },
	"SetTask":         func(text string) { _, _, _, _ = markdown.SetTask("- [ ] a\n"+text, 1, true, time.Time{}) },
	"LabelsOf":        func(text string) { markdown.LabelsOf(text) },
	"MayRefer":        func(text string) { markdown.MayRefer(text) },
	"BracketedName":   func(text string) { markdown.BracketedName(text) },
	"EncodedLen":      func(text string) { markdown.EncodedLen(text, len(text)) },
	"ParseLink":       func(text string) { markdown.ParseLink("[[" + text + "]]") },
	"ParseTarget":     func(text string) { markdown.ParseTarget(text) },
	"IsLink": func(text string) {
		markdown.IsLink("[[" + text + "]]")
		markdown.IsLink(text + ".md")
		markdown.IsLink(text)
	},
	"ListMark":   func(text string) { _ = markdown.ListMark("1" + text) },
	"LinkSource": func(text string) { markdown.LinkSource(text, text, "[["+text+"]]") },
	"SplitTags":  func(text string) { markdown.SplitTags(text) },
	"IsDest":     func(text string) { _ = markdown.IsDest(text) },
	"ReadLink": func(text string) {
		markdown.ReadLink("[[" + text + "]]")
		markdown.ReadLink(text + ".md#" + text)
	},
	"Link.Text": func(text string) {
		_ = markdown.Link{Target: text, Alias: text, Embed: true}.Text()
	},
	"FindParts": func(text string) {
		markdown.FindParts(text, []markdown.Part{{Heading: "a"}, {Heading: "a#b"}, {Block: "c"}})
	},
	"Anchor":          func(text string) { _ = markdown.Anchor(text) },
	"Anchors.Next":    func(text string) { new(markdown.Anchors).Next(text) },
	"LinkableHeading": func(text string) { markdown.LinkableHeading(text) },
	"SameHeading":     func(text string) { markdown.SameHeading(text, text) },
	"PartOfLink":      func(text string) { _, _ = markdown.PartOfLink(markdown.Link{Heading: text, Block: text}) },
	"Link.Picture":    func(text string) { _ = markdown.Link{Target: text + ".png", Embed: true}.Picture() },
	"Link.Possible":   func(text string) { _ = markdown.Link{Raw: text, Markdown: true}.Possible() },
	"References": func(text string) {
		for range markdown.References(text) {
			continue
		}
	},
	"ReferencesUntil": func(text string) {
		for range markdown.ReferencesUntil(text, func() bool { return false }) {
			continue
		}
	},
	"Labels.References": func(text string) {
		for range (markdown.Labels{"a": {"b", "c"}}).References(text) {
			continue
		}
	},
	"Reference.Reach": func(text string) {
		for at := range len(text) {
			markdown.Reference{Kind: markdown.MentionRef, End: at}.Reach(text)
		}
	},
	"Mentions": func(text string) {
		for range markdown.Mentions(text) {
			continue
		}
	},
	"ReadMessage":  func(text string) { markdown.ReadMessage(text) },
	"Message.Read": func(text string) { new(markdown.Message).Read(text) },
	"Without": func(text string) {
		var spans []markdown.Span
		for r := range markdown.References(text) {
			spans = append(spans, markdown.Span{Start: r.Start, End: r.End})
		}
		markdown.Without(text, spans, "x")
	},
}

// TestPRIV8_EveryFunctionIsLinear runs all of them over texts that are hostile, and looks
// at the growth of their steps: as a text, as frontmatter, and as one value of it.
func TestPRIV8_EveryFunctionIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	const room = "github.com/ctxd/ctxd/notes/"
	if !steps.Counting(t, room+"markdown") {
		return
	}
	places := []steps.Place{
		{},
		{Name: ", as frontmatter", Before: "---\n", After: "\n---\n"},
		{Name: ", as a value", Before: "---\naliases: ", After: "\n---\n# a\n"},
	}
	steps.Each(places, func(family string, text func(size int) string, p steps.Place) {
		made := func(size int) string { return p.Before + text(size) + p.After }
		for name, call := range functions {
			if p.Name == "" || name == "Parse" {
				steps.Linear(t, name, family, 4<<10, made, func(text string) func() { return func() { call(text) } })
			}
		}
	})
}

// TestEveryFunctionOfATextIsMeasured: one that is exported has its entry above.
func TestEveryFunctionOfATextIsMeasured(t *testing.T) {
	wanted := steps.Exported(t, "*.go !destinations*.go !frontmatter_*.go", "string", "*Document", "Link", "Labels")
	steps.Every(t, wanted, slices.Collect(maps.Keys(functions)))
}
