package memory_test

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/memory"
)

func TestREF13_Excerpts(t *testing.T) {
	for _, c := range []struct {
		of, text string
		want     bool
	}{
		{"I prefer morning workouts, in the park by the river.", "I prefer morning workouts.", true},
		{"I prefer morning workouts, in the park by the river.", "i PREFER workouts…", true},
		{"I prefer morning workouts.", "I prefer morning workouts.", true},
		{"I prefer morning workouts.", "", true},
		{"I prefer morning workouts.", "I prefer evening workouts.", false}, // another word
		{"I prefer morning workouts.", "workouts I prefer", false},          // another order
		{"I prefer morning workouts.", "I prefer morning work", false},      // a part of a word
		{"I prefer morning workouts.", "I prefer [id:x] workouts", false},   // marks that were not there
		{"I prefer morning workouts.", "## I prefer\n---", false},
		{"I prefer morning workouts.", "I prefer morning workouts?", false},
		{"I prefer morning workouts.", "Je préfère le matin", false},
		{"I do not eat meat.", "I eat meat.", false}, // a denial was left out
		{"I don’t eat meat.", "I don't eat meat", true},
		{"I don't eat meat, and I do not smoke.", "I don't eat meat", false}, // it denied two things
		{"Tom moved, and I never asked why.", "Tom moved", false},            // the denial is behind the excerpt
		{"Ich esse kein Fleisch.", "Ich esse Fleisch", false},
		{"It costs 1,250.50 euros on 2024-05-01", "1,250.50 euros on 2024-05-01", true},
		{"It costs 1,250.50 euros", "It costs 250 euros", false},
		{"It was -5 outside", "It was 5", false},
		{"It was -5 outside", "-5 outside", true},
		{"我喜欢喝茶，不喜欢咖啡。", "我喜欢喝茶", true}, // no language of the list, but a whole stretch
		{"我不喜欢喝茶。", "我喜欢喝茶", false},
		{"Ω", "ω", true},
	} {
		if got := memory.IsExcerpt(c.text, c.of); got != c.want {
			t.Errorf("%q of %q: %v", c.text, c.of, got)
		}
	}
}

// TestREF13_AnyExcerpt leaves words out of texts, and puts others in.
func TestREF13_AnyExcerpt(t *testing.T) {
	word := rapid.StringMatching(`[a-zäß0-9]{1,6}|[(),;!]|語`)
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(word, 1, 20).Draw(t, "words")
		var kept []string
		for _, w := range words {
			if rapid.Bool().Draw(t, "keep") {
				kept = append(kept, w)
			}
		}
		of := strings.Join(words, " ")
		denies := strings.ContainsFunc(of, unicode.IsLetter) && len(memory.Differences(of, "")) > 0
		if text := strings.Join(kept, " "); !denies && !memory.IsExcerpt(text, of) {
			t.Fatalf("%q of %q is none", text, of)
		}
		at := rapid.IntRange(0, len(kept)).Draw(t, "at")
		other := strings.Join(kept[:at], " ") + " another1 " + strings.Join(kept[at:], " ")
		if memory.IsExcerpt(other, of) {
			t.Fatalf("%q of %q is one", other, of)
		}
	})
}
