package embed

// kernels is the arithmetic of an [Encoder] on one kind of processor. All kinds give the same integers; their float32
// differ in the last bits, by the order of sums. Lengths are multiples of 16, numbers of tokens of 4.
type kernels struct {
	name  string
	width int // bytes of a quantised activation
	rows  int // of a matrix that are multiplied at a time
	// blocks says that the codes of a matrix stand as [matrix.toBlocks] leaves them, and bytes of activations are 128 greater
	// than what they stand for.
	blocks bool

	// multiply gives k.rows rows of a matrix, from one on, times the activations of tokens: each goes to as many numbers of dst,
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
	excess     []int32 // of a row: -128 times the sum of its codes, where activations are 128 greater than they stand for
}

// blockRows and blockCols are the sides of the blocks in which codes stand for an instruction that multiplies unsigned bytes
// with signed ones, and adds up each four.
const blockRows, blockCols = 16, 4

// toBlocks brings the codes into blocks: those of four columns of a row, then of the next row, of sixteen rows; then of the
// next four columns of these.
func (m *matrix) toBlocks() {
	m.excess = make([]int32, m.rows)
	rows := make([]int8, blockRows*m.cols)
	for from := 0; from < m.rows; from += blockRows {
		codes := m.codes[from*m.cols:][:len(rows)]
		copy(rows, codes)
		for r := range blockRows {
			row := rows[r*m.cols:][:m.cols]
			for at := 0; at < m.cols; at += blockCols {
				copy(codes[at*blockRows+r*blockCols:][:blockCols], row[at:])
			}
			for _, c := range row {
				m.excess[from+r] -= 128 * int32(c)
			}
		}
	}
}

// blockTokens is how many tokens go through a matrix before the next ones do: their activations stay in the cache.
const blockTokens = 32

// apply multiplies a matrix with the activations of all tokens.
func (k *kernels) apply(dst []float32, m *matrix, acts []byte, scales []float32, tokens int) {
	size := m.cols * k.width
	for from := 0; from < tokens; from += blockTokens {
		n := min(blockTokens, tokens-from)
		for row := 0; row < m.rows; row += k.rows {
			k.multiply(dst[from*m.rows+row:(from+n)*m.rows], m.rows, acts[from*size:(from+n)*size], scales[from:from+n], m, row, n)
		}
	}
}
