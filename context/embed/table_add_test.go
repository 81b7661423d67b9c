package embed_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/embed"
)

// Vectors are the same on every processor, to the last bit, and nothing behind the row is touched.
func TestSRCH20_RowsAddTheSameOnEveryProcessor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		row := rapid.SliceOfN(rapid.Byte(), 0, 70).Draw(t, "row")
		scale := rapid.Float32Range(-8, 8).Draw(t, "scale")
		start := rapid.SliceOfN(rapid.Float32Range(-1e6, 1e6), len(row)+8, len(row)+8).Draw(t, "start")
		got, want := slices.Clone(start), slices.Clone(start)
		embed.AddScaled(got[:len(row)], row, scale)
		embed.AddPlain(want[:len(row)], row, scale)
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}
