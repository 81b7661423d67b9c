package gather

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/notes"
)

// search finds notes for the message, best first: as many as can be needed when
// some of them are shown elsewhere. It runs before the rest, outside the view of
// the store. why says what is missing.
func (g *Gatherer) search(ctx context.Context, r *request) (found []*notes.Note, skipped bool, why string) {
	switch {
	case r.SearchNotes == 0:
		return nil, true, ""
	case g.opts.Search == nil:
		return nil, true, "there is no index to search"
	}
	req := search.Request{Query: r.Text, Plain: true, Limit: r.SearchNotes + prompt.MaxPinned + prompt.MaxLinked}
	if r.remote {
		req.Keep = func(n *notes.Note) bool { return !n.Private }
	}
	res, err := g.opts.Search.Search(ctx, req)
	if err != nil {
		return nil, true, fault.Message(err)
	}
	hits := res.Hits
	if r.remote { // what would have been shown to a local one is reported
		req.Keep = func(n *notes.Note) bool { return n.Private }
		withheld, err := g.opts.Search.Search(ctx, req)
		if err != nil {
			return nil, true, fault.Message(err)
		}
		hits = slices.Concat(hits, withheld.Hits)
		slices.SortStableFunc(hits, func(a, b search.Hit) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), entities.CompareNatural(a.Note.Title, b.Note.Title),
				strings.Compare(a.Note.ID, b.Note.ID))
		})
	}
	for _, h := range hits {
		found = append(found, h.Note)
	}
	return found, false, res.Degraded
}
