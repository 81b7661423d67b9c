package words

import "math/bits"

// weightedList are postings and what they weigh.
type weightedList struct {
	List   *postingList
	Weight float64
}

// postingUnion works out what documents count for the best of several postings. The zero value
// works; it keeps its memory between calls, for one goroutine at a time.
type postingUnion struct {
	scores []uint32
	marks  []uint64
}

// Of returns the scores. Postings without a List are none.
func (u *postingUnion) Of(from *scoreParams, all []weightedList) *fixedScores {
	docs := len(from.Lengths)
	if cap(u.scores) < docs {
		u.scores = make([]uint32, docs+docs/8)
	}
	need := docs/64 + 1
	if cap(u.marks) < need {
		u.marks = make([]uint64, need+need/8)
	}
	scores, marks := u.scores[:docs], u.marks[:need]
	var c postingCursor
	for _, p := range all {
		if p.List == nil {
			continue
		}
		c.Reset(from, p.List.Blocks(), p.Weight)
		for i := range c.list {
			c.load(i)
			for j, doc := range c.docs[:c.n] {
				scores[doc] = max(scores[doc], c.score(doc, c.tfs[j]))
				marks[doc/64] |= 1 << (doc % 64)
			}
		}
	}
	return collect(scores, marks)
}

// collect makes scores of documents in order, and leaves both slices empty.
func collect(scores []uint32, marks []uint64) *fixedScores {
	n := 0
	for _, m := range marks {
		n += bits.OnesCount64(m)
	}
	f := &fixedScores{Docs: make([]uint32, 0, n), scores: make([]uint32, 0, n), max: make([]uint32, 0, n/postingBlockSize+1)}
	for i, m := range marks {
		for ; m != 0; m &= m - 1 {
			doc := uint32(i*64 + bits.TrailingZeros64(m))
			if len(f.Docs)%postingBlockSize == 0 {
				f.max = append(f.max, 0)
			}
			most := &f.max[len(f.max)-1]
			*most = max(*most, scores[doc])
			f.Docs, f.scores = append(f.Docs, doc), append(f.scores, scores[doc])
			scores[doc] = 0
		}
		marks[i] = 0
	}
	return f
}
