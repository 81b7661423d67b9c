package embed

// addPlain adds scale times each code of a row to dst. The conversion of each product keeps a processor from fusing it with
// the sum: vectors are the same everywhere.
func addPlain(dst []float32, row []byte, scale float32) {
	for len(row) >= 8 && len(dst) >= 8 {
		dst[0] += float32(scale * float32(int8(row[0])))
		dst[1] += float32(scale * float32(int8(row[1])))
		dst[2] += float32(scale * float32(int8(row[2])))
		dst[3] += float32(scale * float32(int8(row[3])))
		dst[4] += float32(scale * float32(int8(row[4])))
		dst[5] += float32(scale * float32(int8(row[5])))
		dst[6] += float32(scale * float32(int8(row[6])))
		dst[7] += float32(scale * float32(int8(row[7])))
		dst, row = dst[8:], row[8:]
	}
	for i, c := range row {
		dst[i] += float32(scale * float32(int8(c)))
	}
}
