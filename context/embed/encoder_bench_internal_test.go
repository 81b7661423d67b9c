package embed

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// shapedEncoder is an encoder of the size of the built-in one, with random weights.
func shapedEncoder(k *kernels) *Encoder {
	r := rand.New(rand.NewPCG(3, 4))
	h := encoderHead{Layers: 12, Dims: 384, Heads: 12, Inner: 1536, Tokens: 1000, Positions: 512, Axes: 128, Epsilon: 1e-12}
	e := &Encoder{head: h, gamma: randoms(r, 384, 1), beta: randoms(r, 384, 1)}
	table := func(rows int) packed {
		p := packed{cols: 384, codes: make([]byte, rows*192), scales: make([]byte, rows*24)}
		for i := range p.codes {
			p.codes[i] = byte(r.Uint32())
		}
		for i := range p.scales {
			p.scales[i] = 0x20
		}
		return p
	}
	e.words, e.places = table(h.Tokens), table(h.Positions)
	for range h.Layers {
		l := layer{gamma: randoms(r, 384, 1), beta: randoms(r, 384, 1), gammaOut: randoms(r, 384, 1), betaOut: randoms(r, 384, 1)}
		for _, m := range l.matrices() {
			m.rows, m.cols = 384, 384
			switch m {
			case &l.inner:
				m.rows = 1536
			case &l.outer:
				m.cols = 1536
			}
			m.codes, m.scales, m.bias = make([]int8, m.rows*m.cols), make([]float32, m.rows), randoms(r, m.rows, 1)
			for i := range m.codes {
				m.codes[i] = int8(r.IntN(255) - 127)
			}
			for i := range m.scales {
				m.scales[i] = 0.001
			}
		}
		e.layers = append(e.layers, l)
	}
	e.use(k)
	return e
}

// BenchmarkPERF23_Encoder reads texts of so many tokens on one core.
func BenchmarkPERF23_Encoder(b *testing.B) {
	for _, k := range kernelsHere() {
		e := shapedEncoder(k)
		for _, n := range []int{12, 45, 200} {
			b.Run(fmt.Sprintf("%s/%d", k.name, n), func(b *testing.B) {
				p := new(pass)
				for i := range n {
					p.ids = append(p.ids, int32(i))
				}
				for b.Loop() {
					e.run(b.Context(), p)
				}
				b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "tokens/s")
			})
		}
	}
}
