package words

import (
	"math"
	"sort"
)

// scoreScale makes whole numbers of scores: sums of them come out the same in
// whatever order they are added.
const scoreScale = 1 << 16

// postingCursor reads the postings of one term, forwards only.
type postingCursor struct {
	list    []postingBlock
	weight  float32      // of the term, times Scale
	top     float32      // at least weight, times what blocks are worth too little; see Room
	fixed   *fixedScores // instead of list: what was worked out before
	sat     *saturationTable
	lengths []uint8 // lengths of the documents, as codes

	at    int // block of which docs are
	next  int // first block that is not behind the window
	bound uint32

	here     int    // block that was asked for last; see mostOf
	from, to uint32 // its documents
	worth    uint32 // what it counts at most
	ready    bool   // docs are of block at
	pos      int
	n        int
	docs     [postingBlockSize + 1]uint32
	tfs      [postingBlockSize + 1]uint32
}

// scoreParams is what the scores of postings depend on beside themselves.
type scoreParams struct {
	*saturationTable
	Lengths []uint8 // of the documents, as codes
	// Slack is how many times what a posting is worth may exceed what its block says,
	// which is worked out with another average length; 1 for none.
	Slack float32
}

// fixedScores are scores of documents that were worked out before.
type fixedScores struct {
	Docs   []uint32
	scores []uint32
	max    []uint32 // by blocks of BlockSize
}

// Reset makes a Cursor of postings.
func (c *postingCursor) Reset(from *scoreParams, list []postingBlock, weight float64) {
	c.list, c.fixed, c.weight = list, nil, float32(weight*scoreScale)
	c.top, c.sat, c.lengths = c.weight*from.Slack, from.saturationTable, from.Lengths
	c.Rewind()
}

// Release forgets the postings.
func (c *postingCursor) Release() { c.list, c.fixed, c.sat, c.lengths = nil, nil, nil, nil }

// Fixed returns what the Cursor was reset with, nil for postings.
func (c *postingCursor) Fixed() *fixedScores { return c.fixed }

// Rewind goes back to the first document.
func (c *postingCursor) Rewind() {
	c.at, c.next, c.ready, c.pos, c.n = 0, 0, false, 0, 0
	c.here, c.from, c.to, c.worth = -1, 0, 0, 0
}

// ResetFixed makes a Cursor of scores.
func (c *postingCursor) ResetFixed(f *fixedScores) {
	c.list, c.fixed = nil, f
	c.Rewind()
}

func (c *postingCursor) blocks() int {
	if c.fixed != nil {
		return len(c.fixed.max)
	}
	return len(c.list)
}

func (c *postingCursor) first(i int) uint32 {
	if c.fixed != nil {
		return c.fixed.Docs[i*postingBlockSize]
	}
	return uint32(c.list[i].First)
}

func (c *postingCursor) last(i int) uint32 {
	if c.fixed != nil {
		return c.fixed.Docs[min((i+1)*postingBlockSize, len(c.fixed.Docs))-1]
	}
	return uint32(c.list[i].Last)
}

func (c *postingCursor) most(i int) uint32 {
	if c.fixed != nil {
		return c.fixed.max[i]
	}
	return uint32(c.top*c.list[i].Max) + 1
}

// score is what a posting counts.
func (c *postingCursor) score(doc, tf uint32) uint32 {
	return uint32(c.weight * saturation(tf, c.sat.norms[c.lengths[doc]]))
}

// load decodes a block; scores come in the place of frequencies for fixed ones.
func (c *postingCursor) load(i int) {
	if c.ready && c.at == i {
		return
	}
	c.at, c.ready, c.pos = i, true, 0
	if c.fixed != nil {
		c.n = copy(c.docs[:], c.fixed.Docs[i*postingBlockSize:min((i+1)*postingBlockSize, len(c.fixed.Docs))])
		copy(c.tfs[:], c.fixed.scores[i*postingBlockSize:][:c.n])
		return
	}
	c.n = c.list[i].Decode(&c.docs, &c.tfs)
}

// window gets ready for the documents below to, the first being from, and sets bound to
// what any of them can count at most.
func (c *postingCursor) window(from, to uint32) {
	n := c.blocks()
	for c.next < n && c.last(c.next) < from {
		c.next++
	}
	c.bound = 0
	for i := c.next; i < n && c.first(i) < to; i++ {
		c.bound = max(c.bound, c.most(i))
	}
}

// gather adds what the documents of the window count to sums and marks them, but
// for blocks where none counts as much as need.
func (c *postingCursor) gather(from, to, need uint32, sums *[windowSize]uint32, marks *[windowSize / 64]uint64) {
	n := c.blocks()
	for i := c.next; i < n && c.first(i) < to; i++ {
		if c.most(i) < need {
			continue
		}
		c.load(i)
		docs, tfs := c.docs[:c.n], c.tfs[:c.n]
		j := 0
		if docs[0] < from {
			j = sort.Search(len(docs), func(j int) bool { return docs[j] >= from })
		}
		if c.fixed != nil {
			for ; j < len(docs) && docs[j] < to; j++ {
				at := (docs[j] - from) & (windowSize - 1)
				sums[at] += tfs[j]
				marks[at/64] |= 1 << (at % 64)
			}
			continue
		}
		sat, lengths, weight := c.sat, c.lengths, c.weight
		for ; j < len(docs) && docs[j] < to; j++ {
			at := (docs[j] - from) & (windowSize - 1)
			code, tf := lengths[docs[j]], tfs[j]
			if tf < knownTF {
				sums[at] += uint32(weight * sat.known[tf][code])
			} else {
				sums[at] += uint32(weight * saturation(tf, sat.norms[code]))
			}
			marks[at/64] |= 1 << (at % 64)
		}
	}
}

// mostOf returns what a document counts at most: what its block does, 0 when it
// is in none. Documents must be asked for in order.
func (c *postingCursor) mostOf(doc uint32) uint32 {
	if doc >= c.to {
		c.goTo(doc)
	}
	if doc < c.from {
		return 0
	}
	return c.worth
}

// goTo goes to the first block that does not end before a document.
func (c *postingCursor) goTo(doc uint32) {
	i, n := max(c.here, c.next), c.blocks()
	for i < n && c.last(i) < doc {
		i++
	}
	c.here = i
	if i == n {
		c.from, c.to = math.MaxUint32, math.MaxUint32
		return
	}
	c.from, c.to, c.worth = c.first(i), c.last(i)+1, c.most(i)
}

// Of returns what a document counts, 0 when it has not the term, for documents in
// order.
func (c *postingCursor) Of(doc uint32) uint32 {
	switch {
	case !c.Has(doc):
		return 0
	case c.fixed != nil:
		return c.tfs[c.pos]
	}
	return c.score(doc, c.tfs[c.pos])
}

// Has reports whether a document has the term, for documents in order.
func (c *postingCursor) Has(doc uint32) bool { return c.mostOf(doc) > 0 && c.holds(doc) }

// holds is has for a document of the block that mostOf went to.
func (c *postingCursor) holds(doc uint32) bool {
	c.load(c.here)
	docs, at := &c.docs, c.pos
	for at < c.n && docs[at] < doc {
		at++
	}
	c.pos = at
	return at < c.n && docs[at] == doc
}
