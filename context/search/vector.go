package search

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/ctxd/ctxd/entities/fault"
)

const (
	// exactRows is up to how many rows a search compares every vector in
	// float32; above it int8 chooses the candidates.
	exactRows = 1024
	// candidates is how many rows int8 chooses at least; float32 ranks them.
	candidates = 50
	// blockRows is how many rows are kept, and scanned, together.
	blockRows = 1024
)

// Vectors is a flat index of the vectors of notes, one vector a chunk. Each
// search looks at every row, so that its result is exact but for the rounding
// of int8, and a change is seen by the next search. It costs dims+4 bytes a row
// for the scan and 4*dims for the exact vectors.
//
// All methods may be called concurrently; a change waits for running searches.
type Vectors struct {
	dims   int
	stride int // dims, padded so that the scan takes whole steps

	rowsMu sync.RWMutex // guards what follows
	exact  int          // exactRows, but in tests
	blocks []*vectorBlock
	count  int // rows in all: all blocks but the last are full
	notes  map[string][]int
}

// vectorBlock is up to blockRows rows, in columns.
type vectorBlock struct {
	codes  []int8    // blockRows * stride
	scales []float32 // a value is scale times code
	floats []float32 // blockRows * dims
	notes  []string
	chunks []int32
}

// VectorHit is the chunk of a note that is nearest to a question.
type VectorHit struct {
	Note  string
	Chunk int     // its place among the vectors that Put was given
	Score float32 // cosine, from -1 to 1
}

// NewVectors makes an empty index for vectors of dims values.
func NewVectors(dims int) *Vectors {
	return &Vectors{dims: dims, stride: (dims + scanStep - 1) / scanStep * scanStep, exact: exactRows, notes: map[string][]int{}}
}

// Len is the number of vectors.
func (v *Vectors) Len() int {
	v.rowsMu.RLock()
	defer v.rowsMu.RUnlock()
	return v.count
}

// Put makes the vectors the only ones of a note; nil ones, of chunks without
// anything to embed, are left out. They are copied, and need not have length 1.
func (v *Vectors) Put(note string, vectors [][]float32) error {
	for i, x := range vectors {
		if x != nil && !v.usable(x) {
			return &fault.Error{
				Kind: fault.Invalid, Op: "search.vectors", Ref: note,
				Msg: fmt.Sprintf("vector %d is not %d finite numbers, or all zero", i, v.dims),
			}
		}
	}
	v.rowsMu.Lock()
	defer v.rowsMu.Unlock()
	v.remove(note)
	for i, x := range vectors {
		if x != nil {
			v.append(note, i, x)
		}
	}
	return nil
}

// Delete takes a note out. No later search finds it.
func (v *Vectors) Delete(note string) {
	v.rowsMu.Lock()
	defer v.rowsMu.Unlock()
	v.remove(note)
}

// usable refuses what has no direction: it would win or spoil every search.
func (v *Vectors) usable(x []float32) bool {
	l := length(x)
	return len(x) == v.dims && l > 0 && !math.IsInf(l, 0) && !math.IsNaN(l)
}

func length(x []float32) float64 {
	var squares float64
	for _, f := range x {
		squares += float64(f) * float64(f)
	}
	return math.Sqrt(squares)
}

// normalise writes x at length 1. It divides in float64: the inverse of a tiny
// length does not fit float32.
func normalise(unit, x []float32) {
	l := length(x)
	for i, f := range x {
		unit[i] = float32(float64(f) / l)
	}
}

func (v *Vectors) append(note string, chunk int, x []float32) {
	if v.count == len(v.blocks)*blockRows {
		v.blocks = append(v.blocks, &vectorBlock{
			codes: make([]int8, blockRows*v.stride), scales: make([]float32, blockRows),
			floats: make([]float32, blockRows*v.dims), notes: make([]string, blockRows), chunks: make([]int32, blockRows),
		})
	}
	b, i := v.at(v.count)
	row := b.floats[i*v.dims:][:v.dims]
	normalise(row, x)
	b.scales[i] = quantise(b.codes[i*v.stride:][:v.stride], row)
	b.notes[i], b.chunks[i] = note, int32(chunk)
	v.notes[note] = append(v.notes[note], v.count)
	v.count++
}

func (v *Vectors) at(row int) (*vectorBlock, int) { return v.blocks[row/blockRows], row % blockRows }

// remove puts the last row in the place of each row of the note, so that no
// gap is ever scanned.
func (v *Vectors) remove(note string) {
	rows := v.notes[note]
	delete(v.notes, note)
	slices.Sort(rows)
	for _, row := range slices.Backward(rows) { // from the last, which may be one of them
		v.count--
		from, i := v.at(v.count)
		if row != v.count {
			to, j := v.at(row)
			copy(to.codes[j*v.stride:][:v.stride], from.codes[i*v.stride:])
			copy(to.floats[j*v.dims:][:v.dims], from.floats[i*v.dims:])
			to.scales[j], to.notes[j], to.chunks[j] = from.scales[i], from.notes[i], from.chunks[i]
			moved := v.notes[from.notes[i]]
			moved[slices.Index(moved, v.count)] = row
		}
		from.notes[i] = ""
		if i == 0 {
			v.blocks = v.blocks[:len(v.blocks)-1]
		}
	}
}

// quantise writes row as int8 and gives the scale that leads back.
func quantise(codes []int8, row []float32) (scale float32) {
	var most float32
	for _, f := range row {
		most = max(most, f, -f)
	}
	for i, f := range row {
		codes[i] = int8(math.RoundToEven(float64(f / most * 127)))
	}
	return most / 127
}

// Search gives the k notes nearest to the question, each with its best chunk,
// best first, ties by note. allowed, if not nil, says which notes count; the
// others take no place from them. It must not call the index.
//
// Time grows with the number of vectors: some 2 ms for 100,000 of 384 values on
// amd64 with AVX2.
func (v *Vectors) Search(question []float32, k int, allowed func(note string) bool) []VectorHit {
	if k <= 0 || !v.usable(question) {
		return nil
	}
	unit := make([]float32, v.dims)
	normalise(unit, question)
	if allowed == nil {
		allowed = func(string) bool { return true }
	}
	v.rowsMu.RLock()
	defer v.rowsMu.RUnlock()
	if v.count <= v.exact {
		rows := make([]int, 0, v.count)
		for row := range v.count {
			if b, i := v.at(row); allowed(b.notes[i]) {
				rows = append(rows, row)
			}
		}
		return v.rank(unit, rows, k)
	}
	// Several chunks of one note may fill the list: then it has to be longer.
	for most := max(candidates, 4*k); ; most *= 4 {
		rows := v.scan(unit, most, allowed)
		hits := v.rank(unit, rows, k)
		if len(hits) == k || len(rows) < most {
			return hits
		}
	}
}

// rank orders rows by their exact cosine and keeps the best of each note.
func (v *Vectors) rank(unit []float32, rows []int, k int) []VectorHit {
	best := make(map[string]VectorHit, len(rows))
	for _, row := range rows {
		b, i := v.at(row)
		h := VectorHit{Note: b.notes[i], Chunk: int(b.chunks[i]), Score: dot(unit, b.floats[i*v.dims:][:v.dims])}
		if old, ok := best[h.Note]; !ok || h.Score > old.Score || h.Score == old.Score && h.Chunk < old.Chunk {
			best[h.Note] = h
		}
	}
	hits := make([]VectorHit, 0, len(best))
	for _, h := range best {
		hits = append(hits, h)
	}
	slices.SortFunc(hits, func(a, b VectorHit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Note, b.Note))
	})
	return hits[:min(k, len(hits))]
}

func dot(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}

// scan gives up to most rows of allowed notes that are nearest by int8, in no
// order. allowed is asked only about rows that would be among them, which
// finds the same as asking first.
func (v *Vectors) scan(unit []float32, most int, allowed func(string) bool) []int {
	q := newScanQuery(unit, v.stride)
	found := make(nearRows, 0, most)
	var dots [blockRows]int32
	for n, b := range v.blocks {
		rows := min(blockRows, v.count-n*blockRows)
		scanRows(dots[:rows], b.codes, q)
		for i, d := range dots[:rows] {
			score := float32(d) * b.scales[i]
			switch {
			case len(found) == most && score <= found[0].score, !allowed(b.notes[i]):
			case len(found) < most:
				heap.Push(&found, nearRow{score, n*blockRows + i})
			default:
				found[0] = nearRow{score, n*blockRows + i}
				heap.Fix(&found, 0)
			}
		}
	}
	rows := make([]int, len(found))
	for i, f := range found {
		rows[i] = f.row
	}
	return rows
}

type nearRow struct {
	score float32 // cosine by int8, but for a factor common to all
	row   int
}

// nearRows is a heap with the farthest row on top.
type nearRows []nearRow

func (h nearRows) Len() int           { return len(h) }
func (h nearRows) Less(i, j int) bool { return h[i].score < h[j].score }
func (h nearRows) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *nearRows) Push(x any)        { *h = append(*h, x.(nearRow)) }
func (h *nearRows) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}
