package document

// A SimilarFinder finds the memories that say much the same as one that is stored, and says in what they differ: an
// index takes "I eat meat" and "I do not eat meat" for alike.
//
// [SimilarFinder.To] compares vectors that are stored and embeds nothing. [SimilarFinder.Like] is for a memory that was
// just written, and searches for its statement. Handlers of rpc call it, with the View of the reader. It keeps nothing,
// and is safe for concurrent use.

import (
	"context"
	"math"
	"slices"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities/record"
)

// SimilarFinder finds similar memories. New makes one.
type SimilarFinder struct {
	mem   *memory.Store
	index *search.Index
}

// NewSimilarFinder returns the Finder of a store of memories and the index of it.
func NewSimilarFinder(mem *memory.Store, index *search.Index) *SimilarFinder {
	return &SimilarFinder{mem, index}
}

// SimilarHit is a memory that says much the same.
type SimilarHit struct {
	Memory  *record.Memory
	Cosine  float64  // how near the nearest part of it is, in hundredths; 0 when it was found by words
	Differs []string // in what the two statements differ, see memory.Differences; never nil
}

// SimilarResult is what was found.
type SimilarResult struct {
	Hits     []SimilarHit // the nearest first
	Degraded string       // why memories may be missing, or were found by words; "" otherwise
}

// To returns the active and contested memories that are most similar to the one with an id, at most
// limit of them, itself left out. While that has no vectors they are found by its words. The error is
// NotFound when the reader sees no such memory.
func (f *SimilarFinder) To(ctx context.Context, v *audience.View, id string, limit int) (*SimilarResult, error) {
	asked, err := f.mem.Get(v, id)
	if err != nil {
		return nil, err
	}
	found, err := f.index.Near(ctx, search.Near{
		ID: asked.ID, Limit: limit, Least: search.LeastSimilar, Public: v.Hides(),
	})
	if err != nil {
		return nil, err
	}
	return f.result(v, asked, found), nil
}

// near is the cosine from which a memory is shown to who writes another one: under it the two have a
// subject in common, and no more.
const near = 0.5

// Like returns the active and contested memories that say much the same as one that was just written,
// which may have no vectors yet: its statement is searched for. Without vectors there are none.
func (f *SimilarFinder) Like(ctx context.Context, v *audience.View, m *record.Memory, limit int) (*SimilarResult, error) {
	found, err := f.index.Search(ctx, search.Request{
		Query: m.Statement, Plain: true, Mode: search.Hybrid, Limit: limit, Public: v.Hides(),
		Keep: Keep(func(other *memory.Record) bool { return other.ID != m.ID && other.Current() }),
	})
	if err != nil {
		return nil, err
	}
	found.Hits = slices.DeleteFunc(found.Hits,
		func(hit search.Hit) bool { return hit.Semantic == nil || hit.Semantic.Part.Cosine < near })
	return f.result(v, m, found), nil
}

// result reads what was found for the reader of a View.
func (f *SimilarFinder) result(v *audience.View, asked *record.Memory, found *search.Result) *SimilarResult {
	res := &SimilarResult{Hits: []SimilarHit{}, Degraded: found.Degraded}
	said := memory.ReadStatement(asked.Statement)
	for i := range found.Hits {
		m, err := f.mem.Get(v, found.Hits[i].Doc.ID())
		if err != nil { // it was deleted meanwhile
			continue
		}
		hit := SimilarHit{Memory: m, Differs: said.In(memory.ReadStatement(m.Statement))}
		if s := found.Hits[i].Semantic; s != nil {
			hit.Cosine = math.Round(100*s.Part.Cosine) / 100
		}
		res.Hits = append(res.Hits, hit)
	}
	return res
}

// Indexed says how a memory that a reader has read can be found: by its words, by its meaning too, or
// by its words alone because the embedder refused it. O(1).
func (f *SimilarFinder) Indexed(id string) string { return string(f.index.State(id)) }

// Queue is how many memories wait for their vectors. A reader from whom some are hidden is told of none. O(1).
func (f *SimilarFinder) Queue(v *audience.View) int {
	if v.Hides() {
		return 0
	}
	return f.index.Waiting()
}
