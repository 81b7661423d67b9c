package gather

import (
	"context"
	"slices"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/record"
)

// pins are what stands in every prompt of the conversation of a call: ids, of which some may lead nowhere.
type pins struct{ notes, memories []string }

// pinsOf returns the pins of the conversation of a request as the reader of the prompt sees it. Whoever sees
// a private conversation himself is warned that another reader gets nothing of it.
func (g *Gatherer) pinsOf(ctx context.Context, r *request) (p pins, warnings []prompt.Warning, err error) {
	if r.ConversationID == "" || g.opts.Conversations == nil {
		return pins{}, nil, nil
	}
	p.notes, p.memories, err = g.opts.Conversations.Pins(ctx, r.view, r.ConversationID)
	if err != nil || len(p.notes)+len(p.memories) > 0 || r.told == r.view {
		return p, nil, err
	}
	notes, memories, err := g.opts.Conversations.Pins(ctx, r.told, r.ConversationID)
	if err != nil || len(notes)+len(memories) == 0 {
		return p, nil, err
	}
	return p, []prompt.Warning{{
		Ref: r.ConversationID, Message: "the conversation is private, so what is pinned in it is left out",
	}}, nil
}

// pinned takes in the notes that are pinned in the conversation, behind those that the message names: that is
// nearer to what is asked. A pin that a reader may not know of leaves no trace in his report.
func (m *mentions) pinned(seen map[string]bool, ids []string) {
	m.own = len(m.notes)
	for _, id := range ids {
		if m.told.Hides() && m.told.Note(id) == nil {
			continue
		}
		m.once(seen, prompt.KindNote, id, &m.notes, false)
	}
}

// pinnedHere returns the memories that are pinned in the conversation and hold, and reports the others, as
// far as the reader of the report may know of them.
func (r *remembering) pinnedHere() []*record.MemoryRecord {
	ids := r.pins.memories
	if len(ids) == 0 {
		return nil
	}
	shown, told := r.remembered(ids), r.knownOf(ids)
	var list []*record.MemoryRecord
	for i, m := range shown {
		switch {
		case m != nil && m.Current() && m.Holds(r.g.opts.Now()):
			list = append(list, m)
		case r.taken[ids[i]]: // the message refers to it
		case m != nil && m.Status == record.MemoryRetracted:
			r.drop(prompt.KindMemory, m.ID, m.Handle, prompt.Deleted)
		case m != nil && m.Current():
			r.drop(prompt.KindMemory, m.ID, m.Handle, prompt.Lapsed)
		case m != nil:
			r.drop(prompt.KindMemory, m.ID, m.Handle, prompt.Archived)
		case told[i] != nil:
			r.drop(prompt.KindMemory, ids[i], "", prompt.Private)
		case !r.told.Hides():
			r.drop(prompt.KindMemory, ids[i], "", prompt.Unknown)
		}
	}
	slices.SortStableFunc(list, func(a, b *record.MemoryRecord) int { // those that are pinned everywhere have the higher rank
		switch {
		case a.Pinned == b.Pinned:
			return 0
		case a.Pinned:
			return -1
		}
		return 1
	})
	return list
}
