package gather

import (
	"context"
	"slices"
	"time"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
)

// PKB is the format of Gather that a prompt has not: memories as <pkb_item> lines.
const PKB = "pkb"

// defaultMemories is how many memories and messages Gather searches for unless it is told.
const defaultMemories = 10

// Gather finds the memories for a message: those that a prompt of Assemble has, with the same budgets, and
// nothing else. No report of it is kept.
func (g *Gatherer) Gather(ctx context.Context, by Readers, p prompt.GatherParams) (*prompt.Gathered, error) {
	r, err := checkGather(by, p)
	if err != nil {
		return nil, err
	}
	var key []byte
	if r.format == prompt.XML {
		key, err = g.boundaryKey(ctx)
		if err != nil {
			return nil, err
		}
	}
	m, err := mentioned(ctx, g.opts.Refs, r)
	if err != nil {
		return nil, err
	}
	if ctx, err = g.findFocus(ctx, r, m); err != nil {
		return nil, err
	}
	m.entities, m.notes, m.focus = nil, nil, nil // which are no part of it, and neither is
	m.dropped = slices.DeleteFunc(m.dropped, func(d prompt.Dropped) bool { return d.Kind == prompt.KindNote })
	clock := stopwatch{last: time.Now()}
	c, err := g.readable(ctx, r, m, nil, &clock)
	if err != nil {
		return nil, err
	}
	defer c.scratch.free()
	c.in.Secret = key
	out := prompt.BuildMemories(c.in)
	out.Warnings = c.warnings
	for _, stage := range clock.stages {
		if stage.Name == "memories" {
			out.Degraded = stage.Why
		}
	}
	return out, nil
}

// checkGather returns the request of a call.
func checkGather(by Readers, p prompt.GatherParams) (*request, error) {
	memories := defaultMemories
	if p.K != nil {
		memories = *p.K
	}
	if memories < 0 || memories > prompt.MaxMemories {
		return nil, fault.Field("k", "k is %d", memories).WithHint("give a number from 0 to %d", prompt.MaxMemories)
	}
	asPrompt := Params{
		Text: p.Text, AttachedMemoryIDs: p.AttachedMemoryIDs, ConversationID: p.ConversationID, Memories: memories,
	}
	switch p.Format {
	case "", Markdown, XML:
		asPrompt.Format = p.Format
	case PKB:
	default:
		return nil, fault.Field("format", "unknown format %q", p.Format).WithHint("give markdown, xml or pkb")
	}
	r, err := check(by, asPrompt)
	if err != nil {
		return nil, err
	}
	r.whole = true
	if p.Format == PKB {
		r.format = prompt.PKB
	}
	return r, nil
}
