package embed_test

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/entities/fault"
)

func TestMEM30_ScoresAreLogits(t *testing.T) {
	for _, c := range []struct {
		scale embed.ScoreScale
		x     float64
		want  float64 // NaN for none
		fits  bool
	}{
		{embed.Logits, 0, 0, true},
		{embed.Logits, -3.25, -3.25, true},
		{embed.Logits, 0.75, 0.75, true}, // not taken for a probability
		{embed.Logits, 1e4, embed.MaxLogit, true},
		{embed.Logits, -1e4, -embed.MaxLogit, true},
		{embed.Logits, -1e6, math.NaN(), true}, // llama-server's failure
		{embed.Logits, math.NaN(), math.NaN(), true},
		{embed.Logits, math.Inf(1), math.NaN(), true},
		{embed.Probabilities, 0.5, 0, true},
		{embed.Probabilities, 0.9, math.Log(9), true},
		{embed.Probabilities, 0, -math.Log(1e7 - 1), true},
		{embed.Probabilities, 1, math.Log(1e7 - 1), true},
		{embed.Probabilities, 1.0000001, math.Log(1e7 - 1), true},
		{embed.Probabilities, math.NaN(), math.NaN(), true},
		{embed.Probabilities, -2.5, math.NaN(), false},
		{embed.Probabilities, 4, math.NaN(), false},
	} {
		got, fits := embed.ReadScore(c.scale, c.x)
		same := math.Abs(float64(got)-c.want) < 1e-4 || math.IsNaN(c.want) && !embed.HasScore(got)
		if !same || fits != c.fits {
			t.Errorf("%v on the scale of %s is %v, %v; want %v, %v", c.x, c.scale, got, fits, c.want, c.fits)
		}
	}
}

// The order of the numbers is that of the scores, and the sigmoid gives a
// probability back.
func TestMEM30_ScoresKeepTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64Range(0, 1).Draw(t, "a"), rapid.Float64Range(0, 1).Draw(t, "b")
		x, _ := embed.ReadScore(embed.Probabilities, a)
		y, _ := embed.ReadScore(embed.Probabilities, b)
		if a < b && x > y || a > b && x < y {
			t.Errorf("%v and %v become %v and %v", a, b, x, y)
		}
		if p := 1 / (1 + math.Exp(-float64(x))); math.Abs(p-a) > 1e-5 {
			t.Errorf("%v becomes %v, whose sigmoid is %v", a, x, p)
		}
	})
}

func TestMEM30_WhatIsAsked(t *testing.T) {
	long := strings.Repeat("ü", embed.MaxRerankText) // cut within a character
	j, err := embed.PrepareRerank("  who? ", []string{"", "a", " \n", "x" + long})
	if err != nil || j.Query != "who?" || len(j.Texts) != 2 || j.Texts[0] != "a" {
		t.Fatalf("%+v, %v", j, err)
	}
	if n := len(j.Texts[1]); n > embed.MaxRerankText || n < embed.MaxRerankText-3 || !utf8.ValidString(j.Texts[1]) {
		t.Errorf("a long text is cut to %d bytes", n)
	}
	got := j.Scores([]float32{2, 3})
	if len(got) != 4 || embed.HasScore(got[0]) || got[1] != 2 || embed.HasScore(got[2]) || got[3] != 3 {
		t.Errorf("%v", got)
	}
	if j, err := embed.PrepareRerank(" ", []string{"a"}); err != nil || len(j.Texts) != 0 || len(j.Scores(nil)) != 1 {
		t.Errorf("without a question: %+v, %v", j, err)
	}
	if _, err := embed.PrepareRerank("who?", make([]string, embed.MaxRerankTexts+1)); fault.KindOf(err) != fault.Invalid {
		t.Errorf("too many texts: %v", err)
	}
}
