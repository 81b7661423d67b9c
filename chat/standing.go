package chat

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// HideStanding makes the answers private that stand on memories, in the transaction that makes those private. It
// returns the ids of these answers by their conversations. For remote readers the conversations are as if the answers
// had never been there: the numbers of later messages move up. O(all messages).
func HideStanding(tx *kv.Tx, memoryIDs []string) (hidden map[string][]string, err error) {
	list := make([]Source, len(memoryIDs))
	for i, id := range memoryIDs {
		list[i] = Source{MemorySource, id}
	}
	return hideMadeOf(tx, list)
}

// HideBooked is HideStanding for a book.
func HideBooked(tx *kv.Tx, bookID string) (hidden map[string][]string, err error) {
	return hideMadeOf(tx, []Source{{BookSource, bookID}})
}

func hideMadeOf(tx *kv.Tx, list []Source) (hidden map[string][]string, err error) {
	made, err := MadeOf(tx)
	if err != nil {
		return nil, err
	}
	return made.Hide(tx, list)
}

// Made says which public messages were made of what: their ids by those of their conversations.
type Made map[Source]map[string][]string

// MadeOf reads it of all messages. O(all messages).
func MadeOf(tx *kv.Tx) (Made, error) {
	made := make(Made)
	for key, m := range Messages.All(tx, "") {
		if m.private() {
			continue
		}
		for _, of := range Sources(m.Members) {
			if made[of] == nil {
				made[of] = make(map[string][]string)
			}
			id := ConversationOf(key)
			made[of][id] = append(made[of][id], m.ID)
		}
	}
	return made, tx.Err()
}

// Hide makes the messages private that were made of sources which a transaction makes private, and of these messages, and
// so on. It returns their ids by those of their conversations. No message is written between MadeOf and the last Hide but
// by Hide.
func (made Made) Hide(tx *kv.Tx, of []Source) (hidden map[string][]string, err error) {
	hidden = make(map[string][]string)
	for seen := make(map[Source]bool); len(of) > 0; of = of[1:] {
		if seen[of[0]] {
			continue
		}
		seen[of[0]] = true
		for conversation, ids := range made[of[0]] {
			for _, id := range ids {
				if !slices.Contains(hidden[conversation], id) {
					hidden[conversation] = append(hidden[conversation], id)
					of = append(of, Source{MessageSource, id})
				}
			}
		}
	}
	return hidden, hideAll(tx, hidden)
}

// hideAll makes messages private by their ids and those of their conversations.
func hideAll(tx *kv.Tx, messages map[string][]string) error {
	for _, id := range slices.Sorted(maps.Keys(messages)) {
		if err := hideMessages(tx, id, messages[id]); err != nil {
			return err
		}
	}
	return nil
}

// hideMessages makes public messages of a conversation private.
func hideMessages(tx *kv.Tx, id string, messageIDs []string) error {
	c, err := Conversations.Get(tx, id)
	if err != nil || c == nil {
		return err
	}
	left := counts{Messages: c.Public.Messages, Lost: c.Public.Lost}
	gone := 0
	for index := 1; index <= c.All.Messages; index++ {
		m, err := Messages.Get(tx, messageKey(id, index))
		if err != nil {
			return err
		}
		if m == nil || m.private() {
			continue
		}
		hide := slices.Contains(messageIDs, m.ID)
		switch {
		case hide:
			gone++
			err = hideMessage(tx, c, m)
		case gone > 0:
			err = renumber(tx, c, m, m.PublicIndex-gone)
		}
		if err != nil {
			return err
		}
		if !hide {
			left.keep(m)
		}
	}
	left.Messages -= gone
	c.Public = left
	return Conversations.Put(tx, id, c)
}

// hideMessage makes a public message private. Its hash becomes one that nobody can guess, as other private ones have.
func hideMessage(tx *kv.Tx, c *conversation, m *message) error {
	if err := public.Delete(tx, messageKey(c.ID, m.PublicIndex)); err != nil {
		return err
	}
	m.PublicIndex = 0
	if err := hashes.Delete(tx, nameKey(c.ID, m.Hash)); err != nil {
		return err
	}
	if err := name(new(nameCounters), tx, c, m); err != nil { // the hash of a private message is like no other
		return err
	}
	if err := m.lead(tx, c.ID); err != nil {
		return err
	}
	return Messages.Put(tx, messageKey(c.ID, m.Index), m)
}

// renumber gives a message a smaller number for remote readers, which no other one has any more.
func renumber(tx *kv.Tx, c *conversation, m *message, number int) error {
	if err := public.Delete(tx, messageKey(c.ID, m.PublicIndex)); err != nil {
		return err
	}
	m.PublicIndex = number
	if err := public.Put(tx, messageKey(c.ID, number), &place{Index: m.Index}); err != nil {
		return err
	}
	return Messages.Put(tx, messageKey(c.ID, m.Index), m)
}

// standingRule counts the changes of what an answer is known to stand on. Raise it with each: answers that are stored are
// looked at once more then.
const standingRule = 1

// standingRules says by which standingRule the answers of the store were last looked at. Each machine of a shared store does
// it for itself: another one may have stored answers by an older rule until it was updated.
var standingRules = kv.NewCollection[int]("chat-standing-rule").Local() // by standingKey

const standingKey = "answers"

// fewMessages is how many are looked at each time, which takes less than to write down that they were.
const fewMessages = 1000

// standOnTraces has answers that a former version stored stand on all that their models were shown, as their traces say.
// Those of which something is private by now become private, and so does what was made of them (PRIV-13). O(messages), once
// for each standingRule where they are many.
func (s *Store) standOnTraces(ctx context.Context) error {
	outdated, messages, due := false, 0, []string(nil)
	err := s.db.View(ctx, func(tx *kv.Tx) error {
		decided, err := standingRules.Get(tx, standingKey)
		outdated = decided == nil || *decided != standingRule
		if err != nil || !outdated {
			return err
		}
		for key, m := range Messages.All(tx, "") {
			messages++
			if m.private() || m.Role != record.RoleAssistant {
				continue
			}
			more, err := unnoted(tx, key, m)
			if err != nil {
				return err
			}
			if more.Any() {
				due = append(due, key)
			}
		}
		return tx.Err()
	})
	if err != nil || messages == 0 { // an empty store is as it was
		return err
	}
	const batch = 200
	for part := range slices.Chunk(due, batch) {
		if err := s.db.Update(ctx, func(tx *kv.Tx) error { return s.noteTraced(tx, part) }); err != nil {
			return err
		}
	}
	if len(due) == 0 && messages <= fewMessages {
		return nil
	}
	rule := standingRule
	// Where it fails, all answers stand on what they have to, and the next start looks once more.
	_ = s.db.Update(ctx, func(tx *kv.Tx) error { return standingRules.Put(tx, standingKey, &rule) })
	return nil
}

// unnoted returns what the trace of an answer says that its model was shown, as far as that is not among its Sources.
func unnoted(tx *kv.Tx, key string, m *message) (more record.StandsOn, err error) {
	t, err := GetTrace(tx, ConversationOf(key), m.ID)
	if err != nil || t == nil {
		return more, err
	}
	known := Sources(m.Members)
	add := func(kind, id string, to func(ids ...string)) {
		if !slices.Contains(known, Source{kind, id}) {
			to(id)
		}
	}
	for i := range t.References {
		switch id := t.References[i].ID; t.References[i].Kind {
		case prompt.KindNote:
			add(NoteSource, id, more.Note)
		case prompt.KindMemory:
			add(MemorySource, id, more.Memory)
		case prompt.KindEntity:
			add(EntitySource, id, more.Entity)
		case prompt.KindPassage:
			book, _, _ := strings.Cut(id, ".")
			add(BookSource, book, more.Book)
		}
	}
	return more, nil
}

// noteTraced has answers stand on what unnoted returns for them.
func (s *Store) noteTraced(tx *kv.Tx, keys []string) error {
	hidden := make(map[string][]string)
	for _, key := range keys {
		m, err := Messages.Get(tx, key)
		if err != nil {
			return err
		}
		if m == nil || m.private() {
			continue
		}
		on, err := unnoted(tx, key, m)
		if err != nil {
			return err
		}
		private, err := s.hides(tx, &Answer{StandsOn: on}, false)
		if err != nil {
			return err
		}
		if private {
			id := ConversationOf(key)
			hidden[id] = append(hidden[id], m.ID)
		}
		on.All(member[record.StandsOn](m, StandsOnMember))
		data, err := json.Marshal(on)
		if err != nil {
			return err
		}
		m.keep(StandsOnMember, data)
		if err := Messages.Put(tx, key, m); err != nil {
			return err
		}
	}
	if len(hidden) == 0 {
		return nil
	}
	return s.hideSaid(tx, hidden)
}

// hideSaid makes messages private, which are given by their conversations, and what was made of them.
func (s *Store) hideSaid(tx *kv.Tx, messages map[string][]string) error {
	if err := hideAll(tx, messages); err != nil {
		return err
	}
	var of []Source
	for _, ids := range messages {
		for _, id := range ids {
			of = append(of, Source{MessageSource, id})
		}
	}
	more, err := hideMadeOf(tx, of)
	if err != nil || s.opts.Memories == nil {
		return err
	}
	for id, list := range more {
		messages[id] = append(messages[id], list...)
	}
	return s.opts.Memories.HideSaid(tx, messages)
}
