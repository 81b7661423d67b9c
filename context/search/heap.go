package search

import (
	"runtime"
	"sync"
)

// heap are the words of several notes that are new, on their way from the order
// of the notes into that of the terms: a list of postings then grows once for all
// of them.
type heap struct {
	words *glossary
	notes []numbered

	ends []uint32 // of the postings of each term of the glossary, in docs and tfs
	docs []uint32
	tfs  []uint32
	in   []uint32 // by words of the glossary: how many of the notes have it
}

// numbered is a note that was taken apart, and its number.
type numbered struct {
	doc docID
	*analysis
}

// turn brings the postings into the order of the terms, which the glossary has
// already. O(words of the notes and of the glossary).
func (h *heap) turn() {
	v := h.words
	h.in, h.ends = make([]uint32, len(v.ids)), make([]uint32, len(v.terms))
	seen := make([]uint32, len(v.terms)) // where in flat the term stands last, plus one
	flat := make([]occurrence, 0, len(v.found))
	from := make([]uint32, 0, len(h.notes)+1)
	for _, n := range h.notes {
		start := uint32(len(flat))
		from = append(from, start)
		for _, o := range n.found() {
			h.in[o.word]++
			t := v.stems[o.word]
			if at := seen[t]; at > start {
				flat[at-1].weight += o.weight
				continue
			}
			flat = append(flat, occurrence{wordID(t), o.weight})
			seen[t] = uint32(len(flat))
			h.ends[t]++
		}
	}
	from = append(from, uint32(len(flat)))
	sum := uint32(0)
	for t, n := range h.ends { // where each begins, and after the loop below where it ends
		h.ends[t] = sum
		sum += n
	}
	h.docs, h.tfs = make([]uint32, len(flat)), make([]uint32, len(flat))
	for i, n := range h.notes {
		for _, o := range flat[from[i]:from[i+1]] {
			at := h.ends[o.word]
			h.docs[at], h.tfs[at] = uint32(n.doc), o.weight
			h.ends[o.word]++
		}
	}
}

// manyNew is how many notes make it worth to enter them on all processors.
const manyNew = 16

// enterAll enters notes that are new, on all processors when there are many. They
// have their numbers. O(words of the notes).
func (x *inverted) enterAll(heaps []heap) {
	all, n := 0, 1
	for i := range heaps {
		heaps[i].words.enterInto(&x.dictionary)
		all += len(heaps[i].notes)
	}
	if all >= manyNew {
		n = runtime.GOMAXPROCS(0)
	}
	inParallel(min(n, len(heaps)), func(k, workers int) {
		for i := k; i < len(heaps); i += workers {
			heaps[i].turn()
		}
	})
	for i := range heaps {
		x.announce(&heaps[i])
	}
	inParallel(n, func(k, workers int) { // each has lists of its own
		for i := range heaps {
			h := &heaps[i]
			from := uint32(0)
			for t, term := range h.words.terms {
				if end := h.ends[t]; end > from {
					if int(term)%workers == k {
						x.lists[x.words[term].list-1].extend(h.docs[from:end], h.tfs[from:end], x.worth)
					}
					from = end
				}
			}
		}
	})
}

// announce does of a heap what can't be done in parallel: it counts the notes and
// makes the lists that are missing.
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
	from := uint32(0)
	for t, term := range h.words.terms {
		if end := h.ends[t]; end > from {
			x.listFor(term)
			from = end
		}
	}
}

// inParallel runs n workers and waits for them. It panics when one of them does.
func inParallel(n int, work func(k, workers int)) {
	if n <= 1 {
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
