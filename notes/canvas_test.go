package notes_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/fixtures/steps"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

const board = `{
	"nodes": [
		{"id":"4","type":"link","x":0,"y":300,"width":1,"height":1,"url":"https://example.com/x.md"},
		{"id":"2","type":"file","x":100,"y":0,"width":1,"height":1,"file":"Plans/Alpha.md","subpath":"#Goals"},
		{"id":"1","type":"text","x":0,"y":0,"width":1,"height":1,"text":"---\nprivate: true\n---\nAsk [[Ann]]\n` + "```" + `\ncode"},
		{"id":"3","type":"group","x":0,"y":200,"width":1,"height":1,"label":"Later"},
		{"id":"5","type":"file","x":0,"y":400,"file":"odd [name].png"},
		{"id":"6","type":"text","x":0,"y":500,"text":" \n"}
	],
	"edges": [{"id":"e","fromNode":"1","toNode":"2","label":"leads to [[Bob]]"}, {"id":"f"}]
}`

func TestSRCH33_TheCardsOfACanvas(t *testing.T) {
	got, err := notes.CanvasMarkdown("Sub/My board.canvas", board)
	if err != nil {
		t.Fatal(err)
	}
	want := "# My board\n\n---\nprivate: true\n---\nAsk [[Ann]]\n```\ncode\n```\n\n[[Plans/Alpha.md#Goals]]\n\nLater\n" +
		"\nhttps://example.com/x.md\n\nodd [name].png\n\nleads to [[Bob]]\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	doc := markdown.Parse(got)
	var links []string
	for l := range doc.EachLink() {
		links = append(links, l.Target)
	}
	if doc.Title != "My board" || doc.Frontmatter != nil || !slices.Equal(links, []string{"Ann", "Plans/Alpha.md", "Bob"}) {
		t.Errorf("read as title %q, links %q, frontmatter %v", doc.Title, links, doc.Frontmatter)
	}
}

func TestSRCH33_OtherFiles(t *testing.T) {
	for name, tc := range map[string]struct{ source, want string }{
		"a.canvas":   {"", "# a\n"},
		"b.canvas":   {"{}", "# b\n"},
		"c.CANVAS":   {`{"nodes":[{"type":"new","text":"x"}]}`, "# c\n"},
		"d/e.base":   {"---\nviews:\n  - name: \"[[Ann]]\"\n", "# e\n\n---\nviews:\n  - name: \"[[Ann]]\"\n"},
		"nul.canvas": {`{"nodes":[{"type":"text","text":"a\u0000b"}]}`, "# nul\n\nab\n"},
	} {
		if got, err := notes.CanvasMarkdown(name, tc.source); err != nil || got != tc.want {
			t.Errorf("%s is read as %q, %v", name, got, err)
		}
	}
	for _, source := range []string{"[]", `{"nodes":3}`, "{", `{"nodes":[{"x":"left"}]}`} {
		if got, err := notes.CanvasMarkdown("a.canvas", source); err == nil {
			t.Errorf("%q is read as %q", source, got)
		}
	}
	for name, want := range map[string]string{"a.canvas": "canvas", "a.Base": "base", "a.md": "", "canvas": "", "a.canvas.md": ""} {
		if got := notes.FileKind(name); got != want {
			t.Errorf("%s is a %q", name, got)
		}
	}
}

// FuzzText: whatever the file, its text is text, not much longer than the file as it is read, and has no
// frontmatter. Each byte that is no UTF-8 is read as U+FFFD, which takes three.
func FuzzText(f *testing.F) {
	f.Add("a.canvas", board)
	f.Add("a.base", "---\ntype: x\n---\n")
	f.Add("a.canvas", `{"nodes":[{"type":"link","url":"`+strings.Repeat("\xff", 1600)+`"}]}`)
	f.Fuzz(func(t *testing.T, name, source string) {
		got, err := notes.CanvasMarkdown(name, source)
		if err != nil {
			return
		}
		if utf8.ValidString(name) && utf8.ValidString(source) && !utf8.ValidString(got) {
			t.Errorf("%q is not UTF-8", got)
		}
		if read := len(string([]rune(source))); len(got) > len(name)+2*read+16 {
			t.Errorf("%d bytes became %d", read, len(got))
		}
		if doc := markdown.Parse(got); doc.Frontmatter != nil || doc.FrontmatterErr != nil {
			t.Errorf("%q has frontmatter", got)
		}
	})
}

// TestREL7_TextsOfCanvasesAreLinear counts steps.
func TestREL7_TextsOfCanvasesAreLinear(t *testing.T) {
	if !steps.Counting(t, "github.com/ctxd/ctxd/notes") {
		return
	}
	for family, unit := range map[string]string{"fences": "```\n", "tildes": "~~~~\n", "lines": "a\n", "blanks": " \n"} {
		made := func(size int) string { return strings.Repeat(unit, size/len(unit)) }
		steps.Linear(t, "Text", family, 4<<10, made, func(text string) func() {
			source := `{"nodes":[{"type":"text","text":"` + strings.ReplaceAll(text, "\n", `\n`) + `"}]}`
			return func() { _, _ = notes.CanvasMarkdown("a.canvas", source) }
		})
	}
}
