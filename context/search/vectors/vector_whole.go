package vectors

import "math"

// wholeRows is how many parts of an item stand for all of them.
const wholeRows = 256

// Whole returns how near the items as wholes are to a question, for each id the
// cosine of the mean of its vectors, 0 for one that has none. It is made from the
// codes, so that it reads nothing of the file; of an item with more than 256 parts
// every nth counts. O(parts * dims).
func (x *FlatIndex) Whole(question []float32, ids []string) []float32 {
	near := make([]float32, len(ids))
	if !x.usable(question) {
		return near
	}
	unit, mean := make([]float32, x.dims), make([]float32, x.dims)
	normalise(unit, question)
	x.mu.RLock()
	defer x.mu.RUnlock()
	for i, id := range ids {
		if it := x.items[id]; it != nil {
			x.mean(mean, it)
			if l := length(mean); l > 0 && !math.IsInf(l, 0) {
				near[i] = float32(float64(dot(unit, mean)) / l)
			}
		}
	}
	return near
}

// mean adds the vectors of an item up. The caller has the lock.
func (x *FlatIndex) mean(sum []float32, it *item) {
	clear(sum)
	for i := 0; i < len(it.rows); i += (len(it.rows) + wholeRows - 1) / wholeRows {
		if it.rows[i] == noRow {
			continue
		}
		b, j := x.at(int(it.rows[i]))
		codes, scale := b.codes[j*x.stride:][:x.dims], b.scales[j]
		for d, c := range codes {
			sum[d] += scale * float32(c)
		}
	}
}

// Mean returns the mean of the vectors of an item, made from the codes as Whole does; nil
// when it has none.
func (x *FlatIndex) Mean(id string) []float32 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	it := x.items[id]
	if it == nil {
		return nil
	}
	mean := make([]float32, x.dims)
	x.mean(mean, it)
	if !x.usable(mean) {
		return nil
	}
	return mean
}
