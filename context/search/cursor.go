package search

import (
	"math"
	"sort"
)

// scale makes whole numbers of scores: sums of them come out the same in
// whatever order they are added.
const scale = 1 << 16

// cursor reads the postings of one term, forwards only.
type cursor struct {
	list   []block
	weight float32 // of the term, times scale
	fixed  *fixed  // instead of list: what was worked out before
	x      *inverted

	at    int // block of which docs are
	next  int // first block that is not behind the window
	bound uint32

	here     int    // block that was asked for last; see mostOf
	from, to uint32 // its documents
	worth    uint32 // what it counts at most
	ready    bool   // docs are of block at
	pos      int
	n        int
	docs     [blockSize + 1]uint32
	tfs      [blockSize + 1]uint32
}

// fixed are scores of documents that were worked out before.
type fixed struct {
	docs, scores []uint32
	max          []uint32 // by blocks of blockSize
}

// reset makes a cursor of postings.
func (c *cursor) reset(x *inverted, l []block, weight float64) {
	c.x, c.list, c.fixed, c.weight = x, l, nil, float32(weight*scale)
	c.rewind()
}

// rewind goes back to the first document.
func (c *cursor) rewind() {
	c.at, c.next, c.ready, c.pos, c.n = 0, 0, false, 0, 0
	c.here, c.from, c.to, c.worth = -1, 0, 0, 0
}

// resetFixed makes a cursor of scores.
func (c *cursor) resetFixed(x *inverted, f *fixed) {
	c.reset(x, nil, 0)
	c.fixed = f
}

func (c *cursor) blocks() int {
	if c.fixed != nil {
		return len(c.fixed.max)
	}
	return len(c.list)
}

func (c *cursor) first(i int) uint32 {
	if c.fixed != nil {
		return c.fixed.docs[i*blockSize]
	}
	return uint32(c.list[i].first)
}

func (c *cursor) last(i int) uint32 {
	if c.fixed != nil {
		return c.fixed.docs[min((i+1)*blockSize, len(c.fixed.docs))-1]
	}
	return uint32(c.list[i].last)
}

func (c *cursor) most(i int) uint32 {
	if c.fixed != nil {
		return c.fixed.max[i]
	}
	return uint32(c.weight*c.list[i].max) + 1
}

// score is what a posting counts.
func (c *cursor) score(doc, tf uint32) uint32 {
	return uint32(c.weight * saturation(tf, c.x.norms[c.x.lengths[doc]]))
}

// load decodes a block; scores come in the place of frequencies for fixed ones.
func (c *cursor) load(i int) {
	if c.ready && c.at == i {
		return
	}
	c.at, c.ready, c.pos = i, true, 0
	if c.fixed != nil {
		c.n = copy(c.docs[:], c.fixed.docs[i*blockSize:min((i+1)*blockSize, len(c.fixed.docs))])
		copy(c.tfs[:], c.fixed.scores[i*blockSize:][:c.n])
		return
	}
	c.n = c.list[i].decode(&c.docs, &c.tfs)
}

// window gets ready for the documents below to, the first being from, and sets bound to
// what any of them can count at most.
func (c *cursor) window(from, to uint32) {
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
func (c *cursor) gather(from, to, need uint32, sums *[windowSize]uint32, marks *[windowSize / 64]uint64) {
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
		x, lengths, weight := c.x, c.x.lengths, c.weight
		for ; j < len(docs) && docs[j] < to; j++ {
			at := (docs[j] - from) & (windowSize - 1)
			code, tf := lengths[docs[j]], tfs[j]
			if tf < knownTF {
				sums[at] += uint32(weight * x.known[tf][code])
			} else {
				sums[at] += uint32(weight * saturation(tf, x.norms[code]))
			}
			marks[at/64] |= 1 << (at % 64)
		}
	}
}

// mostOf returns what a document counts at most: what its block does, 0 when it
// is in none. Documents must be asked for in order.
func (c *cursor) mostOf(doc uint32) uint32 {
	if doc >= c.to {
		c.goTo(doc)
	}
	if doc < c.from {
		return 0
	}
	return c.worth
}

// goTo goes to the first block that does not end before a document.
func (c *cursor) goTo(doc uint32) {
	i, n := max(c.here, c.next), c.blocks()
	for i < n && c.last(i) < doc {
		i++
	}
	if c.here = i; i == n {
		c.from, c.to = math.MaxUint32, math.MaxUint32
		return
	}
	c.from, c.to, c.worth = c.first(i), c.last(i)+1, c.most(i)
}

// of returns what a document counts, 0 when it has not the term, for documents in
// order.
func (c *cursor) of(doc uint32) uint32 {
	switch {
	case !c.has(doc):
		return 0
	case c.fixed != nil:
		return c.tfs[c.pos]
	}
	return c.score(doc, c.tfs[c.pos])
}

// has reports whether a document has the term, for documents in order.
func (c *cursor) has(doc uint32) bool { return c.mostOf(doc) > 0 && c.holds(doc) }

// holds is has for a document of the block that mostOf went to.
func (c *cursor) holds(doc uint32) bool {
	c.load(c.here)
	docs, at := &c.docs, c.pos
	for at < c.n && docs[at] < doc {
		at++
	}
	c.pos = at
	return at < c.n && docs[at] == doc
}
