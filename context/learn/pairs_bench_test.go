package learn_test

import (
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/learn"
)

// BenchmarkMEM61_Judge reads and judges two statements of the greatest length, and two short ones.
func BenchmarkMEM61_Judge(b *testing.B) {
	long := strings.Repeat("I can't stand Ida's 2 loud restaurants, since l'été in May. ", 8000/60)
	for name, s := range map[string]string{"long": long, "short": "I moved to York in May.", "word": strings.Repeat("a", 8000), "names": strings.Repeat("Aa's ", 1600)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				learn.JudgePair(learn.ReadStatement(s), learn.ReadStatement("I live in Leeds."), 0.7)
			}
		})
	}
}
