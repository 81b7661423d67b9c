package graph

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestWidth(t *testing.T) {
	f := font{10, false}
	for _, c := range []struct {
		text string
		want float64
	}{
		{"", 0},
		{"il", 5.6},
		{"WW", 19.8},
		{"e\u0301", f.width("e")},     // a combining mark takes no room
		{"日本", 2 * wideAdvance * 0.1}, // Chinese and Japanese take two columns
		{"👩‍👩‍👧", wideAdvance * 0.1},   // one character
		{"Жж", 2 * otherAdvance * 0.1}, // another alphabet
		{"a\u200db", f.width("ab")},    // a joiner
	} {
		if got := f.width(c.text); got < c.want-0.01 || got > c.want+0.01 {
			t.Errorf("%q is %v wide, want %v", c.text, got, c.want)
		}
	}
}

func TestFit(t *testing.T) {
	f := font{10, false}
	for _, c := range []struct{ text, want string }{
		{"short", "short"},
		{strings.Repeat("i", 40), strings.Repeat("i", 32) + "…"},
		{strings.Repeat("W", 40), strings.Repeat("W", 9) + "…"},
		{strings.Repeat("日", 40), strings.Repeat("日", 8) + "…"},
		{strings.Repeat("e\u0301", 40), strings.Repeat("e\u0301", 14) + "…"},
		{"a\nb", "a b"},
	} {
		if got := f.fit(c.text, 100); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.text, got, c.want)
		}
	}
}

// TestFit_IsNeverWider fits any text into any room.
func TestFit_IsNeverWider(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, room := rapid.String().Draw(t, "text"), rapid.Float64Range(12, 300).Draw(t, "room")
		got := smallFont.fit(text, room)
		if !utf8.ValidString(got) {
			t.Fatalf("%q", got)
		}
		// The mark itself may join what is before it.
		if w := smallFont.width(got); w > room+smallFont.units(wideAdvance) {
			t.Fatalf("%q is %v wide in %v", got, w, room)
		}
	})
}
