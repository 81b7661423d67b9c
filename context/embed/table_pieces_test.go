package embed_test

import (
	"testing"

	"github.com/ctxd/ctxd/context/embed"
)

// A query of which no word is known has no vector: the mean of single letters is near to
// anything. A text of a note has one all the same.
func TestSRCH15_AQueryInPiecesHasNoVector(t *testing.T) {
	e := embed.LazyBuiltinTable()
	for text, none := range map[string]bool{
		"zzzqqqxxx": true, "zzzqqqxxx?": true, "asdfghjkl qwrtz": true,
		"roof": false, "zzzqqqxxx roof": false, "go": false, "go js": false, "feline": false, "7": false, "c++": false,
	} {
		for purpose, want := range map[embed.Purpose]bool{embed.Query: none, embed.Passage: false} {
			_, list, err := e.Embed(t.Context(), purpose, []string{text})
			if err != nil || (list[0] == nil) != want {
				t.Errorf("%s, purpose %d: %v, a vector: %v", text, purpose, err, list[0] != nil)
			}
		}
	}
}
