package words

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ctxd/ctxd/context/search/text"
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
	x := newInverted(text.KeepWord)
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
	better := func(a, b rankedDoc) bool { // equals the other way round: no order of numbers helps
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Doc%97, a.Doc%97), cmp.Compare(b.Doc, a.Doc)) < 0
	}
	room := scoreParams{saturationTable: &x.now, Lengths: x.lengths, Slack: 1}
	skipped := 0
	for round := range 150 {
		var e evaluation
		scores := make(map[docID]uint32)
		chosen := rng.Perm(terms)[:1+rng.IntN(6)]
		for _, i := range chosen {
			l := x.listOf(ids[i])
			weight := idf(x.docs, l.Docs()) * (bm25K1 + 1)
			c := new(postingCursor)
			c.Reset(&room, l.Blocks(), weight)
			if round%5 == 0 { // one that was worked out before
				var u postingUnion
				c.ResetFixed(u.Of(&room, []weightedList{{List: l, Weight: weight}}))
			}
			e.Cursors = append(e.Cursors, c)
			for _, b := range l.Blocks() {
				var list, tfs [postingBlockSize + 1]uint32
				for j := range b.Decode(&list, &tfs) {
					scores[docID(list[j])] += uint32(float32(weight*scoreScale) * x.now.Of(tfs[j], x.lengths[list[j]]))
				}
			}
		}
		e.Limit, e.Better = 1+rng.IntN(20), better
		e.Accept = func(d docID) bool { return d%11 != 3 }
		e.Begin()
		must(t, e.Scan(ctx, docs))
		got := e.Best()
		var want []rankedDoc
		for d, s := range scores {
			if e.Accept(d) {
				want = append(want, rankedDoc{Doc: d, Score: s})
			}
		}
		slices.SortFunc(want, func(a, b rankedDoc) int {
			if better(a, b) {
				return -1
			}
			return 1
		})
		want = want[:min(len(want), e.Limit)]
		if !slices.Equal(got, want) {
			t.Fatalf("terms %v, the best %d: %v, want %v", chosen, e.Limit, got, want)
		}
		skipped += len(scores) - e.Looked
	}
	if skipped == 0 {
		t.Error("every document was scored: nothing is saved")
	}
}
