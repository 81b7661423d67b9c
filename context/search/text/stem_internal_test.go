package text

import (
	"fmt"
	"testing"

	"github.com/kljensen/snowball/english"
)

// TestSRCH1_WordsThatHaveNoEndingStay holds the look at the last two letters, by which
// most words are not stemmed at all, against the stemmer: with every three last letters.
func TestSRCH1_WordsThatHaveNoEndingStay(t *testing.T) {
	const letters = "abcdefghijklmnopqrstuvwxyz'"
	spared := 0
	for _, begin := range []string{"", "b", "gener", "vilu", "yoya"} {
		for i := range len(letters) * len(letters) * len(letters) {
			word := fmt.Sprintf("%s%c%c%c", begin, letters[i%27], letters[i/27%27], letters[i/27/27])
			if mayHaveEnding(word) {
				continue
			}
			spared++
			if stem := english.Stem(word, false); stem != word {
				t.Fatalf("the stem of %q is %q", word, stem)
			}
		}
	}
	if spared < 40_000 {
		t.Errorf("only %d words were not looked at", spared)
	}
}
