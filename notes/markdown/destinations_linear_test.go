package markdown_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/ctxd/ctxd/fixtures/steps"
	"github.com/ctxd/ctxd/notes/markdown"
)

// destFunctions are all that read a destination, by their names.
var destFunctions = map[string]func(dest string){
	"IsNotePath":    func(dest string) { markdown.IsNotePath(dest + ".md") },
	"IsPicturePath": func(dest string) { markdown.IsPicturePath(dest + ".png") },
	"DestKindOf": func(dest string) {
		markdown.DestKindOf(dest)
		markdown.DestKindOf("a/" + dest + ".png")
	},
	"UnescapeDest":          func(dest string) { markdown.UnescapeDest(dest) },
	"UnescapePath":          func(dest string) { markdown.UnescapePath(dest) },
	"DestNames.Destination": func(dest string) { new(markdown.DestNames).Destination(dest) },
	"DestNames.Target":      func(dest string) { new(markdown.DestNames).Target(dest) },
}

// TestPRIV8_EveryFunctionIsLinear_Destinations runs all of them over texts that are hostile.
func TestPRIV8_EveryFunctionIsLinear_Destinations(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	if !steps.Counting(t, "github.com/ctxd/ctxd/notes/markdown") {
		return
	}
	steps.Each([]steps.Place{{}}, func(family string, text func(size int) string, _ steps.Place) {
		for name, call := range destFunctions {
			steps.Linear(t, name, family, 4<<10, text, func(text string) func() { return func() { call(text) } })
		}
	})
}

// TestEveryFunctionOfATextIsMeasured_Destinations: one that is exported has its entry above.
func TestEveryFunctionOfATextIsMeasured_Destinations(t *testing.T) {
	steps.Every(t, steps.Exported(t, "destinations*.go", "string"), slices.Collect(maps.Keys(destFunctions)))
}
