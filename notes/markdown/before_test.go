package markdown_test

import (
	"slices"
	"testing"

	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/notes/markdown"
)

// TestPRIV8_WhatStandsBeforeAMark says of each what it is, and who reads a mark behind it.
func TestPRIV8_WhatStandsBeforeAMark(t *testing.T) {
	for _, tc := range []struct {
		want      text.MarkContext
		scanned   bool // a reader of the text may take it for a mention
		mentioned bool // it is one in a message
		heads     []string
	}{
		{text.AfterBlank, true, true, []string{"", " ", "a ", "a\t", "a\n", "a\u00a0", "a\u3000"}},
		{text.AfterOpening, true, true, []string{"(", "a(", "\"", "“", "，", ":", "_", "*", "|", "〇"}},
		{text.AfterUnspaced, true, false, []string{"看", "か", "か\u3099", "ก", "กั", "한"}},
		{text.AfterWord, false, false, []string{"a", "Z", "7", "é", "٣", "(a"}},
		{text.AfterAccent, true, false, []string{"e\u0301", "\u0301"}},
		{text.AfterEscape, true, false, []string{"\\", "a\\"}},
		{text.AfterOther, true, true, []string{")", "@", ".", "=\"", "='", "\x80", "©"}},
	} {
		for _, head := range tc.heads {
			if got := text.ContextOfMark(head); got != tc.want {
				t.Errorf("%q: %d, want %d", head, got, tc.want)
			}
			if got := len(refs(head+"@B")) > 0; got != tc.scanned {
				t.Errorf("%q: scanned %v", head, got)
			}
			var mentions []string
			for r := range markdown.Mentions(head + "@B") {
				mentions = append(mentions, (head + "@B")[r.Start:])
			}
			if got := slices.Contains(mentions, "@B"); got != tc.mentioned {
				t.Errorf("%q: mentioned %v", head, got)
			}
		}
	}
}
