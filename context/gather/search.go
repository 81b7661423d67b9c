package gather

import (
	"context"
	"slices"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/notes"
)

// search finds notes for the message, best first: as many as can be needed when
// some of them are shown elsewhere. It runs before the rest, outside the view of
// the store. why says what is missing.
func (g *Gatherer) search(ctx context.Context, r *request) (found []search.Hit, skipped bool, why string) {
	switch {
	case r.SearchNotes == 0:
		return nil, true, ""
	case g.opts.Search == nil:
		return nil, true, "there is no index to search"
	}
	// What would be shown to a local audience decides which private notes are
	// reported as withheld; a remote one gets a list of its own, so that no private note
	// has a say in its order.
	req := search.Request{Query: r.Text, Plain: true, Mode: search.Hybrid, Limit: r.SearchNotes + prompt.MaxPinned + prompt.MaxLinked}
	res, err := g.opts.Search.Search(ctx, req)
	if err != nil {
		return nil, true, fault.Message(err)
	}
	hits := res.Hits
	if r.remote && slices.ContainsFunc(hits, isPrivate) {
		req.Keep = func(n *notes.Note) bool { return !n.Private }
		shown, err := g.opts.Search.Search(ctx, req)
		if err != nil {
			return nil, true, fault.Message(err)
		}
		hits = withheldAmong(shown.Hits, hits)
	}
	return hits, false, res.Degraded
}

// foundBy says how a note was found, for the report.
func foundBy(h search.Hit) string {
	switch h.Found {
	case search.Semantic:
		return "found by search, by its meaning"
	case search.Hybrid:
		return "found by search, by its words and its meaning"
	}
	return "found by search"
}

func isPrivate(h search.Hit) bool { return h.Note.Private }

// withheldAmong puts the private notes of all into shown, at the places that they
// have there.
func withheldAmong(shown, all []search.Hit) (hits []search.Hit) {
	for _, h := range all {
		switch {
		case h.Note.Private:
			hits = append(hits, h)
		case len(shown) > 0:
			hits, shown = append(hits, shown[0]), shown[1:]
		}
	}
	return append(hits, shown...)
}
