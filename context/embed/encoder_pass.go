package embed

import "context"

// layer is one of a transformer: attention, then two matrices with GELU between them, each with its normalisation after.
type layer struct {
	query, key, value, output, inner, outer matrix
	gamma, beta, gammaOut, betaOut          []float32
}

// matrices lists those of a layer in the order of the file.
func (l *layer) matrices() []*matrix {
	return []*matrix{&l.query, &l.key, &l.value, &l.output, &l.inner, &l.outer}
}

// pass is the space that reading one text takes. It is used again.
type pass struct {
	hidden           []float32 // of each token: what the last layer gave
	query, key, mean []float32
	value, inner     []float32
	turned           []float32 // the keys of one head, a column a token
	weights          []float32 // of attention, of one head
	acts             []byte
	scales           []float32
	coordinates      []float32
	ids              []int32
	work             workspace
}

// roundUp is n or the next multiple of a step.
func roundUp(n, step int) int { return (n + step - 1) / step * step }

// grow makes a buffer at least so long; what it holds is of no use then.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// run reads a text of len(p.ids) tokens, and leaves what the last layer says of each in p.hidden. The time for n tokens is
// O(n) in the matrices and O(n²) in attention, which is a fifth of it at 200 tokens. It reports false when ctx ends before.
func (e *Encoder) run(ctx context.Context, p *pass) bool {
	h, k := &e.head, e.kernels
	n := roundUp(len(p.ids), 4)
	wide := roundUp(n, 16)
	for _, s := range []*[]float32{&p.hidden, &p.query, &p.key, &p.mean} {
		*s = grow(*s, n*h.Dims)
	}
	p.value = grow(p.value, wide*h.Dims)
	clear(p.value[n*h.Dims:])
	p.inner = grow(p.inner, n*h.Inner)
	p.turned = grow(p.turned, h.Dims/h.Heads*wide)
	p.weights = grow(p.weights, n*wide)
	p.acts = grow(p.acts, n*h.Inner*k.width)
	p.scales = grow(p.scales, n)
	clear(p.hidden)
	place := p.mean[:h.Dims]
	for i, id := range p.ids {
		row := p.hidden[i*h.Dims:][:h.Dims]
		e.words.row(row, int(id))
		e.places.row(place, i)
		k.addNorm(row, place, e.gamma, e.beta, h.Epsilon)
	}
	for i := range e.layers {
		if ctx.Err() != nil {
			return false
		}
		e.apply(p, &e.layers[i], n, wide)
	}
	return true
}

// apply has one layer read what the one before it said.
func (e *Encoder) apply(p *pass, l *layer, n, wide int) {
	h, k := &e.head, e.kernels
	e.quantise(p, p.hidden, h.Dims)
	k.apply(p.query, &l.query, p.acts, p.scales, n)
	k.apply(p.key, &l.key, p.acts, p.scales, n)
	k.apply(p.value[:n*h.Dims], &l.value, p.acts, p.scales, n)
	for head := range h.Heads {
		e.attend(p, head*h.Dims/h.Heads, n, wide)
	}
	e.quantise(p, p.mean, h.Dims)
	k.apply(p.query, &l.output, p.acts, p.scales, n)
	e.normalise(p, l.gamma, l.beta)
	e.quantise(p, p.hidden, h.Dims)
	k.apply(p.inner, &l.inner, p.acts, p.scales, n)
	k.gelu(p.inner)
	e.quantise(p, p.inner, h.Inner)
	k.apply(p.query, &l.outer, p.acts, p.scales, n)
	e.normalise(p, l.gammaOut, l.betaOut)
}

// quantise writes the rows of x as activations.
func (e *Encoder) quantise(p *pass, x []float32, dims int) {
	size := dims * e.kernels.width
	for i := range len(x) / dims {
		p.scales[i] = e.kernels.quantise(p.acts[i*size:][:size], x[i*dims:][:dims])
	}
}

// normalise adds what a matrix gave to what the layer was given.
func (e *Encoder) normalise(p *pass, gamma, beta []float32) {
	dims := e.head.Dims
	for i := range len(p.hidden) / dims {
		e.kernels.addNorm(p.hidden[i*dims:][:dims], p.query[i*dims:][:dims], gamma, beta, e.head.Epsilon)
	}
}

// attend is the attention of the head whose numbers begin at a place of each row.
func (e *Encoder) attend(p *pass, at, n, wide int) {
	h, k := &e.head, e.kernels
	size := h.Dims / h.Heads
	for t := range wide {
		for d := range size {
			var x float32
			if t < len(p.ids) {
				x = p.key[t*h.Dims+at+d]
			}
			p.turned[d*wide+t] = x
		}
	}
	scale := rootOf(size)
	for t := 0; t < n; t += 4 {
		weights := p.weights[t*wide:][:4*wide]
		k.mix(weights, wide, p.query[t*h.Dims+at:], h.Dims, p.turned, wide, size, wide)
		for i := range 4 {
			row := weights[i*wide:][:wide]
			for j := len(p.ids); j < wide; j++ {
				row[j] = unseen
			}
			k.softmax(row, scale)
		}
		k.mix(p.mean[t*h.Dims+at:], h.Dims, weights, wide, p.value[at:], h.Dims, wide, size)
	}
}

// unseen is the weight of a token that is none, before softmax makes 0 of it.
const unseen = -1e30
