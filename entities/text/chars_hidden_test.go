package text_test

import (
	"testing"
	"unicode"

	"github.com/ctxd/ctxd/entities/text"
)

// TestCTX31_TheIgnorableTable compares the generated table with the derivation of
// Default_Ignorable_Code_Point in UAX #44, and with the number of code points that
// Unicode gives for it.
func TestCTX31_TheIgnorableTable(t *testing.T) {
	total := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		want := unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Cf, unicode.Variation_Selector)
		switch {
		case unicode.Is(unicode.White_Space, r), unicode.Is(unicode.Prepended_Concatenation_Mark, r),
			0xFFF9 <= r && r <= 0xFFFB, 0x13430 <= r && r <= 0x13440:
			want = false
		}
		if got := unicode.Is(text.DefaultIgnorable, r); got != want {
			t.Errorf("%U: %v, want %v; run go generate ./entities/text", r, got, want)
		}
		if want {
			total++
		}
	}
	if total != 4174 {
		t.Errorf("%d code points; DerivedCoreProperties.txt of Unicode 15.0 has 4174", total)
	}
}
