package words

import (
	"runtime"
	"slices"
	"sync"
)

// heap are the words of several notes that are new, on their way from the order
// of the notes into that of the terms: a list of postings then grows once for all
// of them.
type heap struct {
	words *glossary
	notes []numbered
	*gathered
}

// numbered is a note that is tokenised, and its number.
type numbered struct {
	doc docID
	*analysis
}

// gathered is what a heap holds of each term. The next heap may use its memory.
type gathered struct {
	flat []occurrence // terms of the index, of one note after the other
	from []uint32     // by note: where in flat it begins; one more for the end
	in   []uint32     // by words of the glossary: how many of the notes have it
	ends []uint32     // by terms of the index: the postings, and in the end where in turned they end
	seen []uint32     // by terms: where in flat the term stands last, plus one
}

// turned are the postings of heaps in the order of the terms.
type turned struct {
	docs, tfs []uint32
	ends      []uint32 // by terms
}

// Both are large and needed for a moment.
var (
	gatherings = sync.Pool{New: func() any { return new(gathered) }}
	turnings   = sync.Pool{New: func() any { return new(turned) }}
)

// zeros returns a list of n zeros, which may be one that there was.
func zeros(list []uint32, n int) []uint32 {
	if cap(list) < n {
		return make([]uint32, n, n+n/4)
	}
	list = list[:n]
	clear(list)
	return list
}

// gather counts what the notes hold of each term, of which the index has so many.
// O(words of the notes and of the glossary, and terms).
func (h *heap) gather(terms int) {
	v := h.words
	h.in, h.ends, h.seen = zeros(h.in, len(v.ids)), zeros(h.ends, terms), zeros(h.seen, terms)
	h.flat, h.from = slices.Grow(h.flat[:0], len(v.found)), h.from[:0]
	for _, n := range h.notes {
		start := uint32(len(h.flat))
		h.from = append(h.from, start)
		for _, o := range n.found() {
			h.in[o.word]++
			t := v.stems[o.word]
			if at := h.seen[t]; at > start {
				h.flat[at-1].weight += o.weight
				continue
			}
			h.flat = append(h.flat, occurrence{t, o.weight})
			h.seen[t] = uint32(len(h.flat))
			h.ends[t]++
		}
	}
	h.from = append(h.from, uint32(len(h.flat)))
}

// scatter puts the postings where ends says that those of their terms begin.
func (h *heap) scatter(into *turned) {
	for i, n := range h.notes {
		for _, o := range h.flat[h.from[i]:h.from[i+1]] {
			at := h.ends[o.word]
			into.docs[at], into.tfs[at] = uint32(n.doc), o.weight
			h.ends[o.word]++
		}
	}
}

// manyNew is how many notes make it worth to enter them on all processors.
const manyNew = 16

// enterAll enters notes that are new, on all processors when there are many. They
// have their numbers. O(words of the notes, and terms).
func (x *inverted) enterAll(heaps []heap) {
	all, n := 0, 1
	for i := range heaps {
		heaps[i].words.enterInto(&x.dictionary)
		all += len(heaps[i].notes)
	}
	if all == 0 {
		return
	}
	if all >= manyNew {
		n = runtime.GOMAXPROCS(0)
	}
	t := turnings.Get().(*turned)
	for i := range heaps {
		heaps[i].gathered = gatherings.Get().(*gathered)
	}
	inParallel(min(n, len(heaps)), func(k, workers int) {
		for i := k; i < len(heaps); i += workers {
			heaps[i].gather(len(x.words))
		}
	})
	for i := range heaps {
		x.announce(&heaps[i])
	}
	x.allot(heaps, t)
	inParallel(min(n, len(heaps)), func(k, workers int) {
		for i := k; i < len(heaps); i += workers {
			heaps[i].scatter(t)
		}
	})
	inParallel(n, func(k, workers int) { x.extendLists(t, len(t.docs)*k/workers, len(t.docs)*(k+1)/workers) })
	turnings.Put(t)
	for i := range heaps {
		gatherings.Put(heaps[i].gathered)
		heaps[i].gathered = nil
	}
}

// announce counts the notes of a heap and their words.
func (x *inverted) announce(h *heap) {
	for _, n := range h.notes {
		x.reach(n.doc)
		x.lengths[n.doc] = lengthCode(n.length)
		x.total += uint64(n.length)
	}
	x.docs += len(h.notes)
	for w, n := range h.in {
		if n > 0 {
			x.words[h.words.ids[w]].docs += n
		}
	}
}

// allot says where the postings of each term begin, heap by heap, and makes the lists
// that are missing.
func (x *inverted) allot(heaps []heap, t *turned) {
	t.ends = zeros(t.ends, len(x.words))
	sum := uint32(0)
	for term := range t.ends {
		begin := sum
		for i := range heaps {
			n := heaps[i].ends[term]
			heaps[i].ends[term] = sum
			sum += n
		}
		t.ends[term] = sum
		if sum > begin {
			x.listFor(wordID(term))
		}
	}
	t.docs, t.tfs = slices.Grow(t.docs[:0], int(sum))[:sum], slices.Grow(t.tfs[:0], int(sum))[:sum]
}

// extendLists enters the postings of the terms that begin in a part of them.
func (x *inverted) extendLists(t *turned, from, to int) {
	w, begin := x.worth, 0
	for term, end := range t.ends {
		if end := int(end); end > begin {
			if from <= begin && begin < to {
				x.lists[x.words[term].list-1].Extend(t.docs[begin:end], t.tfs[begin:end], w)
			}
			begin = end
		}
	}
}

// inParallel runs n workers, which may be none, and waits for them. It panics when one of
// them does.
func inParallel(n int, work func(k, workers int)) {
	if n == 1 {
		work(0, 1)
		return
	}
	var all sync.WaitGroup
	panics := make([]any, n)
	for k := range n {
		all.Go(func() {
			defer func() { panics[k] = recover() }()
			work(k, n)
		})
	}
	all.Wait()
	for _, p := range panics {
		if p != nil {
			panic(p)
		}
	}
}
