package search

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSRCH3_TheBestAreFoundWithoutReadingAll compares the best of many documents,
// with terms of all frequencies and many equals, with those that reading every
// posting gives.
func TestSRCH3_TheBestAreFoundWithoutReadingAll(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	const docs, terms = 20_000, 10
	rng := rand.New(rand.NewPCG(5, 5))
	x := newInverted(keepWord)
	var ids []wordID
	for i := range terms {
		ids = append(ids, x.enter(fmt.Append(nil, "term", i), fmt.Sprint("term", i)))
	}
	for d := range docs {
		c := contents{length: uint32(20 + rng.IntN(3)*rng.IntN(200))}
		for i, id := range ids {
			if rng.IntN(1+i*i*i) == 0 {
				tf := uint32(1)
				if rng.IntN(500) == 0 {
					tf += uint32(rng.IntN(12))
				}
				c.terms = append(c.terms, posting{id, tf})
			}
		}
		x.docs++
		x.replace(docID(d), contents{}, c)
	}
	x.average()
	better := func(a, b ranked) bool { // equals the other way round: no order of numbers helps
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.doc%97, a.doc%97), cmp.Compare(b.doc, a.doc)) < 0
	}
	skipped := 0
	for round := range 150 {
		var e evaluation
		scores := make(map[docID]uint32)
		chosen := rng.Perm(terms)[:1+rng.IntN(6)]
		for _, i := range chosen {
			l := x.listOf(ids[i])
			weight := x.idf(l.docs()) * (repeated + 1)
			c := new(cursor)
			c.reset(x, l.blocks(), weight)
			if round%5 == 0 { // one that was worked out before
				var r run
				c.resetFixed(x, r.group(x, []wordID{ids[i]}, l, 1, maxExpanded))
			}
			e.cursors = append(e.cursors, c)
			for _, b := range l.blocks() {
				var list, tfs [blockSize + 1]uint32
				for j := range b.decode(&list, &tfs) {
					scores[docID(list[j])] += uint32(float32(weight*scale) * saturation(tfs[j], x.norms[x.lengths[list[j]]]))
				}
			}
		}
		e.limit, e.better = 1+rng.IntN(20), better
		e.accept = func(d docID) bool { return d%11 != 3 }
		got, err := e.run(ctx, docs)
		must(t, err)
		var want []ranked
		for d, s := range scores {
			if e.accept(d) {
				want = append(want, ranked{d, s})
			}
		}
		slices.SortFunc(want, func(a, b ranked) int {
			if better(a, b) {
				return -1
			}
			return 1
		})
		if want = want[:min(len(want), e.limit)]; !slices.Equal(got, want) {
			t.Fatalf("terms %v, the best %d: %v, want %v", chosen, e.limit, got, want)
		}
		skipped += len(scores) - e.looked
	}
	if skipped == 0 {
		t.Error("every document was scored: nothing is saved")
	}
}
