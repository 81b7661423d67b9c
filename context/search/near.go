package search

import (
	"context"

	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/context/search/vectors"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/yield"
)

// Near asks for the documents that are nearest to one that is stored.
type Near struct {
	ID    string
	Limit int // hits at most; less than 1: none
	// Least is the cosine that the nearest part of a hit exceeds, LeastSimilar for
	// documents that have something to do with each other.
	Least    float32
	Keep     func(text.Doc) bool // as in Request
	Public   bool                // as in Request
	Snippets bool
}

// LeastSimilar is how near documents are at least that have something to do with each
// other: with the models at hand, those that have not are up to 0.2 near.
const LeastSimilar = 0.25

// Near returns the documents that mean what one does, nearest first, itself left out. It
// compares vectors that are stored and embeds nothing. While there are none it finds
// documents by the words of that one, and says so: Mode is Lexical and Degraded says why.
func (x *Index) Near(ctx context.Context, near Near) (*Result, error) {
	doc := x.src.Get(near.ID)
	if doc != nil && near.Public {
		doc = x.src.Public(doc)
	}
	if doc == nil {
		kind := x.src.Kind().One
		return nil, fault.New(fault.NotFound, "no %s with id %q", kind, near.ID)
	}
	if near.Keep == nil {
		near.Keep = x.src.Usual
	}
	req := Request{
		Query: doc.Title() + "\n" + doc.Plain(), Plain: true, Limit: near.Limit, Public: near.Public,
		Snippets: near.Snippets, exact: true,
		Keep: func(d text.Doc) bool { return d.ID() != near.ID && near.Keep(d) },
	}
	why := "no embedder is configured"
	if x.vectors != nil {
		hits, asked, missing, err := x.vectors.Near(ctx, near.ID, max(0, near.Limit), near.Least, near.Public,
			vectors.Filter{Keep: req.Keep})
		if err != nil {
			return nil, err
		}
		if asked {
			res := &Result{Mode: Semantic, Hits: semanticHits(hits), Degraded: missing}
			if missing != "" {
				res.Stage = semanticStage
			}
			return res, x.finishNear(ctx, &near, res.Hits)
		}
		why = missing
	}
	res, err := x.searchWords(ctx, req)
	if err == nil && res.Degraded == "" {
		res.Stage, res.Degraded = semanticStage, why
	}
	return res, err
}

// finishNear shows the part of each hit that is nearest.
func (x *Index) finishNear(ctx context.Context, near *Near, hits []Hit) error {
	if !near.Snippets {
		return nil
	}
	m := NewMatcher(x.src, "")
	for i := range hits {
		if err := yield.Point(ctx); err != nil {
			return err
		}
		hits[i].Snippet, hits[i].Ranges = m.Snippet(x.chunkText(&hits[i]))
	}
	return nil
}

// Between returns the cosine of each two documents as wholes, by their places in ids, from vectors that
// are stored: 0 with one that has none, and 1 with itself. ok tells whether the vectors can be asked.
// O(documents² · dimensions).
func (x *Index) Between(ids []string) (cosines [][]float32, ok bool) {
	if x.vectors == nil {
		return nil, false
	}
	return x.vectors.Between(ids)
}
