package vectors_test

import (
	"math"
	"testing"

	"github.com/ctxd/ctxd/context/search/vectors"
)

// TestSRCH11_ApartLeavesOutWhatAllHaveInCommon: the question has the common direction, x, in it as the items
// do. What is left of it is y, and so is what is left of one and of a part of two.
func TestSRCH11_ApartLeavesOutWhatAllHaveInCommon(t *testing.T) {
	x := vectors.NewFlatIndex(3)
	put := func(id string, vecs ...[]float32) {
		t.Helper()
		it := vectors.Item{ID: id, Key: vectors.NewTextKey(id), New: vecs}
		for i := range vecs {
			it.Parts = append(it.Parts, vectors.NewTextKey(id, string(rune('a'+i))))
		}
		if ok, err := x.Put(it, func() bool { return true }); err != nil || !ok {
			t.Fatal(ok, err)
		}
	}
	put("y", []float32{3, 1, 0})
	put("-y", []float32{3, -1, 0})
	put("z", []float32{3, 0, 1})
	put("-z", []float32{3, 0, -1})
	ids := []string{"y", "gone", "-y", "z", "-z"}
	x0 := 3 / math.Sqrt(10)
	question := []float32{float32(x0), 0.5, 0}
	for _, c := range []struct {
		question []float32
		want     []float64
	}{
		{question, []float64{1, 0, -1, 0, 0}},
		{[]float32{0, 0, 0}, []float64{0, 0, 0, 0, 0}},
		{[]float32{1, 0}, []float64{0, 0, 0, 0, 0}},
	} {
		for i, got := range x.Apart(c.question, ids) {
			if math.Abs(float64(got)-c.want[i]) > 0.2 {
				t.Errorf("%s: %g near %v, want %g", ids[i], got, c.question, c.want[i])
			}
		}
	}
	if whole := x.Whole(question, ids); whole[0]-whole[2] > 0.4 {
		t.Errorf("the items are as near as %v, which tells them apart already", whole)
	}
	put("parts", []float32{3, 0, -1}, []float32{3, 1, 0})
	ids = append(ids, "parts")
	if near := x.Apart(question, ids); near[5] <= near[3] || near[5] >= near[0] {
		t.Errorf("one of two parts is near: %v", near)
	}
	if near := x.Apart(question, nil); len(near) != 0 {
		t.Errorf("of nothing %v", near)
	}
}
