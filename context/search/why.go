package search

import (
	"context"
	"errors"
	"slices"

	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/fault"
)

// Places of a document in the lists of a search are counted up to these.
const (
	whyHits = 100  // of what is found in the end
	whyList = 1000 // of the list by words and of the list by meaning
)

// Standing is where a document stands in one list of a search.
type Standing struct {
	Place   int     // from 1; 0: not among the first whyList
	Score   float64 // what it has there, also where it is not among them; 0: nothing
	Best    float64 // what the first has
	Missing string  // why there is no such list
}

// Why says where one document stands in a search and what counted for it.
type Why struct {
	Result *Result // of the search itself, with the first of its hits
	Place  int     // of the document in it, from 1; 0: it is not among the first whyHits
	// Hit is the document with what its words and its meaning give; Score is that of Result where it has a place, else 0.
	Hit            Hit
	Words, Meaning Standing
}

// Why searches as Search does and follows one document through it: by words alone, by meaning alone, and in the hits. The
// document meets Keep. It costs five searches.
func (x *Index) Why(ctx context.Context, req Request, id string) (*Why, error) {
	if req.Keep == nil {
		req.Keep = x.src.Usual
	}
	req.Explain, req.Confidence, req.Snippets, req.Limit, req.Mode = true, true, true, whyHits, Hybrid
	res, err := x.Search(ctx, req)
	if err != nil {
		return nil, err
	}
	w := &Why{Result: res, Place: placeOf(res.Hits, id)}
	if err := x.standings(ctx, req, id, w); err != nil {
		return nil, err
	}
	if w.Place > 0 {
		hit := res.Hits[w.Place-1]
		if hit.Lexical == nil {
			hit.Lexical = w.Hit.Lexical
		}
		w.Hit = hit
	}
	res.Hits = res.Hits[:min(1, len(res.Hits))]
	return w, nil
}

// standings fills in the lists, and what the document has where it is in none of them.
func (x *Index) standings(ctx context.Context, req Request, id string, w *Why) error {
	keep := req.Keep
	for _, list := range []struct {
		mode Mode
		to   *Standing
	}{{Lexical, &w.Words}, {Semantic, &w.Meaning}} {
		ask := req
		ask.Mode, ask.Limit, ask.Explain, ask.Snippets, ask.Confidence = list.mode, whyList, false, false, false
		all, err := x.Search(ctx, ask)
		var missing *fault.Error
		if errors.As(err, &missing) && missing.Kind == fault.Unavailable {
			list.to.Missing = missing.Msg
			continue
		}
		if err != nil {
			return err
		}
		if all.Mode != list.mode && all.Degraded != "" {
			list.to.Missing = all.Degraded
			continue
		}
		list.to.Place = placeOf(all.Hits, id)
		if len(all.Hits) > 0 {
			list.to.Best = all.Hits[0].Score
		}
		ask.Keep, ask.Limit, ask.Explain = func(d text.Doc) bool { return d.ID() == id && keep(d) }, 1, true
		alone, err := x.Search(ctx, ask)
		if err != nil {
			return err
		}
		if len(alone.Hits) == 0 {
			continue
		}
		hit := alone.Hits[0]
		list.to.Score = hit.Score
		if w.Hit.Doc == nil {
			w.Hit = hit
			w.Hit.Score = 0
		}
		w.Hit.Semantic = hit.Semantic
	}
	return nil
}

// placeOf is where a document stands among hits, from 1; 0 for nowhere.
func placeOf(hits []Hit, id string) int {
	return 1 + slices.IndexFunc(hits, func(h Hit) bool { return h.Doc.ID() == id })
}
