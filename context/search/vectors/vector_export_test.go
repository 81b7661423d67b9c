package vectors

import "bytes"

// SetExact sets up to how many rows a search is exact.
func (x *FlatIndex) SetExact(rows int) { x.exact = rows }

// Scan gives the dot products as the processor's and the plain code see them, and those of the question as one of four.
func Scan(codes []int8, question []float32, rows, stride int) (fast, plain, four []int32) {
	q := newScanQuery(question, stride)
	fast, plain = make([]int32, rows), make([]int32, rows)
	scanRows(fast, codes, q)
	scanPlain(plain, codes, q)
	of := make([]int8, 4*stride)
	for k := range 4 {
		for j, c := range q.codes {
			of[k*stride+(j+k)%stride] = c // each is another one
		}
	}
	var dots, each [4][blockRows]int32
	scanFour(&dots, rows, codes, of)
	scanEach(&each, rows, codes, of)
	if dots != each {
		return fast, plain, nil
	}
	return fast, plain, dots[0][:rows]
}

// Row is what an index knows of a part.
type Row struct {
	Key    TextKey
	Vector []float32 // as the file has it; nil: there is none
	Tokens []byte
}

// Rows returns the parts of an item.
func (x *FlatIndex) Rows(id string) (key TextKey, rows []Row) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	it := x.items[id]
	if it == nil {
		return key, nil
	}
	for _, row := range it.rows {
		var r Row
		if row != noRow {
			b, i := x.at(int(row))
			r = Row{Key: b.keys[i], Vector: x.vector(make([]float32, x.dims), b, i)}
			x.withTokens(int(row), func(tokens []byte) { r.Tokens = bytes.Clone(tokens) })
		}
		rows = append(rows, r)
	}
	return it.key, rows
}

// Unmap has the file read by calls.
func (x *FlatIndex) Unmap() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.file.unmap()
}

// Abandon closes the file as a kill does.
func (x *FlatIndex) Abandon() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	_ = x.file.unmap()
	return x.file.f.Close()
}
