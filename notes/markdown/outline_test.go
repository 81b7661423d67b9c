package markdown_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/notes/markdown"
)

func TestOutline(t *testing.T) {
	src := "---\nowner: Ann\n---\n# The *big* plan\n\nText [[Link|words]]\n\nSetext\n======\n\n```\n# code\n```\n## End ##"
	heads, front, plain, targets := markdown.Outline(src)
	if got := strings.Join(slices.Collect(heads), "|"); got != "The big plan|Setext|End" {
		t.Errorf("headings %q", got)
	}
	if front != "owner: Ann\n" {
		t.Errorf("frontmatter %q", front)
	}
	if want := markdown.PlainNote(src); plain != want {
		t.Errorf("plain text %q, want %q", plain, want)
	}
	if targets != "[[Link|words]]\n" {
		t.Errorf("targets %q", targets)
	}
	for _, src := range []string{"", "#", "---\n---", "# a"} {
		heads, _, plain, _ := markdown.Outline(src)
		if list := slices.Collect(heads); plain != markdown.PlainNote(src) || len(list) != strings.Count(src, "a") {
			t.Errorf("%q: %q %q", src, list, plain)
		}
	}
}
