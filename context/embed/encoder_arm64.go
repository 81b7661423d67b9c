package embed

import (
	"runtime"

	"golang.org/x/sys/cpu"
)

// kernelsHere lists the kernels that this processor has. All of Apple's have the dot product.
func kernelsHere() []*kernels {
	if runtime.GOOS != "darwin" && !cpu.ARM64.HasASIMDDP {
		return nil
	}
	return []*kernels{{
		name: "dot product", width: 1, rows: 4,
		multiply: func(dst []float32, stride int, acts []byte, scales []float32, m *matrix, row, tokens int) {
			multiplySDOT(&dst[0], stride, &acts[0], &scales[0], &m.codes[row*m.cols], &m.scales[row], &m.bias[row], m.cols, tokens)
		},
		mix: func(dst []float32, dstStride int, a []float32, aStride int, b []float32, bStride, k, n int) {
			mixNEON(&dst[0], dstStride, &a[0], aStride, &b[0], bStride, k, n)
		},
		quantise: quantisePlain, softmax: softmaxPlain, gelu: geluPlain, addNorm: addNormPlain,
	}}
}

//go:noescape
func multiplySDOT(dst *float32, stride int, acts *byte, scales *float32, w *int8, wscales, bias *float32, k, tokens int) //nolint:revive // registers have no structs

//go:noescape
func mixNEON(dst *float32, dstStride int, a *float32, aStride int, b *float32, bStride, k, n int) //nolint:revive // registers have no structs
