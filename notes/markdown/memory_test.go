package markdown_test

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/notes/markdown"
)

// allocated returns how many bytes a function allocates, kept or not.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// numbered repeats a unit, with another number each time where it has a place for one.
func numbered(unit string, size int) string {
	if strings.Count(unit, "%") != 1 || !strings.Contains(unit, "%d") {
		return strings.Repeat(unit, size/len(unit))
	}
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, unit, i)
	}
	return b.String()
}

// TestREL6_AParseTakesTenTimesItsText: whatever a text holds, to read it and to write it
// plainly takes no more memory than that, with all that is given back on the way.
func TestREL6_AParseTakesTenTimesItsText(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	const most, noise = 10, 256 << 10
	units := append([]string{
		"[[a]] ", "![[a]]", "[[%d]] ", "[[a|b]]", "# [[a]]\n", "# a\n", "# *\n", "[](a.md)", "^a\n", "` ", "`` ` ", "[", "](", "[a]",
		"[a][b] ", "[%d]: x\n", "#a%d ", "*a", "*a*", "_a ", "***a** ", "~~a", "==a==", "\n", "|a|\n|-|\n", "- [ ] a\n", "<b>", "&amp;", "é",
	}, slices.Collect(maps.Values(hostile))...)
	for _, unit := range units {
		text := numbered(unit, 512<<10)
		limit := uint64(most*len(text) + noise)
		if got := allocated(func() { markdown.Parse(text) }); got > limit {
			t.Errorf("Parse of %q: %d bytes for %d", unit, got, len(text))
		}
		if got := allocated(func() { markdown.PlainText(text) }); got > limit {
			t.Errorf("PlainText of %q: %d bytes for %d", unit, got, len(text))
		}
	}
}

func TestREL6_TitlesAndTagsAreBounded(t *testing.T) {
	long := "# " + strings.Repeat("word ", 20_000) + "\n# Second\n"
	if got := markdown.Parse(long).Title; got != "Second" {
		t.Errorf("the title has %d bytes, want the second heading", len(got))
	}
	if got := len(markdown.Parse(numbered("#a%d ", 200_000)).Tags); got != 10_000 {
		t.Errorf("%d tags", got)
	}
}

// TestREL6_ReferencesTakeTenTimesTheirText: as a parse does, whatever a text refers to. Two
// kinds take more of what is given back at once: addresses that are parsed, and targets of
// definitions.
func TestREL6_ReferencesTakeTenTimesTheirText(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	const noise = 128 << 10
	most := map[string]int{"<http://a>": 16, "[a[a]: ": 24}
	units := append([]string{
		"[", "[[", "[a", "[a]", "[]", "[][", "[a][b] ", "@", "@[", "@[a] ", "<a href=", "<a href=x>", "a.md ", "](a.md)",
		"<http://a>", "`",
	}, slices.Collect(maps.Values(hostile))...)
	functions := map[string]func(text string){
		"References": func(text string) {
			for range markdown.References(text) {
				continue
			}
		},
		"LabelsOf": func(text string) { markdown.LabelsOf(text) },
	}
	for _, unit := range units {
		for _, before := range []string{"", "[x]: y\n"} {
			text := before + numbered(unit, 128<<10)
			limit := uint64(cmp.Or(most[unit], 10)*len(text) + noise)
			for name, call := range functions {
				if got := allocated(func() { call(text) }); got > limit {
					t.Errorf("%s of %q and %q: %d bytes for %d", name, before, unit, got, len(text))
				}
			}
		}
	}
}
