package vectors

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxd/ctxd/context/embed"
)

// words are n random vectors of length 1.
func words(r *rand.Rand, n, dims int) [][]float32 {
	out := make([][]float32, n)
	for i := range out {
		v := make([]float32, dims)
		for j := range v {
			v[j] = float32(r.NormFloat64())
		}
		out[i] = make([]float32, dims)
		normalise(out[i], v)
	}
	return out
}

// randomTokens are the codes of n tokens.
func randomTokens(r *rand.Rand, n, dims int) []byte {
	codes := make([]byte, n*tokenBytes(dims))
	for i := range codes {
		codes[i] = byte(r.Uint32())
	}
	return codes
}

// levels are the coordinates that a token stands for, of length 1.
func levels(token []byte) []float64 {
	out := make([]float64, 4*len(token))
	var squares float64
	for i := range out {
		out[i] = float64(2*int(token[i%len(token)]>>(2*(i/len(token)))&3) - 3)
		squares += out[i] * out[i]
	}
	for i := range out {
		out[i] /= math.Sqrt(squares)
	}
	return out
}

// TestSRCH43_TokensAreComparedAsTheirLevels: the score of a text is the sum, over the words of the question, of the cosine of
// the nearest token, by the processor's instructions and in Go.
func TestSRCH43_TokensAreComparedAsTheirLevels(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, dims := range []int{16, 128} {
		for _, n := range []int{1, 7, 8, 9, 40, 203} {
			asked, codes := words(r, 1+r.IntN(30), dims), randomTokens(r, n, dims)
			q := NewTokenQuestion(asked)
			near := make([]float32, q.Words())
			var s tokenScan
			got := float64(s.score(q, codes, near))
			want := 0.0
			for w, word := range asked {
				best := math.Inf(-1)
				for i := range n {
					dot := 0.0
					for d, level := range levels(codes[i*tokenBytes(dims):][:tokenBytes(dims)]) {
						dot += level * float64(word[d])
					}
					best = max(best, dot)
				}
				if math.Abs(float64(near[w])-best) > 0.01 { // of int8
					t.Errorf("%d dimensions, %d tokens: word %d is as near as %.4f, want %.4f", dims, n, w, near[w], best)
				}
				want += best
			}
			if math.Abs(got-want) > 0.01*float64(q.Words()) {
				t.Errorf("%d dimensions, %d tokens: %.4f, want %.4f", dims, n, got, want)
			}
			size := len(codes) / tokenBytes(dims) / tokenGroup * tokenGroup
			inverse := make([]float32, size)
			for i := range inverse {
				inverse[i] = inverseLength(codes[i*tokenBytes(dims):][:tokenBytes(dims)])
			}
			fast, plain := make([][tokenGroup]float32, q.Words()), make([][tokenGroup]float32, q.Words())
			bestTokens(fast, codes[:size*tokenBytes(dims)], inverse, q)
			bestPlain(plain, codes, inverse, q)
			for w := range fast {
				if fast[w] != plain[w] {
					t.Errorf("%d dimensions, %d tokens: %v, in Go %v", dims, n, fast[w], plain[w])
				}
			}
		}
	}
}

// TestSRCH43_TokensOfAFile: what is damaged counts as nothing, and is found; what is deleted is not found, nor on disk.
func TestSRCH43_TokensOfAFile(t *testing.T) {
	const dims = 128
	r := rand.New(rand.NewPCG(7, 8))
	name := filepath.Join(t.TempDir(), "tokens")
	model := embed.Model{Name: "m", Dims: dims, SHA256: "00"}
	open := func() *FlatIndex {
		x, err := OpenFlatIndex(name, model)
		must(t, err)
		return x
	}
	x := open()
	asked := words(r, 6, dims)
	q := NewTokenQuestion(asked)
	stored := make(map[string][]byte)
	ids := []string{"a", "b", "c", "none"}
	for _, id := range ids[:3] {
		stored[id] = randomTokens(r, 20, dims)
		_, err := x.Put(Item{
			ID: id, Key: NewTextKey(id), Parts: []TextKey{NewTextKey(id), NewTextKey(id, "2")},
			New: words(r, 2, dims), Tokens: [][]byte{stored[id][:320], stored[id][320:]},
		}, nil)
		must(t, err)
	}
	want := x.Interact(q, ids)
	if want[3].Part != -1 || want[0].Part < 0 || want[0].Score == want[1].Score {
		t.Fatalf("%+v", want)
	}
	must(t, x.Close())
	x = open()
	for i, h := range x.Interact(q, ids) {
		if h != want[i] {
			t.Errorf("after a start %+v, want %+v", h, want[i])
		}
	}
	x.Delete("b")
	must(t, x.Flush())
	must(t, x.Compact(t.Context()))
	if got := x.Interact(q, ids); got[0] != want[0] || got[1].Part != -1 || got[2] != want[2] {
		t.Errorf("after a deletion %+v, were %+v", got, want)
	}
	must(t, x.Close())
	data, err := os.ReadFile(name)
	must(t, err)
	for i := range stored["b"][:312] {
		if indexOf(data, stored["b"][i:i+8]) >= 0 {
			t.Fatal("tokens of what was deleted are on disk")
		}
	}
	data[indexOf(data, stored["a"][:320])+100] ^= 4
	must(t, os.WriteFile(name, data, 0o600))
	x = open()
	defer x.Close()
	if x.Key("a") != (TextKey{}) || x.Key("c") == (TextKey{}) {
		t.Error("an item whose tokens are damaged is taken for whole, or one whose are not")
	}
	if got := x.Interact(q, ids); got[0].Part == 0 || got[2] != want[2] {
		t.Errorf("of damaged tokens %+v", got)
	}
	if _, err := x.Put(Item{ID: "d", Parts: []TextKey{{1}}, New: words(r, 1, dims), Tokens: [][]byte{make([]byte, 33)}}, nil); err == nil {
		t.Error("a token and a bit were taken")
	}
}

func indexOf(data, part []byte) int {
	for i := range len(data) - len(part) + 1 {
		if string(data[i:i+len(part)]) == string(part) {
			return i
		}
	}
	return -1
}

func BenchmarkSRCH43_Interact(b *testing.B) {
	r := rand.New(rand.NewPCG(9, 10))
	q := NewTokenQuestion(words(r, 15, 128))
	tokens := randomTokens(r, 450, 128)
	var s tokenScan
	for b.Loop() {
		s.score(q, tokens, nil)
	}
}
