//go:build !amd64

package vectors

// scanRows writes the dot product of the question with each row into dots.
func scanRows(dots []int32, codes []int8, q scanQuery) { scanPlain(dots, codes, q) }
