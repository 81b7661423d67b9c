package vectors

import "golang.org/x/sys/cpu"

// bestTokens is bestPlain.
func bestTokens(best [][tokenGroup]float32, codes []byte, inverse []float32, q *TokenQuestion) {
	if !cpu.X86.HasAVX2 || q.dims != 128 || len(best) == 0 || len(codes) == 0 {
		bestPlain(best, codes, inverse, q)
		return
	}
	groups := len(inverse) / tokenGroup
	_, _, _ = codes[groups*tokenGroup*32-1], q.codes[len(best)*128-1], q.offsets[len(best)-1]
	var room [tokenGroup * 128]byte
	bestAVX2(&best[0][0], &codes[0], &inverse[0], groups, &q.codes[0], &q.offsets[0], len(best), &room[0])
}

// bestAVX2 is bestPlain for tokens of 128 dimensions.
//
//go:noescape
func bestAVX2(best *float32, codes *byte, inverse *float32, groups int, words *int8, offsets *int32, n int, room *byte) //nolint:revive // registers have no structs
