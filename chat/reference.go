package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// References lie among the members of a stored message that programs keep without knowing them, since a message is never
// changed: what a later program says of a reference stays.

// MaxAnswerMemories is how many memories a client says that it showed for an answer.
const MaxAnswerMemories = 100

// standsOn says which answer of a call the memories of it were shown for: the last one. The answer is private
// when one of them is. said is changed, but not the list of messages that it was given.
func (s *Store) standsOn(v *audience.View, said *AppendRequest) error {
	if len(said.MemoryIDs) == 0 {
		return nil
	}
	if n := len(said.MemoryIDs); n > MaxAnswerMemories {
		return fault.TooLarge("memoryIds", n, MaxAnswerMemories, "items").WithHint("give those that the prompt showed")
	}
	answer := -1
	for i := range said.Messages {
		if said.Messages[i].Role == record.RoleAssistant {
			answer = i
		}
	}
	if answer < 0 {
		return fault.Field("memoryIds", "no message of the call is an answer").
			WithHint("give memoryIds with the message of the role assistant that the memories were shown for")
	}
	drafts := append([]Draft{}, said.Messages...)
	seen := make(map[string]bool)
	for i, id := range said.MemoryIDs {
		at := fmt.Sprintf("memoryIds[%d]", i)
		if err := entities.CheckID(at, id); err != nil {
			return err
		}
		if !s.remembers(v, id) {
			err := fault.Missing("memory", id).WithHint("leave it out")
			err.Field = at
			return err
		}
		if s.opts.Remote != nil && !s.remembers(s.opts.Remote, id) {
			drafts[answer].Private = true
		}
		if !seen[id] {
			seen[id] = true
			drafts[answer].memories = append(drafts[answer].memories, id)
		}
	}
	shown := &AnswerContext{Text: drafts[answer].Content}
	for _, id := range drafts[answer].memories { // the client is the tool
		shown.Tools = append(shown.Tools, record.ToolReference{MemoryID: id})
	}
	question := ""
	for i := range drafts[:answer] {
		if drafts[i].Role == record.RoleUser {
			question = drafts[i].Content
		}
	}
	drafts[answer].usedMemories = s.usedMemories(v, drafts[answer].memories, question, shown)
	said.Messages = drafts
	return nil
}

// link reads what messages refer to that somebody says elsewhere. Of the notes that a prompt had nothing is known then.
func (s *Store) link(ctx context.Context, v *audience.View, drafts []Draft) []Draft {
	drafts = slices.Clone(drafts)
	for i := range drafts {
		d := &drafts[i]
		if d.Role == record.RoleSystem {
			continue
		}
		d.refs, _ = s.referring(ctx, v, func(x *ReferenceReader) ([]Reference, bool) {
			list, left := x.Links(d.Content)
			if d.Role != record.RoleAssistant {
				return list, left
			}
			return x.Answer(nil, list, &AnswerContext{})
		})
	}
	return drafts
}

func (s *Store) referring(ctx context.Context, v *audience.View, list func(*ReferenceReader) ([]Reference, bool)) (ReferenceLists, error) {
	return ReadReferences(ctx, v, s.opts.Remote, s.summarise, list)
}

// Links reads what a text refers to that somebody is about to say. The error is why it is not whole.
func (s *Store) Links(ctx context.Context, v *audience.View, text string) (ReferenceLists, error) {
	return s.referring(ctx, v, func(x *ReferenceReader) ([]Reference, bool) { return x.Links(text) })
}

// Refer has an answer keep what it refers to and stands on, and returns what is to be said of that. An answer of which
// something that its model was shown is private by now becomes private. The error is why what it keeps is not whole.
func (s *Store) Refer(ctx context.Context, v *audience.View, t *Turn, a *Answer, shown *AnswerContext,
) (warnings []record.ChatWarning, err error) {
	var q *message
	err = s.db.View(ctx, func(tx *kv.Tx) (err error) {
		q, err = Messages.Get(tx, messageKey(t.Conversation.ID, t.index))
		return err
	})
	if q == nil { // it was deleted meanwhile
		return nil, err
	}
	shown.Text = a.Content
	a.UsedMemories = s.usedMemories(v, a.Memories, q.Content, shown)
	a.Private = a.Private || s.opts.Remote != nil && shown.StandsOn(s.opts.Remote.HidesNote)
	a.Refs, err = s.referring(ctx, v, func(x *ReferenceReader) ([]Reference, bool) {
		question := x.Kept(q.Members)
		x.Give(question, shown)
		links, left := x.Links(a.Content)
		list, more := x.Answer(question, links, shown)
		return list, left || more
	})
	return ReferenceWarnings(&a.Refs, t.links), err
}

// ReferencesOf returns what an answer keeps of its references as a reader sees them, before it is stored.
func (s *Store) ReferencesOf(v *audience.View, a *Answer) []record.ChatReference {
	list := slices.Concat(a.Refs.For(v), memoryReferences(a.Memories, a.UsedMemories))
	return RenderReferences(v, list, &RenderedMessage{}, s.numberedBy(v))
}

// toldOf is the list that stood behind a message of the user for a model that reads as the reader of a View; "" where
// there was none.
func (s *Store) toldOf(v *audience.View, m *message) string {
	told := member[*ReferenceNotice](m, ReferenceNoticeMember)
	if told == nil {
		return ""
	}
	return told.List(RenderReferences(v, StoredReferences(m.Members, v), &RenderedMessage{Replay: true}, s.numberedBy(v)))
}

// hides reports whether an answer is private: it is already, or a memory, an entity, a book or a message that its model has
// read of is by now, as a transaction sees it. A memory or a book that is gone is taken for private.
func (s *Store) hides(tx *kv.Tx, a *Answer, already bool) (bool, error) {
	v := s.opts.Remote
	if already || v == nil {
		return already, nil
	}
	if s.opts.Memories != nil && slices.ContainsFunc(a.Memories, func(id string) bool { return !s.remembers(v, id) }) {
		return true, nil
	}
	if slices.ContainsFunc(a.StandsOn.Notes, v.HidesNote) {
		return true, nil
	}
	if hidden, err := s.hasHidden(tx, a.StandsOn.Messages); err != nil || hidden {
		return hidden, err
	}
	if s.opts.Memories != nil && slices.ContainsFunc(a.StandsOn.Memories, func(id string) bool { return !s.remembers(v, id) }) {
		return true, nil
	}
	for _, id := range a.StandsOn.Books {
		if s.opts.Books == nil {
			break
		}
		if private, err := s.opts.Books.IsPrivate(tx, id); err != nil || private {
			return true, err
		}
	}
	if len(a.StandsOn.Types) > 0 {
		if private, err := anyPrivate(tx, a.StandsOn.Types); err != nil || private {
			return true, err
		}
	}
	for _, id := range a.StandsOn.Entities {
		e, err := entities.EntityRecords.Get(tx, id) // so that who makes it private meanwhile comes before or after
		if err != nil || e != nil && e.Private || v.HidesEntity(id) {
			return true, err
		}
	}
	return false, nil
}

// anyPrivate reports whether an entity of some types is private. O(entities).
func anyPrivate(tx *kv.Tx, types []string) (bool, error) {
	of := make(map[string]bool, len(types))
	for _, name := range types {
		of[entities.Fold(name)] = true
	}
	for _, e := range entities.EntityRecords.All(tx, "") {
		if e.Private && of[entities.Fold(e.Type)] {
			return true, nil
		}
	}
	return false, tx.Err()
}

// hasHidden reports whether one of some messages has become private since the store was opened, by itself or with its
// conversation, on whatever machine. O(messages of the conversations that have).
func (s *Store) hasHidden(tx *kv.Tx, ids []string) (bool, error) {
	s.mu.RLock()
	hidden := slices.ContainsFunc(ids, func(id string) bool { return s.hidden[id] })
	conversations := slices.Collect(maps.Keys(s.hiddenConversations))
	s.mu.RUnlock()
	if hidden || len(ids) == 0 {
		return hidden, nil
	}
	for _, id := range conversations {
		for _, m := range Messages.All(tx, messagePrefix(id)) {
			if slices.Contains(ids, m.ID) {
				return true, nil
			}
		}
	}
	return false, tx.Err()
}

// Hidden reports whether an answer is private by now that is being given and stands on something: a remote reader who follows
// it gets no more of it then.
func (s *Store) Hidden(ctx context.Context, t *Turn, on record.StandsOn) (hidden bool, err error) {
	err = s.db.View(ctx, func(tx *kv.Tx) error {
		c, err := Conversations.Get(tx, t.Conversation.ID)
		if err != nil || c == nil {
			return err
		}
		hidden, err = s.hides(tx, &Answer{StandsOn: on}, c.Private)
		return err
	})
	return hidden, err
}

// keepReferences has a message keep what it refers to.
func (m *message) keepReferences(d *Draft) error {
	if d.stands.Any() {
		data, err := json.Marshal(d.stands)
		if err != nil {
			return err
		}
		m.keep(StandsOnMember, data)
	}
	if err := d.refs.Keep(memoryReferences(d.memories, d.usedMemories), m.keep); err != nil || d.told == nil || !d.refs.Any() {
		return err
	}
	data, err := json.Marshal(d.told)
	m.keep(ReferenceNoticeMember, data)
	return err
}
