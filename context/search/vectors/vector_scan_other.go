//go:build !amd64

package vectors

// scanRows writes the dot product of the question with each row into dots.
func scanRows(dots []int32, codes []int8, q scanQuery) { scanPlain(dots, codes, q) }

// scanFour is scanRows for four questions, rows that stand together in of.
func scanFour(dots *[4][blockRows]int32, rows int, codes, of []int8) { scanEach(dots, rows, codes, of) }
