package embed

// kernels is the arithmetic of an [Encoder] on one kind of processor. All kinds give the same integers; their float32
// differ in the last bits, by the order of sums. Lengths are multiples of 16, numbers of tokens of 4.
type kernels struct {
	name  string
	width int // bytes of a quantised activation

	// multiply gives four rows of a matrix, from one on, times the activations of tokens: each goes to four numbers of dst,
	// stride apart.
	multiply func(dst []float32, stride int, acts []byte, scales []float32, m *matrix, row, tokens int)
	// quantise writes a row of activations as integers up to 127, and returns what one is worth.
	quantise func(dst []byte, x []float32) float32
	// mix is dst = a·b for four rows of a; k is how long these are, n how long those of b.
	mix func(dst []float32, dstStride int, a []float32, aStride int, b []float32, bStride, k, n int)
	// softmax replaces x by the softmax of scale·x.
	softmax func(x []float32, scale float32)
	// gelu replaces x by x·Φ(x), in the form by tanh of Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016.
	gelu func(x []float32)
	// addNorm replaces x by the normalised x+y.
	addNorm func(x, y, gamma, beta []float32, epsilon float32)
}

// What GELU by tanh multiplies x and its cube by: √(2/π) and .044715·√(2/π).
const (
	geluLinear = 0.7978845608028654
	geluCubic  = 0.044715 * geluLinear
)

// matrix is weights of 8 bits: a row is worth its scale times its codes, plus its bias.
type matrix struct {
	rows, cols int
	codes      []int8
	scales     []float32
	bias       []float32
	sums       []int32 // of the codes of a row
}

// blockTokens is how many tokens go through a matrix before the next ones do: their activations stay in the cache.
const blockTokens = 32

// apply multiplies a matrix with the activations of all tokens.
func (k *kernels) apply(dst []float32, m *matrix, acts []byte, scales []float32, tokens int) {
	size := m.cols * k.width
	for from := 0; from < tokens; from += blockTokens {
		n := min(blockTokens, tokens-from)
		for row := 0; row < m.rows; row += 4 {
			k.multiply(dst[from*m.rows+row:(from+n)*m.rows], m.rows, acts[from*size:(from+n)*size], scales[from:from+n], m, row, n)
		}
	}
}
