package embed

import "math"

// plain is the arithmetic in Go, which others are held to. It is too slow to read texts with.
var plain = &kernels{
	name: "Go", width: 1, rows: 4,
	multiply: multiplyPlain, quantise: quantisePlain, mix: mixPlain,
	softmax: softmaxPlain, gelu: geluPlain, addNorm: addNormPlain,
}

func multiplyPlain(dst []float32, stride int, acts []byte, scales []float32, m *matrix, row, tokens int) {
	for t := range tokens {
		act := acts[t*m.cols:][:m.cols]
		for r := range 4 {
			var sum int32
			for i, c := range m.codes[(row+r)*m.cols:][:m.cols] {
				sum += int32(c) * int32(int8(act[i]))
			}
			dst[t*stride+r] = float32(sum)*(scales[t]*m.scales[row+r]) + m.bias[row+r]
		}
	}
}

func quantisePlain(dst []byte, x []float32) float32 {
	var most float32
	for _, v := range x {
		most = max(most, v, -v)
	}
	if most == 0 {
		clear(dst)
		return 0
	}
	by := 127 / most
	for i, v := range x {
		dst[i] = byte(int8(math.RoundToEven(float64(v * by))))
	}
	return most / 127
}

func mixPlain(dst []float32, dstStride int, a []float32, aStride int, b []float32, bStride, k, n int) { //nolint:revive // as those of processors
	for r := range 4 {
		row := dst[r*dstStride:][:n]
		clear(row)
		for i := range k {
			by := a[r*aStride+i]
			for j, v := range b[i*bStride:][:n] {
				row[j] += by * v
			}
		}
	}
}

func softmaxPlain(x []float32, scale float32) {
	most := x[0]
	for _, v := range x {
		most = max(most, v)
	}
	var sum float32
	for i, v := range x {
		x[i] = power(scale * (v - most))
		sum += x[i]
	}
	for i := range x {
		x[i] /= sum
	}
}

func geluPlain(x []float32) {
	for i, v := range x {
		x[i] = v / (1 + power(-2*v*(geluLinear+geluCubic*v*v)))
	}
}

func addNormPlain(x, y, gamma, beta []float32, epsilon float32) {
	var sum, squares float32
	for i, v := range y {
		x[i] += v
		sum += x[i]
	}
	mean := sum / float32(len(x))
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	by := 1 / float32(math.Sqrt(float64(squares/float32(len(x))+epsilon)))
	for i, v := range x {
		x[i] = (v-mean)*by*gamma[i] + beta[i]
	}
}

// power is e^x, as expf of the Cephes library has it: 2^n·e^r with |r| at most ln(2)/2, and e^r by a polynomial.
func power(x float32) float32 {
	x = min(max(x, -86), 86)
	n := float32(math.RoundToEven(float64(x * 1.44269504088896341)))
	r := x - n*0.693359375 + n*2.12194440e-4
	p := ((((1.9875691500e-4*r+1.3981999507e-3)*r+8.3334519073e-3)*r+4.1665795894e-2)*r+1.6666665459e-1)*r + 5.0000001201e-1
	return math.Float32frombits(math.Float32bits(p*r*r+r+1) + uint32(int32(n))<<23)
}
