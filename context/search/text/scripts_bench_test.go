package text_test

import (
	"testing"

	"github.com/ctxd/ctxd/context/search/searchtest"
	"github.com/ctxd/ctxd/context/search/text"
)

// BenchmarkSplit is what it takes to split a text, by script: a write of many megabytes in
// any of them is to take at most five times what English takes.
func BenchmarkSplit(b *testing.B) {
	for _, c := range searchtest.Scripts {
		b.Run(c.Name, func(b *testing.B) {
			t := c.Text(1<<20, 2)
			var s text.Splitter
			b.SetBytes(int64(len(t)))
			b.ReportAllocs()
			tokens := 0
			for b.Loop() {
				tokens = 0
				s.Split(t, func(text.Token) { tokens++ })
			}
			b.ReportMetric(float64(tokens), "tokens")
		})
	}
}
