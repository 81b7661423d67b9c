package destinations_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/ctxd/ctxd/fixtures/steps"
	"github.com/ctxd/ctxd/notes/markdown/destinations"
)

// functions are all that read a destination, by their names.
var functions = map[string]func(dest string){
	"IsNote":    func(dest string) { destinations.IsNote(dest + ".md") },
	"IsPicture": func(dest string) { destinations.IsPicture(dest + ".png") },
	"KindOf": func(dest string) {
		destinations.KindOf(dest)
		destinations.KindOf("a/" + dest + ".png")
	},
	"Unescaped":         func(dest string) { destinations.Unescaped(dest) },
	"Path":              func(dest string) { destinations.Path(dest) },
	"Names.Destination": func(dest string) { new(destinations.Names).Destination(dest) },
	"Names.Target":      func(dest string) { new(destinations.Names).Target(dest) },
}

// TestPRIV8_EveryFunctionIsLinear runs all of them over texts that are hostile.
func TestPRIV8_EveryFunctionIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	if !steps.Counting(t, "github.com/ctxd/ctxd/notes/markdown/destinations") {
		return
	}
	steps.Each([]steps.Place{{}}, func(family string, text func(size int) string, _ steps.Place) {
		for name, call := range functions {
			steps.Linear(t, name, family, 4<<10, text, func(text string) func() { return func() { call(text) } })
		}
	})
}

// TestEveryFunctionOfATextIsMeasured: one that is exported has its entry above.
func TestEveryFunctionOfATextIsMeasured(t *testing.T) {
	steps.Every(t, steps.Exported(t, "string"), slices.Collect(maps.Keys(functions)))
}
