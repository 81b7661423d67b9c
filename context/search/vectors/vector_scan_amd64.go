package vectors

import "golang.org/x/sys/cpu"

// scanRows writes the dot product of the question with each row into dots.
func scanRows(dots []int32, codes []int8, q scanQuery) {
	stride := len(q.codes)
	if !cpu.X86.HasAVX2 || len(dots) == 0 || stride == 0 {
		scanPlain(dots, codes, q)
		return
	}
	_ = codes[len(dots)*stride-1]
	scanAVX2(&dots[0], &codes[0], &q.codes[0], &q.magnitude[0], len(dots), stride)
}

// scanAVX2 is scanRows for rows of stride codes, a multiple of scanStep above
// zero. Codes are from -127 to 127.
//
//go:noescape
func scanAVX2(dots *int32, codes, query *int8, magnitude *uint8, rows, stride int)

// scanFour is scanRows for four questions, rows that stand together in of.
func scanFour(dots *[4][blockRows]int32, rows int, codes, of []int8) {
	stride := len(of) / len(dots)
	if !cpu.X86.HasAVX512VNNI || rows == 0 || stride == 0 {
		scanEach(dots, rows, codes, of)
		return
	}
	_ = codes[rows*stride-1]
	scanFourVNNI(&dots[0][0], &codes[0], &of[0], rows, stride)
}

// scanFourVNNI is scanFour as scanAVX2 is scanRows. The products of a question stand blockRows behind those of the one
// before it.
//
//go:noescape
func scanFourVNNI(dots *int32, codes, of *int8, rows, stride int)
