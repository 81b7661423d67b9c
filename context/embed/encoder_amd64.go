package embed

import "golang.org/x/sys/cpu"

// kernelsHere lists the kernels that this processor has, the fastest first. They differ in how they multiply with matrices.
func kernelsHere() []*kernels {
	if !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		return nil
	}
	var here []*kernels
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512VNNI {
		here = append(here, vnni("AVX-512 VNNI", 64, multiplyVNNI512))
	}
	if cpu.X86.HasAVXVNNI {
		here = append(here, vnni("AVX-VNNI", blockRows, multiplyVNNI))
	}
	avx2 := &kernels{
		name: "AVX2", width: 2, rows: 4,
		multiply: func(dst []float32, stride int, acts []byte, scales []float32, m *matrix, row, tokens int) {
			multiplyAVX2(&dst[0], stride, &acts[0], &scales[0], &m.codes[row*m.cols], &m.scales[row], &m.bias[row], m.cols, tokens)
		},
		quantise: func(dst []byte, x []float32) float32 { return quantiseAVX2(&dst[0], &x[0], len(x)) },
	}
	here = append(here, avx2)
	for _, k := range here {
		k.mix = func(dst []float32, dstStride int, a []float32, aStride int, b []float32, bStride, k, n int) {
			mixAVX2(&dst[0], dstStride, &a[0], aStride, &b[0], bStride, k, n)
		}
		k.softmax = func(x []float32, scale float32) { softmaxAVX2(&x[0], len(x), scale, &powerConstants[0][0]) }
		k.gelu = func(x []float32) { geluAVX2(&x[0], len(x), &powerConstants[0][0]) }
		k.addNorm = func(x, y, gamma, beta []float32, epsilon float32) {
			addNormAVX2(&x[0], &y[0], &gamma[0], &beta[0], len(x), epsilon)
		}
	}
	return here
}

// vnni is the kernels that multiply so many rows at a time by instructions that add up products of bytes.
func vnni(name string, rows int, multiply func(dst *float32, stride int, acts *byte, scales *float32, w *int8, wscales, bias *float32, excess *int32, k, tokens int)) *kernels {
	return &kernels{
		name: name, width: 1, rows: rows, blocks: true,
		multiply: func(dst []float32, stride int, acts []byte, scales []float32, m *matrix, row, tokens int) {
			multiply(&dst[0], stride, &acts[0], &scales[0], &m.codes[row*m.cols], &m.scales[row], &m.bias[row], &m.excess[row], m.cols, tokens)
		},
		quantise: func(dst []byte, x []float32) float32 { return quantiseBytesAVX2(&dst[0], &x[0], len(x)) },
	}
}

// powerConstants are those of the macro power and of geluAVX2, each eight times: bounds of the exponent, 1/ln(2), ln(2) in
// two parts, the polynomial of e^r from the highest power down, 1, and what GELU multiplies x and its cube by.
var powerConstants = func() (wide [14][8]float32) {
	for i, c := range [...]float32{
		-86, 86, 1.44269504088896341, 0.693359375, -2.12194440e-4,
		1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1,
		1, -2 * geluLinear, -2 * geluCubic,
	} {
		for j := range wide[i] {
			wide[i][j] = c
		}
	}
	return wide
}()

//go:noescape
func multiplyAVX2(dst *float32, stride int, acts *byte, scales *float32, w *int8, wscales, bias *float32, k, tokens int) //nolint:revive // registers have no structs

//go:noescape
func multiplyVNNI512(dst *float32, stride int, acts *byte, scales *float32, w *int8, wscales, bias *float32, excess *int32, k, tokens int) //nolint:revive // registers have no structs

//go:noescape
func multiplyVNNI(dst *float32, stride int, acts *byte, scales *float32, w *int8, wscales, bias *float32, excess *int32, k, tokens int) //nolint:revive // registers have no structs

//go:noescape
func mixAVX2(dst *float32, dstStride int, a *float32, aStride int, b *float32, bStride, k, n int) //nolint:revive // registers have no structs

//go:noescape
func softmaxAVX2(x *float32, n int, scale float32, constants *float32)

//go:noescape
func geluAVX2(x *float32, n int, constants *float32)

//go:noescape
func addNormAVX2(x, y, gamma, beta *float32, n int, epsilon float32)

//go:noescape
func quantiseAVX2(dst *byte, x *float32, n int) (scale float32)

//go:noescape
func quantiseBytesAVX2(dst *byte, x *float32, n int) (scale float32)
