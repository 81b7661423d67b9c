package vectors_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/context/search/vectors"
)

// TestREL18_NeighboursAreWhatSearchesFind compares the neighbours of all items with a search for each: over several
// blocks, with equal vectors, after removals, and where items have several vectors or few are compared exactly.
func TestREL18_NeighboursAreWhatSearchesFind(t *testing.T) {
	for _, c := range []struct {
		items, exact, parts int
		least               float32
	}{
		{2500, 0, 1, 0.3}, {2500, 0, 1, 0.8}, {1100, 0, 1, -1}, {300, 1024, 1, 0.3}, {600, 0, 2, 0.3}, {0, 0, 1, 0},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(c.items), uint64(c.parts)))
			x := vectors.NewFlatIndex(24)
			x.SetExact(c.exact)
			first := make(map[string][]float32)
			var last []float32
			for i := range c.items {
				id := fmt.Sprint("item-", i)
				var list [][]float32
				for range c.parts {
					v := randomVector(r, 24, 40)
					if i%9 == 8 {
						v = slices.Clone(last)
					}
					last, list = v, append(list, v)
				}
				must(t, put(x, id, list))
				first[id] = list[0]
			}
			for i := 0; i < c.items; i += 11 {
				id := fmt.Sprint("item-", i)
				x.Delete(id)
				delete(first, id)
			}
			wanted := func(id string) bool { return id[len(id)-1] != '3' }
			got := make(map[string][]vectors.FlatHit)
			must(t, x.Neighbours(5, c.least, wanted, func() error { return nil }, func(id string, hits []vectors.FlatHit) {
				got[id] = slices.Clone(hits)
			}))
			want := make(map[string][]vectors.FlatHit)
			for id, v := range first {
				if wanted(id) {
					want[id] = slices.DeleteFunc(x.Search(v, 5, nil), func(h vectors.FlatHit) bool { return h.Score < c.least })
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-searches +neighbours)\n%.2000s", diff)
			}
		})
	}
	x := vectors.NewFlatIndex(24)
	must(t, put(x, "only", [][]float32{randomVector(rand.New(rand.NewPCG(1, 1)), 24, 1)}))
	stop := errors.New("stop")
	all := func(string) bool { return true }
	if err := x.Neighbours(5, 0, all, func() error { return stop }, nil); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
}
