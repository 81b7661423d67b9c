package embed

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSRCH40_KernelsAgree: what a processor computes is what Go computes; the integers are the same.
func TestSRCH40_KernelsAgree(t *testing.T) {
	all := kernelsHere()
	if len(all) == 0 {
		t.Skip("this processor has no kernels for the encoder")
	}
	for _, k := range all {
		t.Run(k.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			for _, cols := range []int{64, 384, 1536} {
				for _, tokens := range []int{4, 8, 36} {
					agreeOnMatrix(t, r, k, cols, tokens)
				}
			}
			for _, n := range []int{16, 32, 208, 384} {
				agreeOnRows(t, r, k, n)
			}
			for range 10 {
				agreeOnMix(t, r, k)
			}
		})
	}
}

func randoms(r *rand.Rand, n int, by float64) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(by * r.NormFloat64())
	}
	return out
}

// agreeOnMatrix compares the product of random weights, extremes among them, with random tokens.
func agreeOnMatrix(t *testing.T, r *rand.Rand, k *kernels, cols, tokens int) {
	t.Helper()
	const rows = 128
	m := &matrix{rows: rows, cols: cols, codes: make([]int8, rows*cols), scales: randoms(r, rows, 1), bias: randoms(r, rows, 1)}
	for i := range m.codes {
		m.codes[i] = int8(r.IntN(255) - 127)
		switch i / cols {
		case 0:
			m.codes[i] = 127
		case 1:
			m.codes[i] = -127
		}
	}
	laid := *m
	if k.blocks {
		laid.codes = slices.Clone(m.codes)
		laid.toBlocks()
	}
	x := randoms(r, tokens*cols, 3)
	for i := range cols {
		x[i] = 5 // all activations of the first token are the greatest there is
		x[cols+i] = -5
	}
	clear(x[2*cols : 3*cols])
	want, got := make([]float32, tokens*rows), make([]float32, tokens*rows)
	for _, run := range []struct {
		k   *kernels
		m   *matrix
		dst []float32
	}{{plain, m, want}, {k, &laid, got}} {
		acts, scales := make([]byte, tokens*cols*run.k.width), make([]float32, tokens)
		for i := range tokens {
			scales[i] = run.k.quantise(acts[i*cols*run.k.width:][:cols*run.k.width], x[i*cols:][:cols])
		}
		run.k.apply(run.dst, run.m, acts, scales, tokens)
		for i := range acts {
			if run.k.width == 2 && i%2 == 0 {
				code := int16(binary.LittleEndian.Uint16(acts[i:]))
				if code < -127 || code > 127 {
					t.Fatalf("an activation of %d", code)
				}
			}
		}
	}
	near(t, "multiply", got, want, 1e-5)
}

func agreeOnRows(t *testing.T, r *rand.Rand, k *kernels, n int) {
	t.Helper()
	gamma, beta := randoms(r, n, 1), randoms(r, n, 1)
	for _, by := range []float64{0, 0.01, 1, 30, 1e4} {
		x, y := randoms(r, n, by), randoms(r, n, by)
		x[n-1] = unseen
		a, b := append([]float32(nil), x...), append([]float32(nil), x...)
		plain.softmax(a, 0.17)
		k.softmax(b, 0.17)
		near(t, "softmax", b, a, 1e-5)
		x[n-1] = 0
		a, b = append([]float32(nil), x...), append([]float32(nil), x...)
		plain.gelu(a)
		k.gelu(b)
		near(t, "gelu", b, a, 1e-5)
		a, b = append([]float32(nil), x...), append([]float32(nil), x...)
		plain.addNorm(a, y, gamma, beta, 1e-12)
		k.addNorm(b, y, gamma, beta, 1e-12)
		near(t, "addNorm", b, a, 1e-4)
	}
}

func agreeOnMix(t *testing.T, r *rand.Rand, k *kernels) {
	t.Helper()
	inner, n := 1+r.IntN(300), 16*(1+r.IntN(5))
	aStride, bStride, dstStride := inner+r.IntN(9), n+r.IntN(9), n+r.IntN(9)
	a, b := randoms(r, 4*aStride, 1), randoms(r, inner*bStride, 1)
	want, got := make([]float32, 4*dstStride), make([]float32, 4*dstStride)
	plain.mix(want, dstStride, a, aStride, b, bStride, inner, n)
	k.mix(got, dstStride, a, aStride, b, bStride, inner, n)
	near(t, "mix", got, want, 1e-4)
}

// near fails unless each number is within a part of the greatest.
func near(t *testing.T, what string, got, want []float32, part float64) {
	t.Helper()
	most := 1e-6
	for _, v := range want {
		most = max(most, math.Abs(float64(v)))
	}
	for i := range want {
		if d := math.Abs(float64(got[i] - want[i])); !(d <= part*most) {
			t.Fatalf("%s: number %d of %d is %g, by Go %g", what, i, len(want), got[i], want[i])
		}
	}
}

// TestSRCH40_PowerAndGELU holds the approximations to what they stand for.
func TestSRCH40_PowerAndGELU(t *testing.T) {
	for x := -86.0; x < 86; x += 0.01 {
		if got, want := float64(power(float32(x))), math.Exp(float64(float32(x))); math.Abs(got/want-1) > 1e-6 {
			t.Fatalf("e^%g is %g, not %g", x, want, got)
		}
	}
	for x := -12.0; x < 12; x += 0.01 {
		row := []float32{float32(x)}
		geluPlain(row)
		if want := x * 0.5 * math.Erfc(-x/math.Sqrt2); math.Abs(float64(row[0])-want) > 6e-4 {
			t.Fatalf("GELU of %g is %g, not %g", x, want, row[0])
		}
	}
}
