package tools

import (
	"fmt"

	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/entities/fault"
)

var searchMemory = define("search_memory", "Search what is remembered",
	"Find what the user told before, and what was said in conversations, that answers a question, best first, with how "+
		"sure it is.",
	(*toolRun).searchMemory,
	argument{name: "query", kind: aText, required: true, long: maxQuery, about: "a question, or words of what is looked for"},
	argument{name: "kinds", kind: aList, values: recall.Usual, about: "only these kinds; all of them when absent"},
	argument{name: "limit", kind: aNumber, least: 1, most: recall.MaxLimit, standard: 10, about: "hits at most"},
)

func (c *toolRun) searchMemory() error {
	if c.set.opts.Recall == nil {
		return fault.New(fault.Unavailable, "nothing is remembered here")
	}
	res, err := c.set.opts.Recall.Search(c.ctx, c.view, recall.Request{
		Query: c.text("query"), Kinds: c.list("kinds"), Limit: c.number("limit"),
	})
	if err != nil {
		return err
	}
	l := render.Page{
		Noun: "hit", None: "Nothing is remembered of that.", Total: len(res.Hits),
		Head: render.Confidence(res.Confidence, res.Reason, res.Degraded),
	}
	for i := range res.Hits {
		h := &res.Hits[i]
		line := render.Remembered{
			Position: i + 1, ID: h.ID, Text: h.Text, CreatedAt: h.CreatedAt(), OlderThan: h.OlderThan,
		}
		switch {
		case h.Memory != nil:
			line.Tier, line.Status, line.Ref, line.Holds = h.Memory.Tier, h.Memory.Status, fmt.Sprint("#", h.Memory.Number), h.Holds
			snippet := render.OneLine(h.Text)
			c.refer(h.ID, Reference{MemoryID: h.ID, Ref: line.Ref, Snippet: beginning(snippet), How: ExtentRead, Used: true})
		case h.Message != nil:
			line.Role, line.Conversation = h.Message.Role, h.Message.Conversation
			c.out.StandsOn.Message(h.ID)
		}
		l.Items = append(l.Items, line.Line())
	}
	return c.whole(&l)
}
