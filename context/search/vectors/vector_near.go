package vectors

import "math"

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

// joinRows is how many rows meet a block together, which stays in the cache of the processor meanwhile.
const joinRows = 64

// join finds up to most rows for each, as scan does, of those whose cosine may be at least least. A row meets the others in
// their order, in that of scan, so that among equals the same ones stay.
func (x *FlatIndex) join(near []nearRows, most int, least float32, wanted func(string) bool, pause func() error) error {
	bars := make([]float32, x.count)          // by row: what a score has to exceed for another row to be kept
	largest := make([]float32, len(x.blocks)) // scale of each
	var scaled float32                        // the largest of all
	for row := range x.count {
		b, i := x.at(row)
		largest[row/blockRows], scaled = max(largest[row/blockRows], b.scales[i]), max(scaled, b.scales[i])
		bars[row] = float32(math.Inf(1))
		if wanted(b.owners[i].id) {
			bars[row] = float32(math.Inf(-1))
		}
	}
	// A code is off by half a scale at most, so a vector is by that times the root of dims.
	off := scaled / 2 * float32(math.Sqrt(float64(x.dims)))
	least -= off*(2+off) + 1e-3
	keep := func(row int, r nearRow) {
		if near[row].keep(r, most); len(near[row]) == most {
			bars[row] = near[row][0].score
		}
	}
	var dots [4][blockRows]int32
	var floors [len(dots)]int32
	for start := 0; start < x.count; start += joinRows {
		for n := start / blockRows; n < len(x.blocks); n++ {
			if err := pause(); err != nil {
				return err
			}
			b, rows := x.blocks[n], min(blockRows, x.count-n*blockRows)
			for row := start; row < min(start+joinRows, x.count); row += len(dots) {
				of, i := x.at(row)
				few := min(len(dots), x.count-row)
				scanFour(&dots, rows, b.codes, of.codes[i*x.stride:][:len(dots)*x.stride])
				for k := range floors {
					floors[k] = math.MaxInt32 // a row that is not there
					if k < few {
						floors[k] = leastDot(least, of.scales[i+k]*largest[n])
					}
				}
				for j := range rows {
					if dots[0][j] < floors[0] && dots[1][j] < floors[1] && dots[2][j] < floors[2] && dots[3][j] < floors[3] {
						continue
					}
					other := n*blockRows + j
					for k := range few {
						row, scale, dot := row+k, of.scales[i+k], float32(dots[k][j])
						score, theirs := dot*b.scales[j], dot*scale
						if score*scale < least || other < row {
							continue
						}
						if score > bars[row] {
							keep(row, nearRow{score, int32(other)})
						}
						if theirs > bars[other] && other != row {
							keep(other, nearRow{theirs, int32(row)})
						}
					}
				}
			}
		}
	}
	return nil
}

// leastDot is at most the product of codes that may be least when it is scaled by scale or less.
func leastDot(least, scale float32) int32 {
	if least <= 0 || scale <= 0 {
		return math.MinInt32
	}
	return int32(min(least/scale*0.999, math.MaxInt32/2)) - 1
}

// keep adds a row unless most are nearer. It is container/heap, without its calls.
func (h *nearRows) keep(r nearRow, most int) {
	list := *h
	if len(list) < most {
		list = append(list, r)
		for i := len(list) - 1; i > 0; {
			up := (i - 1) / 2
			if !list.Less(i, up) {
				break
			}
			list.Swap(i, up)
			i = up
		}
		*h = list
		return
	}
	if r.score <= list[0].score {
		return
	}
	list[0] = r
	for i := 0; ; {
		down := 2*i + 1
		if down >= len(list) {
			return
		}
		if down+1 < len(list) && list.Less(down+1, down) {
			down++
		}
		if !list.Less(down, i) {
			return
		}
		list.Swap(i, down)
		i = down
	}
}
