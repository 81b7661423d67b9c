package markdown_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/notes/markdown"
)

// TestMentionsOfAMessage lists of each text the wikilinks, then the mentions with what
// follows them.
func TestMentionsOfAMessage(t *testing.T) {
	for _, tc := range []struct {
		text string
		want []string
	}{
		{"ask @Bob and [[Plan|the plan]]", []string{"[[Plan]]", "@ Bob and [[Plan|the plan]]"}},
		{"@[Bob Smith] x", []string{"@[Bob Smith] [Bob Smith] x"}},
		{"`@a` @b\n\n```\n@c [[D]]\n```", []string{"@ b"}},
		{"<!-- @a --> \\@b x@c é@d e\u0301@f", nil},
		{"\\[[A]] [[B @c]] @d", []string{"[[B @c]]", "@ d"}},
		{"@[a `b` c] d", []string{"@ [a "}},
		{"@@a", []string{"@ @a", "@ a"}},
		{"[[A [[B", nil},
		{"&#64;a", nil},
	} {
		var got []string
		for r, rest := range markdown.Mentions(tc.text) {
			switch {
			case r.Kind == markdown.WikilinkRef:
				got = append(got, "[["+r.Target+"]]")
			case r.Open():
				got = append(got, "@ "+rest)
			default:
				got = append(got, fmt.Sprintf("@[%s] %s", r.Target, rest))
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%q: %s", tc.text, diff)
		}
	}
}

// TestMentions_StopsWhenAsked after the first one of each kind.
func TestMentions_StopsWhenAsked(t *testing.T) {
	for _, text := range []string{"[[A]] [[B]] @c", "@c @d"} {
		read := 0
		for range markdown.Mentions(text) {
			read++
			break
		}
		if read != 1 {
			t.Errorf("%q: %d", text, read)
		}
	}
}
