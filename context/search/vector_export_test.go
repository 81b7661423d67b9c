package search

// SetExact sets up to how many rows a search is exact.
func (v *Vectors) SetExact(rows int) { v.exact = rows }

// Scan gives the dot products as the processor's and the plain code see them.
func Scan(codes []int8, question []float32, rows, stride int) (fast, plain []int32) {
	q := newScanQuery(question, stride)
	fast, plain = make([]int32, rows), make([]int32, rows)
	scanRows(fast, codes, q)
	scanPlain(plain, codes, q)
	return fast, plain
}

// CountTokens estimates the tokens of a text.
func CountTokens(text string) int { return countTokens(text) }
