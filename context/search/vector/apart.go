package vector

import "math"

// Apart returns how near items are to a question by what tells them apart: what all of them have in common,
// the mean of them as wholes, is taken off the question and off each vector. Texts of one subject are all
// about as near to a question of that subject; what remains says which of them is meant. Of each item it
// is the mean of two cosines, as for Search and Whole that of its nearest part and that of it as a whole;
// 0 for one that has no vectors. It is made from the codes. O(parts * dims).
func (x *Index) Apart(question []float32, ids []string) []float32 {
	near := make([]float32, len(ids))
	if !x.usable(question) {
		return near
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	common := x.common(ids)
	asked := make([]float32, x.dims)
	normalise(asked, question)
	subtract(asked, common)
	if !x.usable(asked) {
		return near
	}
	normalise(asked, asked)
	row, whole := make([]float32, x.dims), make([]float32, x.dims)
	for i, id := range ids {
		it := x.items[id]
		if it == nil {
			continue
		}
		best := float32(-1)
		for _, r := range it.rows {
			if r != noRow {
				x.decode(row, int(r))
				best = max(best, cosineLess(asked, row, common))
			}
		}
		if x.unitMean(whole, it) {
			near[i] = (best + cosineLess(asked, whole, common)) / 2
		}
	}
	return near
}

// common is the mean of items as wholes. The caller has the lock.
func (x *Index) common(ids []string) []float32 {
	sum, whole := make([]float32, x.dims), make([]float32, x.dims)
	n := 0
	for _, id := range ids {
		if it := x.items[id]; it != nil && x.unitMean(whole, it) {
			n++
			for d, v := range whole {
				sum[d] += v
			}
		}
	}
	for d := range sum {
		sum[d] /= float32(max(1, n))
	}
	return sum
}

// unitMean makes the mean of the vectors of an item, of length 1. It reports whether there is one. The
// caller has the lock.
func (x *Index) unitMean(mean []float32, it *item) bool {
	x.mean(mean, it)
	if !x.usable(mean) {
		return false
	}
	normalise(mean, mean)
	return true
}

// decode reads a row from its codes. The caller has the lock.
func (x *Index) decode(row []float32, i int) {
	b, j := x.at(i)
	scale := b.scales[j]
	for d, c := range b.codes[j*x.stride:][:x.dims] {
		row[d] = scale * float32(c)
	}
}

func subtract(from, what []float32) {
	for d, v := range what {
		from[d] -= v
	}
}

// cosineLess is the cosine of a vector of length 1 and another one less a third, 0 when nothing is left.
func cosineLess(unit, v, less []float32) float32 {
	var product, square float32
	for d, a := range unit {
		rest := v[d] - less[d]
		product += a * rest
		square += rest * rest
	}
	if square < 1e-12 {
		return 0
	}
	return product / float32(math.Sqrt(float64(square)))
}
