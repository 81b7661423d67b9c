package gather

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities/fault"
)

// searching is the context of a search, what says that it ended since it took too long, and how long it may wait for the vector of
// its question: half of the time that is left, so that others find something too.
func (r *request) searching(ctx context.Context) (in context.Context, end context.CancelFunc, wait time.Duration) {
	if r.limit == 0 {
		return ctx, func() {}, 0
	}
	in, end = context.WithDeadline(ctx, r.until)
	return in, end, time.Until(r.until) / 2
}

// tookLonger is why a search has no part in the prompt that ended with its time; "" where something else ended it.
func (r *request) tookLonger(err error) string {
	if r.limit == 0 || !errors.Is(err, context.DeadlineExceeded) {
		return ""
	}
	return prompt.TookLonger + r.limit.String()
}

// search finds notes for the message, best first: as many as can be needed when
// some of them are shown elsewhere. query is the message without what it refers to. It
// runs outside the view of the store. The stage says what is missing.
func (g *Gatherer) search(ctx context.Context, r *request, m *mentions) (found []search.Hit, st prompt.Stage) {
	query := m.query
	skip := func(why string) ([]search.Hit, prompt.Stage) { return nil, prompt.Stage{Skipped: true, Why: why} }
	switch {
	case r.SearchNotes == 0:
		return skip("")
	case !r.view.CanSearch():
		return skip("there is no index to search")
	case search.AsksNothing(query):
		return skip("the message asks nothing")
	}
	ctx, end, wait := r.searching(ctx)
	defer end()
	req := search.Request{
		Query: query, Plain: true, Mode: search.Hybrid, Wait: wait,
		Limit: r.SearchNotes + prompt.MaxPinned + prompt.MaxLinked,
	}
	failed := func(err error) ([]search.Hit, prompt.Stage) {
		return skip(cmp.Or(r.tookLonger(err), fault.Message(err)))
	}
	res, err := r.view.Search(ctx, req)
	if err != nil {
		return failed(err)
	}
	follows := m.focus != nil && m.focus.asks
	hits, below := aboveShare(res, follows)
	if r.told != r.view && r.view.WithholdsNotes() { // else both find the same
		// What the one who reads the report would have found decides which private notes
		// are reported as withheld. It has no say in what is shown.
		all, err := r.told.Search(ctx, req)
		if err != nil {
			return failed(err)
		}
		others, _ := aboveShare(all, follows)
		hits = withheldAmong(r.view, hits, others)
	}
	if len(hits) == 0 && res.Nothing != "" {
		_, st = skip("no note is about the message") // whose words are the user's own
		if no := res.Refused; no != nil {
			st.Best = []prompt.LeftOut{{Kind: prompt.KindNote, ID: no.Doc.ID(), Score: hundredths(no.Score), Floor: hundredths(no.Floor)}}
		}
		return nil, st
	}
	st.Why = res.Degraded
	if below != nil {
		st.Best = []prompt.LeftOut{*below}
	}
	return hits, st
}

// The least share of the score of the best note that another one has which is shown beside it. Over the questions on the sample
// vault that one note answers (fixtures/plain.tsv, paraphrases.tsv), alone and with two other vaults, a share of 0.6 loses 1 of 186 answers among the
// first three where words were compared one by one, and leaves out 41 % of the other notes for plain questions, 11 % for
// paraphrases. Without that comparison 0.6 loses 8 of 149, and 0.45 none.
const (
	leastShare      = 0.45
	leastShareWords = 0.6
)

// aboveShare returns the hits of a search that are about as good as the best, and the first that is not, for the report. follows
// says that the query has the words of what the conversation is about: what has those is best, and no measure for the rest.
func aboveShare(res *search.Result, follows bool) (hits []search.Hit, below *prompt.LeftOut) {
	hits = res.Hits
	if res.Mode != search.Hybrid { // of words alone scores say little
		return hits, nil
	}
	for i := range hits {
		least := leastShare
		if hits[i].Late != nil {
			least = leastShareWords
		}
		if follows {
			least /= 2
		}
		if share := hits[i].Score / hits[0].Score; share < least {
			return hits[:i], &prompt.LeftOut{Kind: prompt.KindNote, ID: hits[i].Doc.ID(), Score: hundredths(share), Floor: hundredths(least)}
		}
	}
	return hits, nil
}

// foundBy says how a note was found, for the report.
func foundBy(h search.Hit) string {
	switch h.Found {
	case search.Semantic:
		return "found by search, by its meaning"
	case search.Hybrid:
		return "found by search, by its words and its meaning"
	}
	return prompt.FoundBySearch
}

// withheldAmong puts the notes of all that a reader does not see into shown, at the places
// that they have there.
func withheldAmong(view *audience.View, shown, all []search.Hit) (hits []search.Hit) {
	for _, h := range all {
		switch {
		case view.HidesNote(h.Doc.ID()):
			hits = append(hits, h)
		case len(shown) > 0:
			hits, shown = append(hits, shown[0]), shown[1:]
		}
	}
	return append(hits, shown...)
}

// searchedFor is what was searched for, as the report says it; "" where nothing was, or a name in it may be private by now.
func (c *call) searchedFor() string {
	f := c.mentions.focus
	if c.SearchNotes+c.Passages+c.Memories == 0 || search.AsksNothing(c.mentions.query) || f != nil && c.view.Privacy() != f.privacy {
		return ""
	}
	return c.mentions.query
}
