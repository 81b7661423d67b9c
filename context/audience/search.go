package audience

import (
	"context"
	"time"

	"github.com/ctxd/ctxd/context/search"
)

// CanSearch reports whether there is an index.
func (v *View) CanSearch() bool { return v.search != nil }

// Search is search.Index.Search over the notes that the reader sees. Titles and
// snippets are as the reader may see them.
func (v *View) Search(ctx context.Context, req search.Request) (*search.Result, error) {
	req.Public = v.hides
	return v.search.Search(ctx, req)
}

// WhyFound is search.Index.Why over the notes that the reader sees.
func (v *View) WhyFound(ctx context.Context, req search.Request, id string) (*search.Why, error) {
	req.Public = v.hides
	return v.search.Why(ctx, req, id)
}

// Moment reads a date as queries do; see search.Index.Moment.
func (v *View) Moment(text string) (time.Time, bool) {
	if v.search == nil {
		return search.Moment(text, time.Now())
	}
	return v.search.Moment(text)
}

// Near is search.Index.Near over the notes that the reader sees.
func (v *View) Near(ctx context.Context, near search.Near) (*search.Result, error) {
	near.Public = v.hides
	return v.search.Near(ctx, near)
}

// WordCounts returns how many notes hold each of some folded words, in any of its forms, and how many notes there are, as the
// reader sees them; nil without an index. O(words).
func (v *View) WordCounts(words []string) (docs []int, all int) {
	if v.search == nil {
		return nil, 0
	}
	return v.search.Counts(words, v.hides)
}

// WordsHeld reports of each of some folded words whether one of some notes holds it, in any of its forms, as the reader sees
// them; nil without an index. O(postings of the words).
func (v *View) WordsHeld(words, noteIDs []string) []bool {
	if v.search == nil {
		return nil
	}
	return v.search.Held(words, noteIDs, v.hides)
}
