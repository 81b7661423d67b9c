//go:build !amd64 && !arm64

package vectors

// bestTokens is bestPlain.
func bestTokens(best [][tokenGroup]float32, codes []byte, inverse []float32, q *TokenQuestion) {
	bestPlain(best, codes, inverse, q)
}
