package prompt

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestCTX31_PlainTextsAreTheSame holds the short way of a text that has nothing to mark against the long one.
func TestCTX31_PlainTextsAreTheSame(t *testing.T) {
	for c := range 256 { // each byte at each place of a text
		for at := range 17 {
			text := []byte("abcdefghijklmnopq")
			text[at] = byte(c)
			s := string(text)
			if plain := isPlainASCII(s); plain != (c >= ' ' && c < 0x80 && isPlainMemory(s)) {
				t.Fatalf("%q: %v", s, plain)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.StringN(0, 20, -1), rapid.StringMatching(`[ -~]{0,40}`)).Draw(t, "text")
		if isPlainASCII(s) && (!isPlainMemory(s) || len(s) != Chars(s)) {
			t.Fatalf("%q is taken for plain", s)
		}
	})
}

func TestCTX31_DaysAreTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(-1e11, 4e11).Draw(t, "seconds"), 0)
		if got, want := string(appendDay(nil, at)), at.UTC().Format(time.DateOnly); got != want {
			t.Fatalf("%s, not %s", got, want)
		}
	})
}
