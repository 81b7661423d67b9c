package vectors

import "math"

// Apart returns how near items are to a question by what tells them apart: what all of them have in common,
// the mean of them as wholes, is taken off the question and off each vector. Texts of one subject are all
// about as near to a question of that subject; what remains says which of them is meant. Of each item it
// is the mean of two cosines, as for Search and Whole that of its nearest part and that of it as a whole;
// 0 for one that has no vectors. It is made from the codes. O(parts * dims).
func (x *FlatIndex) Apart(question []float32, ids []string) []float32 {
	near := make([]float32, len(ids))
	if !x.usable(question) {
		return near
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	wholes, common := x.wholes(ids)
	asked := make([]float32, x.dims)
	normalise(asked, question)
	for d, v := range common {
		asked[d] -= v
	}
	if !x.usable(asked) {
		return near
	}
	normalise(asked, asked)
	in := remainder{asked: asked, common: common, askedCommon: dot(asked, common), square: dot(common, common)}
	for i, id := range ids {
		if wholes[i] == nil {
			continue
		}
		best := float32(-1)
		for _, r := range x.items[id].rows {
			if r != noRow {
				b, j := x.at(int(r))
				best = max(best, in.code(b.codes[j*x.stride:][:x.dims], b.scales[j]))
			}
		}
		near[i] = (best + in.cosine(dot(asked, wholes[i]), dot(common, wholes[i]))) / 2
	}
	return near
}

// wholes returns the mean of the vectors of each item, of length 1, nil for one that has none, and the mean
// of those. The caller has the lock.
func (x *FlatIndex) wholes(ids []string) (list [][]float32, common []float32) {
	list, common = make([][]float32, len(ids)), make([]float32, x.dims)
	all := make([]float32, len(ids)*x.dims)
	n := 0
	for i, id := range ids {
		it := x.items[id]
		if it == nil {
			continue
		}
		whole := all[i*x.dims:][:x.dims]
		x.mean(whole, it)
		if !x.usable(whole) {
			continue
		}
		normalise(whole, whole)
		list[i] = whole
		n++
		for d, v := range whole {
			common[d] += v
		}
	}
	for d := range common {
		common[d] /= float32(max(1, n))
	}
	return list, common
}

// remainder compares a question with vectors of length 1, all less what they have in common.
type remainder struct {
	asked       []float32 // the question less common, of length 1
	common      []float32
	askedCommon float32 // product of the two
	square      float32 // of common
}

// cosine is that of the question and a vector, by the products of the vector with both.
func (r *remainder) cosine(withAsked, withCommon float32) float32 {
	square := 1 - 2*withCommon + r.square // of what remains of the vector
	if square < 1e-6 {
		return 0
	}
	return (withAsked - r.askedCommon) / float32(math.Sqrt(float64(square)))
}

// code is cosine for a vector that is given by its codes.
func (r *remainder) code(codes []int8, scale float32) float32 {
	var a0, a1, c0, c1 float32
	asked, common := r.asked[:len(codes)], r.common[:len(codes)]
	i := 0
	for ; i+2 <= len(codes); i += 2 {
		x, y := float32(codes[i]), float32(codes[i+1])
		a0 += x * asked[i]
		a1 += y * asked[i+1]
		c0 += x * common[i]
		c1 += y * common[i+1]
	}
	for ; i < len(codes); i++ {
		x := float32(codes[i])
		a0 += x * asked[i]
		c0 += x * common[i]
	}
	return r.cosine(scale*(a0+a1), scale*(c0+c1))
}
