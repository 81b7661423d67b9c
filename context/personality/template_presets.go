package personality

import (
	"embed"
	"slices"
)

//go:embed presets/*.yaml
var presetFiles embed.FS

// presetNames are the presets in the order in which they are shown.
var presetNames = []string{"default", "professional", "teacher"}

// Presets returns the names of the templates that are compiled in.
func Presets() []string { return slices.Clone(presetNames) }

// Preset returns the text of a preset, and whether there is one of that name.
func Preset(name string) (text string, ok bool) {
	if !slices.Contains(presetNames, name) {
		return "", false
	}
	data, err := presetFiles.ReadFile("presets/" + name + ".yaml")
	if err != nil {
		panic("template: " + err.Error()) // it is compiled in
	}
	return string(data), true
}
