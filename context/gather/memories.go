package gather

import (
	"slices"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/record"
)

// memories are what a person told: memory.Store, but for what of it reads without a View (PRIV-2).
type memories interface {
	// Seen returns the memories with ids as a reader sees them, nil in the place of each that
	// he does not see. They must not be changed.
	Seen(v *audience.View, ids []string) []*record.MemoryRecord
	// Shown is Seen with what is kept apart from a memory.
	Shown(v *audience.View, ids []string) []*record.Memory
	// Standing returns the ids of what is known about the user, what matters most first, and of what is pinned,
	// most of each at most, and whether more is pinned.
	Standing(v *audience.View, most int) (profile, pinned []string, more bool)
}

// referenced takes in what the message refers to and the attached memories, as the reader of the prompt sees
// them. It is called when no commit waits, since names are looked for in what they say.
func (c *call) referenced() error {
	if len(c.mentions.memories) == 0 {
		return nil
	}
	ids := make([]string, 0, len(c.mentions.memories))
	for i := range c.mentions.memories {
		if of := &c.mentions.memories[i]; of.message == nil {
			ids = append(ids, of.id)
		}
	}
	shown, told := c.remembered(ids), []*record.MemoryRecord(nil)
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
			c.in.Referenced = append(c.in.Referenced, c.chosen(m, of.ref))
		case m != nil: // it was wrong
			c.drop(prompt.KindMemory, of.id, m.Handle, prompt.Deleted)
		default:
			if told == nil {
				told = c.knownOf(ids)
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

// remembered returns the memories with ids for the reader of the prompt; without a store of them there are none.
func (c *call) remembered(ids []string) []*record.MemoryRecord {
	switch {
	case c.g.opts.Memories == nil:
		return make([]*record.MemoryRecord, len(ids))
	case !c.whole:
		return c.g.opts.Memories.Seen(c.view, ids)
	}
	list := make([]*record.MemoryRecord, len(ids))
	for i, m := range c.g.opts.Memories.Shown(c.view, ids) {
		if m != nil {
			list[i] = &m.MemoryRecord
			c.records.put(m)
		}
	}
	return list
}

// knownOf is remembered for the reader of the report.
func (c *call) knownOf(ids []string) []*record.MemoryRecord {
	if c.g.opts.Memories == nil {
		return make([]*record.MemoryRecord, len(ids))
	}
	return c.g.opts.Memories.Seen(c.told, ids)
}

// records are memories as the reader of the prompt sees them, by their ids.
type records map[string]*record.Memory

func (r *records) put(m *record.Memory) {
	if *r == nil {
		*r = make(records)
	}
	(*r)[m.ID] = m
}

// chosen returns a memory that the user typed a reference to, or attached when ref is "".
func (c *call) chosen(m *record.MemoryRecord, ref string) prompt.Memory {
	source, reason := prompt.SourceAttached, prompt.AttachedByUser
	if ref != "" {
		source, reason = prompt.SourceReferenced, named(ref)
	}
	out := c.candidate(m, source, reason)
	out.Group, out.Ref = ref, ref
	if len(m.Questions) > 0 {
		out.Question = m.Questions[0]
	}
	return out
}

// candidate returns a memory for a prompt.
func (c *call) candidate(m *record.MemoryRecord, source, reason string) prompt.Memory {
	return prompt.Memory{
		ID: m.ID, Title: m.Handle, Statement: m.Statement, Kind: m.Kind, Tier: m.Tier, Status: m.Status,
		Source: source, Reason: reason, Record: c.records[m.ID], Holds: m.Validity(c.g.opts.Now()),
	}
}

// withoutMemories takes the memories out again, as withoutTexts does with the texts of notes.
func (c *call) withoutMemories() {
	for _, m := range slices.Concat(c.in.Referenced, c.in.Recalled) {
		c.drop(m.Reported(), m.ID, "", prompt.OverLimit)
	}
	c.in.Referenced, c.in.Recalled = nil, nil
}
