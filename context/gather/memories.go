package gather

import (
	"context"
	"slices"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/record"
)

// memories are what a person told. memory.Store is one.
type memories interface {
	// Shown returns the memories with ids as a reader sees them, nil in the place of each that
	// he does not see.
	Shown(v *audience.View, ids []string) []*record.Memory
	// Profile returns what is known about the user, what matters most first.
	Profile(v *audience.View, limit int) []*record.Memory
	// List returns the memories of a filter, and whether there are more than limit.
	List(ctx context.Context, v *audience.View, f memory.Filter, after *memory.Place,
		limit int) (page []*record.Memory, total int, more bool, err error)
}

// referenced takes in what the message refers to and the attached memories, as the reader of the prompt sees
// them. It is called when no commit waits, since names are looked for in what they say.
func (c *call) referenced() error {
	var ids []string
	for _, of := range c.mentions.memories {
		if of.message == nil {
			ids = append(ids, of.id)
		}
	}
	if len(c.mentions.memories) == 0 {
		return nil
	}
	shown, told := c.g.remembered(c.view, ids), []*record.Memory(nil)
	at := -1
	for i := range c.mentions.memories {
		of := &c.mentions.memories[i]
		if of.message != nil {
			if err := c.said(of); err != nil {
				return err
			}
			continue
		}
		at++
		switch m := shown[at]; {
		case m != nil && m.Status != record.MemoryRetracted:
			c.in.Referenced = append(c.in.Referenced, chosen(m, of.ref))
		case m != nil: // it was wrong
			c.drop(prompt.KindMemory, of.id, m.Handle, prompt.Deleted)
		default:
			if told == nil {
				told = c.g.remembered(c.told, ids)
			}
			reason := prompt.Unknown
			if told[at] != nil {
				reason = prompt.Private
			}
			c.drop(prompt.KindMemory, of.id, "", reason)
		}
	}
	return nil
}

// remembered returns the memories with ids; without a store of them there are none.
func (g *Gatherer) remembered(v *audience.View, ids []string) []*record.Memory {
	if g.opts.Memories == nil {
		return make([]*record.Memory, len(ids))
	}
	return g.opts.Memories.Shown(v, ids)
}

// chosen returns a memory that the user typed a reference to, or attached when ref is "".
func chosen(m *record.Memory, ref string) prompt.Memory {
	out := candidate(m, prompt.SourceAttached, "attached by the user")
	if ref != "" {
		out = candidate(m, prompt.SourceReferenced, named(ref))
		out.Group, out.Ref = ref, ref
	}
	if len(m.Questions) > 0 {
		out.Question = m.Questions[0]
	}
	return out
}

// candidate returns a memory for a prompt.
func candidate(m *record.Memory, source, reason string) prompt.Memory {
	return prompt.Memory{
		ID: m.ID, Title: m.Handle, Statement: m.Statement, Kind: m.Kind, Tier: m.Tier, Status: m.Status,
		Source: source, Reason: reason, Record: m,
	}
}

// withoutMemories takes the memories out again, as withoutTexts does with the texts of notes.
func (c *call) withoutMemories() {
	for _, m := range slices.Concat(c.in.Referenced, c.in.Recalled) {
		kind := prompt.KindMemory
		if m.By != "" {
			kind = prompt.KindMessage
		}
		c.drop(kind, m.ID, "", prompt.OverLimit)
	}
	c.in.Referenced, c.in.Recalled = nil, nil
}
