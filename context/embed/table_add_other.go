//go:build !amd64

package embed

// addScaled adds scale times each code of a row to dst, which is as long.
func addScaled(dst []float32, row []byte, scale float32) { addPlain(dst, row, scale) }
