package text

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestREL7_NoStretchOfATextIsLookedBackOverForLong: the search for sentences looks back
// over runs of some characters, and gets no text with a long one.
func TestREL7_NoStretchOfATextIsLookedBackOverForLong(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	for _, piece := range []string{"(", ")", "]", `"`, "'", " ", "\n", "\u00a0", "«", "”", "❝", "( ", "(\u0301", "(\u0301\u200d", "(\uff9e", "\u2028", "\u3000"} {
		text := "A sentence. " + strings.Repeat(piece, 50_000) + "b. Another one."
		whole := text
		for text != "" {
			end := stretchEnd(text)
			if n := utf8.RuneCountInString(text[:end]); end == 0 || n > 100 {
				t.Fatalf("%q: a stretch of %d characters", piece, n)
			}
			text = text[end:]
		}
		sum := 0
		for _, n := range Sentences(whole) {
			sum += n
		}
		if sum != len(whole) {
			t.Errorf("%q: the sentences of %d bytes have %d", piece, len(whole), sum)
		}
	}
	if plain := strings.Repeat("Words (and some more) of a text. ", 1000); stretchEnd(plain) != len(plain) {
		t.Error("an ordinary text is cut")
	}
}
