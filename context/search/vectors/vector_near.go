package vectors

import (
	"container/heap"
	"math"
)

// Neighbours gives the k items nearest to each item that is wanted, itself among them, as Search does for its vector,
// without those whose cosine is under least. pause is called between blocks of rows and ends it with its error; no change
// is made meanwhile.
//
// Where every item has one vector, each two rows are compared once, so that it costs less than half of as many searches.
// It holds up to 2*k rows for each that is wanted, of which the first half of k are exactly those of Search.
func (x *FlatIndex) Neighbours(k int, least float32, wanted func(id string) bool, pause func() error, visit func(id string, hits []FlatHit)) error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	near := make([]nearRows, x.count)
	joined := x.count > x.exact && x.count == len(x.items)
	if joined {
		if err := x.join(near, max(candidates, 2*k), least, wanted, pause); err != nil {
			return err
		}
	}
	var rows []int
	buf := make([]float32, x.dims)
	for row := range x.count {
		b, i := x.at(row)
		if !wanted(b.owners[i].id) || b.parts[i] != 0 {
			continue
		}
		if row%blockRows == 0 || !joined {
			if err := pause(); err != nil {
				return err
			}
		}
		unit := x.vector(buf, b, i)
		var hits []FlatHit
		if joined {
			rows = rows[:0]
			for _, n := range near[row] {
				rows = append(rows, int(n.row))
			}
			near[row] = nil
			hits = x.rank(unit, rows, k)
		} else {
			hits = x.search(unit, k, nil)
		}
		for len(hits) > 0 && hits[len(hits)-1].Score < least {
			hits = hits[:len(hits)-1]
		}
		visit(b.owners[i].id, hits)
	}
	return nil
}

// join finds up to most rows for each, as scan does, of those whose cosine may be at least least. A row meets the others in
// their order, in that of scan, so that among equals the same ones stay.
func (x *FlatIndex) join(near []nearRows, most int, least float32, wanted func(string) bool, pause func() error) error {
	var scaled float32 // the largest
	wants := make([]bool, x.count)
	for row := range x.count {
		b, i := x.at(row)
		scaled, wants[row] = max(scaled, b.scales[i]), wanted(b.owners[i].id)
	}
	// A code is off by half a scale at most, so a vector is by that times the root of dims.
	off := scaled / 2 * float32(math.Sqrt(float64(x.dims)))
	least -= off*(2+off) + 1e-3
	var dots [blockRows]int32
	for row := range x.count {
		if row%64 == 0 {
			if err := pause(); err != nil {
				return err
			}
		}
		from, i := x.at(row)
		q := storedQuery(from.codes[i*x.stride:][:x.stride])
		first := row / blockRows
		for n := first; n < len(x.blocks); n++ {
			b, at, rows := x.blocks[n], 0, min(blockRows, x.count-n*blockRows)
			if n == first {
				at = i
			}
			scanRows(dots[:rows-at], b.codes[at*x.stride:], q)
			for j, d := range dots[:rows-at] {
				other := n*blockRows + at + j
				score := float32(d) * b.scales[at+j]
				if score*from.scales[i] < least {
					continue
				}
				if wants[row] {
					near[row].keep(nearRow{score, int32(other)}, most)
				}
				if wants[other] && other != row {
					near[other].keep(nearRow{float32(d) * from.scales[i], int32(row)}, most)
				}
			}
		}
	}
	return nil
}

// keep adds a row unless most are nearer.
func (h *nearRows) keep(r nearRow, most int) {
	switch {
	case len(*h) < most:
		heap.Push(h, r)
	case r.score > (*h)[0].score:
		(*h)[0] = r
		heap.Fix(h, 0)
	}
}
