package chat

import (
	"context"
	"slices"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes/markdown"
)

// Earlier returns the last turns of a branch before a place, n at most, the earlier first, with what is stored of the records
// that they refer to: which links led where, what a tool showed, and which records the user named for an answer. There are
// none where a reader sees no such conversation or message. O(messages returned).
func (s *Store) Earlier(ctx context.Context, v *audience.View, ref string, at prompt.HistoryPlace, n int) (list []gather.Earlier, err error) {
	known, err := s.seen(ctx, v, ref)
	if known == nil {
		return nil, err
	}
	err = s.db.View(ctx, func(tx *kv.Tx) error {
		list = nil
		c, err := Conversations.Get(tx, known.ID)
		if err != nil || !sees(v, c) {
			return err
		}
		last, err := lastBefore(tx, v, c, at)
		if err != nil {
			return err
		}
		users := 0
		for index := last; index > 0 && users < n; index = c.Forks.Parent(index) {
			m, err := Messages.Get(tx, messageKey(c.ID, index))
			if err != nil {
				return err
			}
			if m == nil || m.Role == record.RoleSystem || !v.Sees(m.private()) {
				continue
			}
			said := gather.Earlier{HistoryMessage: prompt.HistoryMessage{Role: m.Role, Text: v.TextOf("", m.Content)}, Private: m.private() || c.Private}
			if users <= prompt.FocusTurns { // the message itself may be the last one
				err = s.refersTo(tx, v, c, m, &said)
			}
			if m.Role == record.RoleUser {
				users++
			}
			if err != nil {
				return err
			}
			list = append(list, said)
		}
		slices.Reverse(list)
		moveNamed(list)
		return nil
	})
	return list, err
}

// lastBefore returns the index of the last message before a place; 0 for none.
func lastBefore(tx *kv.Tx, v *audience.View, c *conversation, at prompt.HistoryPlace) (int, error) {
	id := at.Behind + at.Instead
	if id == "" {
		return c.All.Messages, nil
	}
	m, err := messageOf(tx, v, c, "parentId", id)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return 0, nil
	case err != nil:
		return 0, err
	case at.Behind != "":
		return m.Index, nil
	}
	index := c.Forks.Parent(m.Index)
	if m.Role == record.RoleAssistant { // in the place of its question
		index = c.Forks.Parent(index)
	}
	return index, nil
}

// refersTo adds the records that a message is known to refer to.
func (s *Store) refersTo(tx *kv.Tx, v *audience.View, c *conversation, m *message, e *gather.Earlier) error {
	add := func(kind, id, how string, part markdown.Part) {
		e.Records = append(e.Records, gather.EarlierRecord{Kind: kind, ID: id, How: how, Part: part})
	}
	cited := prompt.FocusNamed
	if m.Role == record.RoleAssistant {
		cited = prompt.FocusCited
	}
	for _, r := range StoredReferences(m.Members, v) {
		switch {
		case r.NoteID == "" || r.Status != record.ReferOK:
		case len(r.Spans) > 0:
			e.Linked = true
			add(prompt.KindNote, r.NoteID, cited, markdown.Part{Heading: r.Heading, Block: r.Block})
		case len(r.Tools) > 0 && r.Used:
			add(prompt.KindNote, r.NoteID, prompt.FocusRead, markdown.Part{})
		}
	}
	if m.Role != record.RoleAssistant {
		return nil
	}
	t, err := GetTrace(tx, c.ID, m.ID)
	if err != nil || t == nil {
		return err
	}
	for i := range t.References {
		r := &t.References[i]
		if r.Origin == turn.OriginMention && (r.Kind == prompt.KindNote || r.Kind == prompt.KindEntity) {
			add(r.Kind, r.ID, prompt.FocusNamed, markdown.Part{})
		}
	}
	return nil
}

// moveNamed gives what the user named for an answer to his message, which does not have it.
func moveNamed(list []gather.Earlier) {
	for i := 1; i < len(list); i++ {
		answer, question := &list[i], &list[i-1]
		if answer.Role != record.RoleAssistant || question.Role != record.RoleUser {
			continue
		}
		answer.Records = slices.DeleteFunc(answer.Records, func(r gather.EarlierRecord) bool {
			if r.How != prompt.FocusNamed {
				return false
			}
			known := func(of gather.EarlierRecord) bool { return of.Kind == r.Kind && of.ID == r.ID }
			if !slices.ContainsFunc(question.Records, known) {
				question.Records = append(question.Records, r)
			}
			return true
		})
	}
}
