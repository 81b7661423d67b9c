package gather

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
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
	PassagesOf(ctx context.Context, v *audience.View, path string, page, limit int, req recall.Request) ([]*record.Passage, error)
}

// filePassages is how many passages of a file are taken in that a message links to.
const filePassages = 4

// attached takes in passages of the files that the message links to, and says of which there is nothing.
func (c *call) attached() error {
	f, reads := c.g.opts.Finder.(shelf)
	reads = reads && !c.g.opts.NoBooks
	for _, file := range c.files {
		var list []*record.Passage
		if reads {
			ctx, end, wait := c.searching(c.ctx)
			found, err := f.PassagesOf(ctx, c.view, file.path, file.page, filePassages, recall.Request{Query: c.mentions.query, Wait: wait})
			end()
			if c.ctx.Err() != nil {
				return c.ctx.Err()
			}
			if err == nil { // else it took too long, or nothing can be searched now
				list = found
			}
		}
		for _, p := range list {
			c.passage(p, prompt.PinnedByUser)
		}
		if len(list) == 0 {
			c.warnings = append(c.warnings, prompt.Warning{Ref: "[[" + file.target + "]]", Message: "it is a file, and nothing of it is in the prompt"})
		}
	}
	return nil
}

// passage takes a passage in, unless it is.
func (c *call) passage(p *record.Passage, reason string) {
	if slices.ContainsFunc(c.in.Passages, func(has prompt.Passage) bool { return has.ID == p.ID }) {
		return
	}
	c.in.Passages = append(c.in.Passages, prompt.Passage{
		ID: p.ID, Cite: strings.TrimSuffix(strings.TrimPrefix(p.Cite, "["), "]"), Book: p.Book, Section: strings.Join(p.Section, " > "),
		Page: p.Page, Row: p.Row, Body: prompt.NewNoteBody(p.Text, 0), Reason: reason,
	})
}

// passages takes in the passages of books that a search for the message finds. It is called when no commit
// waits.
func (c *call) passages(clock *stopwatch) error {
	if err := c.attached(); err != nil || c.Passages == 0 {
		return err
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
		if p := res.Hits[i].Passage; p != nil {
			c.passage(p, prompt.FoundBySearch)
		}
	}
	clock.lap("passages")
	if len(res.Hits) == 0 {
		stage := clock.stage()
		stage.Skipped, stage.Why, stage.Best = true, "no passage of a book is about the message", leftOut(res.Refused)
	}
	return nil
}
