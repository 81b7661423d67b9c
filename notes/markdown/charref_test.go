package markdown_test

import (
	"testing"

	"github.com/ctxd/ctxd/notes/markdown"
)

// TestParseTarget_CharacterReferences: their '#' begins no heading.
func TestParseTarget_CharacterReferences(t *testing.T) {
	for inner, want := range map[string][2]string{
		"a&#32;b": {"a&#32;b", ""}, "a&#x20;b#h": {"a&#x20;b", "h"}, "a&#h": {"a&", "h"}, "a&#;b": {"a&", ";b"}, "a&b#32;": {"a&b", "32;"},
		"&#97;": {"&#97;", ""}, "#&#97;": {"", "&#97;"}, "a&#32": {"a&", "32"},
	} {
		l := markdown.ParseTarget(inner)
		if l.Target != want[0] || l.Heading != want[1] {
			t.Errorf("%q: %q, %q", inner, l.Target, l.Heading)
		}
	}
}
