package prompt_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/fixtures/steps"
)

// functions are all that read a text, by their names.
var functions = map[string]func(text string){
	"RenderNote":      func(text string) { prompt.RenderNote(text) },
	"NewNoteBody":     func(text string) { prompt.NewNoteBody(text, 0) },
	"NoteBody.String": func(text string) { _ = prompt.NewNoteBody(text, 0).String() },
	"WithProperties":  func(text string) { prompt.WithProperties([]prompt.Property{{Key: text, Value: text}}, text) },
	"NoteBody.Under": func(text string) {
		list := []prompt.Property{{Key: text, Value: "x"}, {Key: "x", Value: text}}
		for i := range len(text) / 16 {
			list = append(list, prompt.Property{Key: text[i : i+8], Value: text[i : i+8]})
		}
		prompt.NewNoteBody(text, 0).Under(list)
	},
	"NoteBody.PartOf": func(text string) {
		prompt.NewNoteBody("a", 0).PartOf(prompt.NewNoteBody(text, 0))
		prompt.NewNoteBody(text, 100) // counts the rest
	},
	"NoteBody.Cut": func(text string) {
		prompt.NewNoteBody(text, 0).Cut(len(text)/2, nil)
		prompt.NewNoteBody(text, 0).Cut(len(text)/2, func(rune) int { return 2 })
	},
}

// TestPRIV8_EveryFunctionIsLinear runs all of them over texts that are hostile: bare, in
// code, as comments and behind the marks of lists and quotes.
func TestPRIV8_EveryFunctionIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	if !steps.Counting(t, "github.com/ctxd/ctxd/context/prompt", "github.com/ctxd/ctxd/entities/text") {
		return
	}
	places := []steps.Place{
		{},
		{Name: ", in code", Before: "```\n", After: "\n```\n"},
		{Name: ", in a comment", Before: "%%\n", After: "\n%%\n"},
		{Name: ", in an item of a quote", Before: "> - ", After: "\n---\n"},
	}
	steps.Each(places, func(family string, text func(size int) string, p steps.Place) {
		made := func(size int) string { return p.Before + text(size) + p.After }
		for name, call := range functions {
			steps.Linear(t, name, family, 4<<10, made, func(text string) func() { return func() { call(text) } })
		}
	})
}

// TestEveryFunctionOfATextIsMeasured: one that is exported has its entry above.
func TestEveryFunctionOfATextIsMeasured(t *testing.T) {
	wanted := steps.Exported(t, "body*.go", "string", "NoteBody")
	steps.Every(t, wanted, slices.Collect(maps.Keys(functions)))
}
