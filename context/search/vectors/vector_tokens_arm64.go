package vectors

import (
	"runtime"

	"golang.org/x/sys/cpu"
)

// hasDots: all processors of Apple have the dot product.
var hasDots = runtime.GOOS == "darwin" || cpu.ARM64.HasASIMDDP

// bestTokens is bestPlain.
func bestTokens(best [][tokenGroup]float32, codes []byte, inverse []float32, q *TokenQuestion) {
	if !hasDots || q.dims != 128 || len(best) == 0 {
		bestPlain(best, codes, inverse, q)
		return
	}
	_ = q.codes[len(best)*128-1]
	dots := make([]int32, tokenGroup*len(best))
	var room [tokenGroup * 128]byte
	for t := 0; t < len(inverse); t += tokenGroup {
		_ = codes[(t+tokenGroup)*32-1]
		dotsSDOT(&dots[0], &codes[t*32], &q.codes[0], len(best), &room[0])
		for w := range best {
			for i, by := range inverse[t : t+tokenGroup] {
				best[w][i] = max(best[w][i], float32(dots[w*tokenGroup+i])*by)
			}
		}
	}
}

// dotsSDOT multiplies eight tokens of 128 dimensions with n words.
//
//go:noescape
func dotsSDOT(dots *int32, codes *byte, words *int8, n int, room *byte)
