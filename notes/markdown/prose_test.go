package markdown_test

import (
	"strings"
	"testing"

	"github.com/ctxd/ctxd/notes/markdown"
)

func TestProseLeavesCodeAndCommentsOut(t *testing.T) {
	for _, c := range [][2]string{
		{"ask @a `@b` and @c", "ask @a | and @c"},
		{"```\n@x\n```\n@y", "@y"},
		{"@a <!-- @b --> @c", "@a | @c"},
		{"# @head\n\n- @item", "@head|@item"},
		{"a ``@b`c`` d", "a | d"},
		{"tick ` alone @a", "tick ` alone @a"},
		{"---\ntitle: x\n---\n@a", "title: x|@a"},
		{"", ""},
		{"\\`@a\\`", "\\`@a\\`"},
		{"<!-- open\n\n@a -->@b", "@b"},
	} {
		var got []string
		for _, span := range markdown.ReadMessage(c[0]).Prose {
			got = append(got, c[0][span[0]:span[1]])
		}
		if strings.TrimSpace(strings.Join(got, "|")) != c[1] {
			t.Errorf("%q has the prose %q, want %q", c[0], got, c[1])
		}
	}
}
