package gather

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes/markdown"
)

// referral is a memory that a request refers to, or a message of a conversation.
type referral struct {
	id      string
	ref     string              // as it was typed; "" for a memory that was attached
	message *record.ChatMessage // nil for a memory
}

// Bounds of what references take in.
const (
	maxOfReference = 100  // memories of one reference
	maxReferred    = 1000 // memories and messages of all
)

const few = 16 // references: more than most messages have

// references takes in what the message refers to: entities, and the memories and messages that references lead
// to (REF-7). Of the latter messages stand first, then memories in the order of the message, each once.
func (m *mentions) references(ctx context.Context, refs *Resolver, seen map[string]bool,
	read *markdown.Message,
) error {
	all := make([]FoundReference, 0, few)
	for f, err := range refs.InMessage(ctx, m.view, read) {
		if err != nil {
			return err
		}
		if ctx.Err() != nil || len(all) == maxMentions {
			break
		}
		all = append(all, f)
	}
	r := &references{mentions: m, refs: refs, taken: make(map[string]bool, len(all))}
	if err := r.known(ctx, read, all); err != nil {
		return err
	}
	for i := range all {
		if m.full() {
			break
		}
		r.take(seen, &all[i])
	}
	m.query = CleanMessage(read.Text, all)
	m.memories = r.memories
	if len(r.messages) > 0 {
		m.memories = slices.Concat(r.messages, r.memories)
	}
	return ctx.Err()
}

// references are those of a message.
type references struct {
	*mentions
	refs               *Resolver
	told               map[int]*ReferenceTarget // what they lead to for who reads the report, by their place
	taken              map[string]bool          // ids of memories and messages
	messages, memories []referral
}

// known finds what references lead to for the reader of the report, if that is another one. Where all of them
// are mentions of entities there is nothing to find but what is remembered about those.
func (r *references) known(ctx context.Context, read *markdown.Message, all []FoundReference) error {
	if r.mentions.told == r.view {
		return nil
	}
	more := slices.ContainsFunc(all, func(f FoundReference) bool {
		return f.Target == nil || f.Target.Type != record.ResolvedEntity
	})
	if !more {
		return nil
	}
	r.told = make(map[int]*ReferenceTarget)
	for f, err := range r.refs.InMessage(ctx, r.mentions.told, read) {
		if err != nil {
			return err
		}
		if len(r.told) == maxMentions {
			return nil
		}
		r.told[f.Start] = f.Target
	}
	return nil
}

// take takes one reference in.
func (r *references) take(seen map[string]bool, f *FoundReference) {
	t := f.Target
	hidden := r.withheld(f)
	switch {
	case strings.HasPrefix(f.Raw, "[[") || strings.HasPrefix(f.Raw, "![["): // links have taken it in
	case t != nil && t.Type == record.ResolvedEntity:
		r.once(seen, prompt.KindEntity, t.ID, &r.entities, false)
		r.group(f.Raw, t)
	case t != nil && t.Message != nil:
		if !r.taken[t.ID] && len(r.taken) < maxReferred {
			r.taken[t.ID] = true
			r.messages = append(r.messages, referral{id: t.ID, ref: f.Raw, message: t.Message})
		}
	case t != nil:
		r.group(f.Raw, t)
	case hidden:
	case f.Err != nil:
		r.unclear(kindOf(f), strings.TrimPrefix(f.Raw, "@"), candidatesOf(f.Err))
	default:
		r.mention(seen, f)
	}
}

// group takes in the memories that a reference leads to.
func (r *references) group(ref string, t *ReferenceTarget) {
	if t.Deeper {
		r.warnings = append(r.warnings, prompt.Warning{
			Ref: ref, Message: "contexts more than ten levels below it are left out",
		})
	}
	left := maxOfReference
	for _, id := range t.Memories {
		switch {
		case r.taken[id]:
		case left == 0 || len(r.taken) >= maxReferred:
			r.dropped = append(r.dropped, prompt.Dropped{
				Kind: prompt.KindMemory, Title: "further memories of " + ref, Reason: prompt.OverLimit,
			})
			return
		default:
			left--
			r.taken[id] = true
			if r.memories == nil {
				r.memories = make([]referral, 0, few)
			}
			r.memories = append(r.memories, referral{id: id, ref: ref})
		}
	}
}

// withheld tells who may know it which private memories a reference leads to, and reports whether it leads to
// some.
func (r *references) withheld(f *FoundReference) (hidden bool) {
	t := r.told[f.Start]
	if t == nil && r.told == nil && r.mentions.told != r.view {
		t = &ReferenceTarget{Type: record.ResolvedEntity, Memories: r.refs.About(r.mentions.told, f.Target.ID)}
	}
	if t == nil {
		return false
	}
	if f.Target != nil && slices.Equal(f.Target.Memories, t.Memories) {
		return false
	}
	shown := make(map[string]bool)
	if f.Target != nil {
		for _, id := range f.Target.Memories {
			shown[id] = true
		}
	}
	ids := t.Memories
	if t.Message != nil && f.Target == nil {
		ids = []string{t.ID}
	}
	for _, id := range ids[:min(len(ids), maxOfReference)] {
		if shown[id] {
			continue
		}
		hidden = true
		if r.taken[id] { // it is reported already, by another name
			continue
		}
		r.taken[id] = true
		kind := prompt.KindMemory
		if t.Message != nil {
			kind = prompt.KindMessage
		}
		r.dropped = append(r.dropped, prompt.Dropped{Kind: kind, ID: id, Reason: prompt.Private})
	}
	return hidden && t.Type != record.ResolvedEntity // which is reported as entities are
}

// kindOf is how the report calls what a reference can mean.
func kindOf(f *FoundReference) string {
	if fault.KindOf(f.Err) == fault.Conflict {
		return prompt.KindEntity
	}
	return prompt.KindMemory
}

func candidatesOf(err error) (list []prompt.Candidate) {
	for _, c := range fault.CandidatesOf(err) {
		title := c.Name
		if title == "" {
			title = c.ID // of a tag or domain itself
		}
		kind := c.Type
		if kind == "" {
			kind = c.Kind
		}
		list = append(list, prompt.Candidate{ID: c.ID, Title: title, Type: kind, Vault: c.Vault, Path: c.Path})
	}
	return list
}

// attached takes in the memories that the user gave by their ids: one that the message refers to stands there.
func (m *mentions) attached(ids []string) {
	if len(ids) == 0 {
		return
	}
	seen := make(map[string]bool)
	for _, of := range m.memories {
		seen[of.id] = true
	}
	var list []string
	for _, id := range ids {
		m.once(seen, prompt.KindMemory, id, &list, true)
	}
	for _, id := range list {
		m.memories = append(m.memories, referral{id: id})
	}
}

// said takes in a message of a conversation, as its reader sees it now.
func (c *call) said(of *referral) error {
	m, err := c.g.opts.Refs.Message(c.ctx, c.view, of.message.ConversationID, strconv.Itoa(of.message.Index))
	switch {
	case fault.KindOf(err) == fault.NotFound || err == nil && m.ID != of.id: // it has just gone
		c.drop(prompt.KindMessage, of.id, "", prompt.Unknown)
		return nil
	case err != nil:
		return err
	}
	c.in.Referenced = append(c.in.Referenced, prompt.Memory{
		ID: m.ID, Title: of.ref, Reason: named(of.ref), Statement: m.Content, Kind: string(record.ResolvedMessage),
		Source: prompt.SourceReferenced, Group: of.ref, Ref: of.ref, At: m.CreatedAt, By: m.Role,
		ConversationID: m.ConversationID,
	})
	return nil
}

// named says for the report why a memory is there.
func named(ref string) string { return "named by the user as " + ref }
