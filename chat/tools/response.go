package tools

import (
	"context"

	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/entities/record"
)

// Scorer scores the memories that the last answer of a conversation was given. What it changes are their counters and scores.
type Scorer func(ctx context.Context, outcome string, related []string) error

// recordResponse is of a conversation alone: elsewhere memory.outcome does it, which is a method that writes. What was learned is
// proposed, since a text that the model has read may have told it what to learn.
var recordResponse = define("record_response", "Say how the last answer went",
	"Say how your answer before the last message went, once the user has said so or it is plain from what they say: the memories "+
		"that it was given are scored. Not for the answer that you are giving now.",
	(*toolRun).recordResponse,
	argument{name: "outcome", kind: aText, required: true, values: record.Outcomes, about: "how it went for the user"},
	argument{name: "related", kind: aList, long: longName, about: "which of the memories that it was given: positions from 1, or ids; all of them when absent"},
	argument{name: "takeaway", kind: aText, long: longTitle, about: "what was learned, in one or two sentences: the user is asked whether it is remembered"},
)

func (c *toolRun) recordResponse() error {
	if err := c.env.Score(c.ctx, c.text("outcome"), c.list("related")); err != nil {
		return err
	}
	// The text is the same whether anything was scored: what the answer was given may be private.
	c.out.Text = "Noted: the memories that the answer was given are scored by it, if they were not yet.\n"
	takeaway := c.text("takeaway")
	if takeaway == "" {
		return nil
	}
	p, _, err := ProposeAction(c.ctx, ActionEnv{View: c.view}, record.ProposeRemember, RememberArgs{
		Statement: takeaway, Kind: record.MemoryLesson, ConversationID: c.env.At.ConversationID, MessageID: c.env.At.MessageID,
	}, "")
	if err != nil {
		return err
	}
	c.out.Proposal = p
	c.out.Text += "To remember: " + render.Line(takeaway) + "\n" + proposed
	return nil
}
