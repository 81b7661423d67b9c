package vectors_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/search/vectors"
	"github.com/ctxd/ctxd/entities/fault"
)

// randomVector is one of clustered directions, as those of texts are.
func randomVector(r *rand.Rand, dims, clusters int) []float32 {
	centre := rand.New(rand.NewPCG(uint64(r.IntN(clusters)), 7))
	x := make([]float32, dims)
	for i := range x {
		x[i] = float32(centre.NormFloat64() + r.NormFloat64())
	}
	return x
}

// put makes vectors the only ones of an item.
func put(x *vectors.FlatIndex, id string, vecs [][]float32) error {
	_, err := x.Put(vectors.Item{ID: id, Parts: make([]vectors.TextKey, len(vecs)), New: vecs}, nil)
	return err
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

// naive is the plain model: every vector of every note, compared in float64.
func naive(all map[string][][]float32, question []float32, k int, allowed func(string) bool) []vectors.FlatHit {
	var hits []vectors.FlatHit
	for note, vecs := range all {
		best := vectors.FlatHit{ID: note, Score: -2}
		for i, x := range vecs {
			if s := float32(cosine(x, question)); x != nil && s > best.Score {
				best.Part, best.Score = i, s
			}
		}
		if best.Score > -2 && allowed(note) {
			hits = append(hits, best)
		}
	}
	slices.SortFunc(hits, func(a, b vectors.FlatHit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return hits[:min(k, len(hits))]
}

func TestSRCH11_AgreesWithNaiveScan(t *testing.T) {
	for _, exact := range []int{1 << 20, 0} { // float32 alone; int8 first
		t.Run(fmt.Sprintf("exact up to %d", exact), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { againstNaive(t, exact) })
		})
	}
}

func againstNaive(t *rapid.T, exact int) {
	dims := rapid.SampledFrom([]int{1, 3, 64, 100}).Draw(t, "dims")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	index, all := vectors.NewFlatIndex(dims), map[string][][]float32{}
	index.SetExact(exact)
	for range rapid.IntRange(1, 60).Draw(t, "steps") {
		note := fmt.Sprintf("n%d", r.IntN(20))
		if r.IntN(4) == 0 {
			index.Delete(note)
			delete(all, note)
			continue
		}
		vectors := make([][]float32, r.IntN(5))
		for i := range vectors {
			if r.IntN(5) > 0 {
				vectors[i] = randomVector(r, dims, 5)
			}
		}
		if err := put(index, note, vectors); err != nil {
			t.Fatal(err)
		}
		all[note] = vectors
	}
	question, k := randomVector(r, dims, 5), 1+r.IntN(25)
	allowed := func(note string) bool { return !strings.HasSuffix(note, "3") }
	got, want := index.Search(question, k, allowed), naive(all, question, k, allowed)
	if len(got) != len(want) {
		t.Fatalf("%d hits, want %d", len(got), len(want))
	}
	for i := range got { // equal scores may change places by rounding
		exactly := cosine(all[got[i].ID][got[i].Part], question)
		if math.Abs(float64(got[i].Score-want[i].Score)) > 1e-5 || math.Abs(float64(got[i].Score)-exactly) > 1e-5 {
			t.Fatalf("hit %d: %+v with cosine %f, want %+v", i, got[i], exactly, want[i])
		}
	}
}

func TestSRCH11_RecallOfManyVectors(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	const rows, dims, k = 20_000, 384, 10
	r := rand.New(rand.NewPCG(1, 2))
	index, all := vectors.NewFlatIndex(dims), map[string][][]float32{}
	for i := range rows {
		note := fmt.Sprint(i)
		all[note] = [][]float32{randomVector(r, dims, 200)}
		if err := put(index, note, all[note]); err != nil {
			t.Fatal(err)
		}
	}
	everyNote := func(string) bool { return true }
	found, wanted := 0, 0
	for range 20 {
		question := randomVector(r, dims, 200)
		got := index.Search(question, k, nil)
		for _, w := range naive(all, question, k, everyNote) {
			wanted++
			if slices.ContainsFunc(got, func(g vectors.FlatHit) bool { return g.ID == w.ID }) {
				found++
			}
		}
	}
	if recall := float64(found) / float64(wanted); recall < 0.99 {
		t.Errorf("recall %.3f, want at least 0.99", recall)
	}
}

func TestSRCH11_ScanOfTheProcessorIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, stride := range []int{64, 128, 384} {
		const rows = 33
		question, codes := make([]float32, stride), make([]int8, rows*stride)
		for i := range question {
			question[i] = float32(r.IntN(3) - 1) // the extremes, -127, 0 and 127
		}
		question[0] = 1
		for i := range codes {
			codes[i] = []int8{-127, 127, 0, 1, -1, int8(r.IntN(255) - 127)}[r.IntN(6)]
		}
		for i := range stride { // every product at its most, and of one sign
			codes[i] = int8(127 * question[i])
			codes[stride+i] = int8(-127 * question[i])
		}
		if fast, plain, four := vectors.Scan(codes, question, rows, stride); !slices.Equal(fast, plain) || !slices.Equal(four, plain) {
			t.Errorf("stride %d:\n got %d\nwant %d", stride, fast, plain)
		}
	}
}

func TestSRCH11_OddVectors(t *testing.T) {
	index := vectors.NewFlatIndex(2)
	nan := float32(math.NaN())
	for _, x := range [][]float32{{}, {1}, {1, 2, 3}, {0, 0}, {nan, 1}, {float32(math.Inf(1)), 1}} {
		err := put(index, "a", [][]float32{{1, 0}, x})
		if f := new(fault.Error); !errors.As(err, &f) || f.Kind != fault.Invalid {
			t.Errorf("%v: error %v", x, err)
		}
		if got := index.Search(x, 5, nil); got != nil {
			t.Errorf("question %v finds %v", x, got)
		}
	}
	if index.Len() != 0 {
		t.Errorf("%d rows of refused vectors", index.Len())
	}
	given := []float32{0, 1e-45}
	if err := put(index, "tiny", [][]float32{nil, given}); err != nil {
		t.Fatal(err)
	}
	given[1] = -1 // the caller's again
	if got := index.Search([]float32{0, 2e19}, 5, nil); len(got) != 1 || got[0] != (vectors.FlatHit{ID: "tiny", Part: 1, Score: 1}) {
		t.Errorf("found %+v", got)
	}
	if got := index.Search([]float32{0, 1}, 0, nil); got != nil {
		t.Errorf("k of 0 finds %v", got)
	}
}

func TestSRCH11_ManyChunksOfOneNoteHideNoOther(t *testing.T) {
	index := vectors.NewFlatIndex(2)
	index.SetExact(0)
	near := slices.Repeat([][]float32{{1, 0.01}}, 500)
	for note, vectors := range map[string][][]float32{"long": near, "short": {{1, 1}}, "far": {{-1, 1}}} {
		if err := put(index, note, vectors); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, h := range index.Search([]float32{1, 0}, 3, nil) {
		got = append(got, h.ID)
	}
	if !slices.Equal(got, []string{"long", "short", "far"}) {
		t.Errorf("found %q", got)
	}
}

func TestSRCH11_ADeletedNoteIsNeverFound(t *testing.T) {
	index := vectors.NewFlatIndex(4)
	index.SetExact(0)
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 9))
			own := fmt.Sprint("w", w)
			for range 200 {
				x := randomVector(r, 4, 3)
				if err := put(index, own, [][]float32{x, x, x}); err != nil {
					t.Error(err)
				}
				if got := index.Search(x, 4, nil); !slices.ContainsFunc(got, func(h vectors.FlatHit) bool { return h.ID == own }) {
					t.Errorf("%s is not found after it was put", own)
				}
				index.Delete(own)
				if got := index.Search(x, 4, nil); slices.ContainsFunc(got, func(h vectors.FlatHit) bool { return h.ID == own }) {
					t.Errorf("%s is found after it was deleted", own)
				}
			}
		})
	}
	all.Wait()
	if index.Len() != 0 {
		t.Errorf("%d rows left", index.Len())
	}
}

func BenchmarkPERF7_Vectors100k(b *testing.B) {
	const rows, dims = 100_000, 384
	r := rand.New(rand.NewPCG(5, 6))
	index, flat := vectors.NewFlatIndex(dims), make([]float32, 0, rows*dims)
	for i := range rows {
		x := randomVector(r, dims, 500)
		flat = append(flat, x...)
		if err := put(index, fmt.Sprint(i), [][]float32{x}); err != nil {
			b.Fatal(err)
		}
	}
	question := randomVector(r, dims, 500)
	b.Run("ours", func(b *testing.B) {
		for b.Loop() {
			index.Search(question, 10, nil)
		}
	})
	b.Run("naive", func(b *testing.B) {
		for b.Loop() {
			var best [10]float32
			for at := 0; at < len(flat); at += dims {
				var sum float32
				for i, x := range flat[at : at+dims] {
					sum += x * question[i]
				}
				if sum > best[9] {
					best[9] = sum
					slices.SortFunc(best[:], func(a, b float32) int { return cmp.Compare(b, a) })
				}
			}
		}
	})
}

// TestPRIV6_RowsThatNobodyMaySeeChangeNoResult looks among vectors that are as good as alike
// in int8, with others between them that do not count: with these or without, the same is
// found, up to the number from which a search begins with int8, and beyond.
func TestPRIV6_RowsThatNobodyMaySeeChangeNoResult(t *testing.T) {
	const dims = 32
	for _, count := range []int{900, 1024, 1025, 1200} {
		for _, hidden := range []int{1, 200, 2000} {
			r := rand.New(rand.NewPCG(uint64(count), 5))
			like := randomVector(r, dims, 1)
			near := func() []float32 {
				v := slices.Clone(like)
				for i := range v {
					v[i] += float32(r.NormFloat64()) / 1000
				}
				return v
			}
			alone, beside := vectors.NewFlatIndex(dims), vectors.NewFlatIndex(dims)
			add := func(x *vectors.FlatIndex, id string, v []float32) {
				t.Helper()
				err := put(x, id, [][]float32{v})
				if err != nil {
					t.Fatal(err)
				}
			}
			for i := range max(count, hidden) {
				if i < hidden {
					add(beside, fmt.Sprint("hidden ", i), near())
				}
				if i < count {
					id, v := fmt.Sprint("shown ", i), near()
					add(alone, id, v)
					add(beside, id, v)
				}
			}
			question := near()
			want := alone.Search(question, 10, nil)
			got := beside.Search(question, 10, func(id string) bool { return strings.HasPrefix(id, "shown") })
			if !slices.Equal(got, want) {
				t.Errorf("%d vectors beside %d that do not count: %v, without them %v", count, hidden, got, want)
			}
		}
	}
}
