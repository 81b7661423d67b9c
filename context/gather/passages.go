package gather

import (
	"cmp"
	"math"
	"strings"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities/fault"
)

// kindsOf are the kinds of the report by those of a search.
var kindsOf = map[string]string{recall.Memories: prompt.KindMemory, recall.Messages: prompt.KindMessage, recall.Passages: prompt.KindPassage}

// leftOut writes what a search has refused for the report.
func leftOut(refused []recall.Refused) (list []prompt.LeftOut) {
	for _, no := range refused {
		list = append(list, prompt.LeftOut{Kind: kindsOf[no.Kind], ID: no.ID, Score: hundredths(no.Score), Floor: hundredths(no.Floor)})
	}
	return list
}

func hundredths(x float64) float64 { return math.Round(100*x) / 100 }

// shelf is a finder that knows whether there is a book, as recall.Ranker does and those of tests do not.
type shelf interface {
	HasPassages(v *audience.View, conversation string) bool
}

// passages takes in the passages of books that a search for the message finds. It is called when no commit
// waits.
func (c *call) passages(clock *stopwatch) error {
	if c.Passages == 0 {
		return nil
	}
	if f, ok := c.g.opts.Finder.(shelf); ok && !f.HasPassages(c.view, c.ConversationID) {
		return nil // who has no book is told of none
	}
	switch {
	case c.g.opts.Finder == nil:
		clock.skip("passages", "there is no index to search")
		return nil
	case search.AsksNothing(c.mentions.query):
		clock.skip("passages", "the message asks nothing")
		return nil
	}
	ctx, end, wait := c.searching(c.ctx)
	defer end()
	res, err := c.g.opts.Finder.Search(ctx, c.view, recall.Request{
		Query: c.mentions.query, Kinds: []string{recall.Passages}, Conversation: c.ConversationID, Limit: c.Passages, Wait: wait,
	})
	if c.ctx.Err() != nil {
		return c.ctx.Err()
	}
	if err != nil {
		clock.skip("passages", cmp.Or(c.tookLonger(err), fault.Message(err)))
		return nil
	}
	if res.IsOffTopic() { // a book never changes the prompt of a question that it does not answer
		clock.skip("passages", "no passage of a book answers the message: "+res.Reason)
		refused := res.Refused
		if best, ok := res.OffTopic(); ok {
			refused = append(refused, best)
		}
		clock.stage().Best = leftOut(refused)
		return nil
	}
	for i := range res.Hits {
		p := res.Hits[i].Passage
		if p == nil {
			continue
		}
		cite := strings.TrimSuffix(strings.TrimPrefix(p.Cite, "["), "]")
		c.in.Passages = append(c.in.Passages, prompt.Passage{
			ID: p.ID, Cite: cite, Book: p.Book, Section: strings.Join(p.Section, " > "), Page: p.Page, Row: p.Row,
			Body: prompt.NewNoteBody(p.Text, 0), Reason: prompt.FoundBySearch,
		})
	}
	clock.lap("passages")
	if len(res.Hits) == 0 {
		stage := clock.stage()
		stage.Skipped, stage.Why, stage.Best = true, "no passage of a book is about the message", leftOut(res.Refused)
	}
	return nil
}
