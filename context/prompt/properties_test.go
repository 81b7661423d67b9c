package prompt_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/fixtures/steps"
)

func TestCTX3_Properties(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []prompt.Property
		text      string
	}{
		{"none", "text", nil, "text"},
		{"scalars", "---\nstatus: in progress\nversion: 1.10\ndue: 2025-03-04\ndone: false\n---\ntext", []prompt.Property{
			{Key: "status", Value: "in progress"}, {Key: "version", Value: "1.10"}, {Key: "due", Value: "2025-03-04"}, {Key: "done", Value: "false"},
		}, "text"},
		{"lists", "---\nteams: [a, b]\nlead:\n  - \"[[Eve]]\"\n  - Bob\n---\n", []prompt.Property{
			{Key: "teams", Value: "a, b"}, {Key: "lead", Value: "[[Eve]], Bob"},
		}, ""},
		{"tags that are links", "---\ntags: \"[[Old Tag]], b\"\n---\n", []prompt.Property{{Key: "tags", Value: "[[Old Tag]], b"}}, ""},
		{"tags", "---\nTags: [\"#a\", b/c]\ntag: \"x, #y z\"\n---\n", []prompt.Property{{Key: "tags", Value: "a, b/c"}, {Key: "tags", Value: "x, y, z"}}, ""},
		{"said elsewhere", "---\ntitle: T\naliases: [A]\nalias: B\nType: Person\nprivate: false\ncssclasses: wide\ncssclass: x\n---\n", nil, ""},
		{"empty", "---\na:\nb: \"\"\nc: []\nd: [ ]\n---\n", nil, ""},
		{"nested", "---\na:\n  y: 1\n  x: [p, q]\n---\n", []prompt.Property{{Key: "a", Value: "{x: p, q, y: 1}"}}, ""},
		{"cannot be read", "---\na: b: c\n---\ntext", nil, "text"},
	} {
		list, text := prompt.SplitProperties(c.src)
		if diff := cmp.Diff(c.want, list); diff != "" || text != c.text {
			t.Errorf("%s: text %q (-want +got):\n%s", c.name, text, diff)
		}
	}
}

// TestPRIV8_EveryFunctionIsLinear_Properties runs Of over texts that are hostile, as frontmatter and
// as one value of it.
func TestPRIV8_EveryFunctionIsLinear_Properties(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	if !steps.Counting(t, "github.com/ctxd/ctxd/context/prompt") {
		return
	}
	places := []steps.Place{
		{},
		{Name: ", between markers", Before: "---\n", After: "\n---\n"},
		{Name: ", as tags", Before: "---\ntags: ", After: "\nb: c\n---\n"},
	}
	steps.Each(places, func(family string, text func(size int) string, p steps.Place) {
		made := func(size int) string { return p.Before + text(size) + p.After }
		steps.Linear(t, "Of", family, 4<<10, made, func(text string) func() { return func() { prompt.SplitProperties(text) } })
		steps.Linear(t, "Fields", family, 4<<10, made, func(text string) func() { return func() { prompt.PropertyFields(text) } })
	})
}
