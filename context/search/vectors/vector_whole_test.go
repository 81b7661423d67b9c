package vectors_test

import (
	"math"
	"testing"

	"github.com/ctxd/ctxd/context/search/vectors"
)

func TestSRCH11_WholeIsTheMeanOfTheParts(t *testing.T) {
	x := vectors.NewFlatIndex(3)
	put := func(id string, vecs ...[]float32) {
		t.Helper()
		it := vectors.Item{ID: id, Key: vectors.NewTextKey(id), New: vecs}
		for i := range vecs {
			it.Parts = append(it.Parts, vectors.NewTextKey(id, string(rune('a'+i%26)), string(rune('a'+i/26))))
		}
		if ok, err := x.Put(it, func() bool { return true }); err != nil || !ok {
			t.Fatal(ok, err)
		}
	}
	put("one", []float32{1, 0, 0})
	put("two", []float32{2, 0, 0}, []float32{0, 5, 0}) // of length 1 each
	put("gap", []float32{0, 0, 1}, nil)
	put("opposite", []float32{1, 0, 0}, []float32{-1, 0, 0})
	var many [][]float32
	for range 600 {
		many = append(many, []float32{0, 1, 0}, []float32{0, 0, 1})
	}
	put("many", many...)
	ids := []string{"two", "gone", "one", "gap", "opposite", "many"}
	for _, c := range []struct {
		question []float32
		want     []float64
	}{
		{[]float32{3, 0, 0}, []float64{math.Sqrt2 / 2, 0, 1, 0, 0, 0}},
		{[]float32{0, 1, 1}, []float64{0.5, 0, 0, math.Sqrt2 / 2, 0, -1}},
		{[]float32{0, 0, 0}, []float64{0, 0, 0, 0, 0, 0}},
		{[]float32{1, 0}, []float64{0, 0, 0, 0, 0, 0}},
	} {
		for i, got := range x.Whole(c.question, ids) {
			if want := c.want[i]; want >= 0 && math.Abs(float64(got)-want) > 0.01 || want < 0 && (got < 0.7 || got > 1.0001) {
				t.Errorf("%s: %g near %v, want %g", ids[i], got, c.question, c.want[i])
			}
		}
	}
}
