package vectors

// scanStep is how many values the scan takes at a time; rows are padded to it
// with zeros.
const scanStep = 64

// scanQuery is a question as the scan wants it.
type scanQuery struct {
	codes     []int8  // of -127 to 127: the products of two such codes, added in pairs, fit int16
	magnitude []uint8 // of each code
}

func newScanQuery(unit []float32, stride int) scanQuery {
	codes := make([]int8, stride)
	quantise(codes, unit)
	return storedQuery(codes)
}

// storedQuery is the question that a row is.
func storedQuery(codes []int8) scanQuery {
	q := scanQuery{codes: codes, magnitude: make([]uint8, len(codes))}
	for i, c := range q.codes {
		q.magnitude[i] = uint8(max(c, -c))
	}
	return q
}

// scanPlain is scanRows in Go.
func scanPlain(dots []int32, codes []int8, q scanQuery) {
	stride := len(q.codes)
	for i := range dots {
		row := codes[i*stride:][:stride]
		var sum int32
		for j, c := range q.codes {
			sum += int32(c) * int32(row[j])
		}
		dots[i] = sum
	}
}

// scanEach is scanFour by scanRows.
func scanEach(dots *[4][blockRows]int32, rows int, codes, of []int8) {
	stride := len(of) / len(dots)
	for k := range dots {
		scanRows(dots[k][:rows], codes, storedQuery(of[k*stride:][:stride]))
	}
}
