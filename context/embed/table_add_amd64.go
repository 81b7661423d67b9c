package embed

import "golang.org/x/sys/cpu"

// addStep is how many values addAVX2 takes at once.
const addStep = 16

// addScaled adds scale times each code of a row to dst, which is as long.
func addScaled(dst []float32, row []byte, scale float32) {
	if n := len(row) / addStep * addStep; n > 0 && cpu.X86.HasAVX2 {
		_ = dst[n-1]
		addAVX2(&dst[0], &row[0], scale, n)
		dst, row = dst[n:], row[n:]
	}
	addPlain(dst, row, scale)
}

// addAVX2 is addPlain for the first n values, a multiple of addStep above zero.
//
//go:noescape
func addAVX2(dst *float32, row *byte, scale float32, n int)
