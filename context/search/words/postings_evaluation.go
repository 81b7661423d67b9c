package words

import (
	"context"
	"math/bits"
	"slices"
)

// windowSize is for how many documents scores are added up at a time. The first
// windows are smaller: what they find tells the others what is not worth it.
const windowSize = 4096

// rankedDoc is a document and its score.
type rankedDoc struct {
	Doc   docID
	Score uint32
}

// evaluation finds the best documents of a query. The terms of a window that
// together can't lift a document among the best so far are not read: they are
// asked only for documents that the others have found (MaxScore, Turtle and
// Flood 1995, with bounds by blocks as in Ding and Suel 2011).
type evaluation struct {
	Cursors []*postingCursor // of one layer
	Base    docID            // of its documents
	Hidden  []uint64         // documents of the layer that do not exist, as bits
	Accept  func(docID) bool
	Better  func(a, b rankedDoc) bool // a total order: by score first
	Limit   int

	heap  []rankedDoc // the worst of the best first
	sums  [windowSize]uint32
	marks [windowSize / 64]uint64
	order []*postingCursor
	rest  []uint32 // bounds of order[:i] together

	Looked int  // documents that were scored
	All    bool // documents without a term as well
	Stop   bool // set by accept: there is no use in going on
}

// Begin forgets what was found.
func (e *evaluation) Begin() { e.heap, e.Looked, e.Stop = e.heap[:0], 0, false }

// Scan looks at the documents of one layer, of which there are so many.
func (e *evaluation) Scan(ctx context.Context, docs int) error {
	e.order = append(e.order[:0], e.Cursors...)
	size := uint32(256)
	for from := uint32(0); from < uint32(docs) && e.Limit > 0; from += size {
		if from > 0 && size < windowSize {
			size *= 4
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if e.All {
			for doc := from; doc < min(from+size, uint32(docs)); doc++ {
				if !e.hides(doc) {
					e.look(doc, 0, 0)
				}
			}
			continue
		}
		e.window(from, from+size)
		if e.Stop {
			break
		}
	}
	return nil
}

// Best returns the best documents, best first.
func (e *evaluation) Best() []rankedDoc {
	slices.SortFunc(e.heap, func(a, b rankedDoc) int {
		if e.Better(a, b) {
			return -1
		}
		return 1
	})
	return e.heap
}

// least is the score that a document needs at least.
func (e *evaluation) least() uint32 {
	if len(e.heap) < e.Limit {
		return 0
	}
	return e.heap[0].Score
}

func (e *evaluation) window(from, to uint32) {
	total := uint32(0)
	for _, c := range e.order {
		c.window(from, to)
		total += c.bound
	}
	least := e.least()
	if total == 0 || total < least {
		return
	}
	slices.SortStableFunc(e.order, func(a, b *postingCursor) int { return int(a.bound) - int(b.bound) })
	e.rest = e.rest[:0]
	idle, sum := 0, uint32(0)
	for i, c := range e.order {
		sum += c.bound
		e.rest = append(e.rest, sum)
		if sum < least {
			idle = i + 1
		}
	}
	for _, c := range e.order[idle:] {
		if c.bound > 0 {
			// Whatever the other terms add, the documents of a block that counts less
			// than this are none of the best, and what others gave them is no matter.
			need := uint32(0)
			if others := total - c.bound; least > others {
				need = least - others
			}
			c.gather(from, to, need, &e.sums, &e.marks)
		}
	}
	e.hide(from, to)
	cut := e.cut(idle)
	for i := range e.marks[:(to-from)/64] {
		for m := e.marks[i]; m != 0; m &= m - 1 {
			at := uint32(i*64 + bits.TrailingZeros64(m))
			score := e.sums[at]
			e.sums[at] = 0
			if score >= cut {
				e.look(from+at, score, idle)
				cut = e.cut(idle)
			}
		}
		e.marks[i] = 0
	}
}

// hides reports whether a document does not exist.
func (e *evaluation) hides(doc uint32) bool {
	return int(doc/64) < len(e.Hidden) && e.Hidden[doc/64]>>(doc%64)&1 == 1
}

// hide removes the marks and the sums of the hidden documents of a window. from and to are
// multiples of 64.
func (e *evaluation) hide(from, to uint32) {
	first := min(int(from/64), len(e.Hidden))
	last := min(int(to/64), len(e.Hidden))
	for i, hidden := range e.Hidden[first:last] {
		found := e.marks[i] & hidden
		e.marks[i] &^= found
		for ; found != 0; found &= found - 1 {
			e.sums[i*64+bits.TrailingZeros64(found)] = 0
		}
	}
}

// cut is the score that a document needs from the terms that are not idle.
func (e *evaluation) cut(idle int) uint32 {
	least := e.least()
	switch {
	case idle == 0:
		return least
	case least > e.rest[idle-1]:
		return least - e.rest[idle-1]
	}
	return 0
}

// look adds to the score of a document what the idle terms give, and takes it
// among the best if it belongs there.
func (e *evaluation) look(doc, score uint32, idle int) {
	e.Looked++
	least := e.least()
	for i := idle - 1; i >= 0; i-- {
		if score+e.rest[i] < least {
			return
		}
		below := uint32(0)
		if i > 0 {
			below = e.rest[i-1]
		}
		// What a block counts at most is less than what the window does.
		c := e.order[i]
		if most := c.mostOf(doc); most > 0 && score+most+below >= least {
			score += c.Of(doc)
		}
	}
	if score < least {
		return
	}
	r := rankedDoc{docID(doc) | e.Base, score}
	if len(e.heap) == e.Limit {
		if !e.Better(r, e.heap[0]) || !e.Accept(r.Doc) {
			return
		}
		e.heap[0] = r
		e.sink(0)
		return
	}
	if e.Accept(r.Doc) {
		e.push(r)
	}
}

func (e *evaluation) push(r rankedDoc) {
	e.heap = append(e.heap, r)
	for i := len(e.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !e.Better(e.heap[up], e.heap[i]) {
			return
		}
		e.heap[up], e.heap[i] = e.heap[i], e.heap[up]
		i = up
	}
}

func (e *evaluation) sink(i int) {
	for {
		worst := i
		for _, child := range [...]int{2*i + 1, 2*i + 2} {
			if child < len(e.heap) && e.Better(e.heap[worst], e.heap[child]) {
				worst = child
			}
		}
		if worst == i {
			return
		}
		e.heap[worst], e.heap[i] = e.heap[i], e.heap[worst]
		i = worst
	}
}
