package audience_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/fixtures/campaign"
)

// TestPRIV8_WhatFoldsToANameIsHeldAgainstNames draws texts whose fold is as long as a name may be, of
// characters that folding composes.
func TestPRIV8_WhatFoldsToANameIsHeldAgainstNames(t *testing.T) {
	campaign.Only(t)
	pieces := []string{
		"a", "Z", " ", "7", "é", "e\u0301", "\u0301", "ß", "α\u0313\u0342\u0345", "각", "\u1100\u1161\u11a8", "字", "か\u3099", "क\u093c",
		"ｶﾞ", "\u0dd9\u0dca\u0dcf", "\U0001133e",
	}
	piece := rapid.SampledFrom(pieces)
	rapid.Check(t, func(t *rapid.T) {
		one := strings.Join(rapid.SliceOfN(piece, 1, 4).Draw(t, "piece"), "")
		s := strings.Repeat(one, rapid.IntRange(1, 600).Draw(t, "times"))
		for utf8.RuneCountInString(text.Fold(s)) > entities.MaxName {
			_, size := utf8.DecodeLastRuneInString(s)
			s = s[:len(s)-size]
		}
		if len(s)+3 <= 8*entities.MaxName && !audience.MayBeName(" \n"+s+" ") {
			t.Fatalf("%d code points, folded %d: %q", utf8.RuneCountInString(s), utf8.RuneCountInString(text.Fold(s)), one)
		}
	})
	if audience.MayBeName(strings.Repeat("a word ", 100)) || audience.MayBeName(strings.Repeat("字", 600)) {
		t.Error("a long text is held against names")
	}
}
