package memory

import (
	"maps"
	"slices"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/kv"
)

// HideConversation makes the memories private that come from a conversation, in the transaction that makes
// that private. O(memories of the conversation), and O(messages) where there are some.
func (s *Store) HideConversation(tx *kv.Tx, id string) error {
	hidden, err := s.hideFrom(tx, id, func(*Record) bool { return true })
	if err != nil {
		return err
	}
	return s.hideStanding(tx, hidden)
}

// hideFrom makes the memories private that come from a conversation and pass a test. It returns their ids.
func (s *Store) hideFrom(tx *kv.Tx, conversationID string, test func(*Record) bool) (hidden []string, err error) {
	s.mu.RLock()
	list := slices.Sorted(s.groups.Members(audience.GroupConversation, conversationID))
	s.mu.RUnlock()
	for _, id := range list {
		m, err := Records.Get(tx, id)
		if err != nil {
			return nil, err
		}
		if m == nil || m.Private || !test(m) {
			continue
		}
		was := *m
		m.Private = true
		if err := s.next(tx, &was, m, s.now(tx)); err != nil {
			return nil, err
		}
		passed, err := s.passAll(tx, m)
		if err != nil {
			return nil, err
		}
		hidden = append(append(hidden, id), passed...)
	}
	return hidden, nil
}

// passAll is passOn, but for what stands on these memories. It returns the ids of those that it has made private.
func (s *Store) passAll(tx *kv.Tx, m *Record) (ids []string, err error) {
	private, err := s.anyPrivate(tx, []string{m.ID})
	if err != nil || !private {
		return nil, err
	}
	for from := []*Record{m}; len(from) > 0; from = from[1:] {
		for _, id := range from[0].Heirs() {
			to, err := Records.Get(tx, id)
			if err != nil {
				return nil, err
			}
			if to == nil || to.Private {
				continue
			}
			was := *to
			to.Private = true
			if err := s.next(tx, &was, to, s.now(tx)); err != nil {
				return nil, err
			}
			ids, from = append(ids, id), append(from, to)
		}
	}
	return ids, nil
}

// HideNoted returns the ids of the memories that come from a note, and of what stands for those, which it makes private in
// the transaction in which the note becomes so: they are private with it. What was made from them is left to the caller.
// O(memories of the note).
func (s *Store) HideNoted(tx *kv.Tx, noteID string) (ids []string, err error) {
	s.mu.RLock()
	ids = slices.Sorted(s.groups.Members(audience.GroupNote, noteID))
	s.mu.RUnlock()
	for _, id := range ids {
		m, err := Records.Get(tx, id)
		if err != nil {
			return nil, err
		}
		if m == nil {
			continue
		}
		passed, err := s.passAll(tx, m)
		if err != nil {
			return nil, err
		}
		ids = append(ids, passed...)
	}
	return ids, nil
}

// hideStanding makes private what was made from memories that a transaction has made private: the messages that stand
// on them, the memories that come from those messages, and so on.
func (s *Store) hideStanding(tx *kv.Tx, ids []string) error {
	for len(ids) > 0 && s.opts.Hide != nil {
		messages, err := s.opts.Hide(tx, ids)
		if err != nil {
			return err
		}
		if ids, err = s.HideMade(tx, messages); err != nil {
			return err
		}
	}
	return nil
}

// HideSaid makes private what was made from messages that a transaction has made private, which are given by their
// conversations: the memories that come from them, the messages that stand on those, and so on. O(memories of the
// conversations), and O(messages) where there are some.
func (s *Store) HideSaid(tx *kv.Tx, messages map[string][]string) error {
	ids, err := s.HideMade(tx, messages)
	if err != nil {
		return err
	}
	return s.hideStanding(tx, ids)
}

// HideMade makes the memories private that come from messages, which are given by their conversations, and returns their
// ids. What stands on them is left to the caller. O(memories of the conversations).
func (s *Store) HideMade(tx *kv.Tx, messages map[string][]string) (ids []string, err error) {
	for _, conversation := range slices.Sorted(maps.Keys(messages)) {
		said := messages[conversation]
		from := func(m *Record) bool {
			return slices.ContainsFunc(m.Source.MessageIDs, func(id string) bool { return slices.Contains(said, id) })
		}
		more, err := s.hideFrom(tx, conversation, from)
		if err != nil {
			return nil, err
		}
		ids = append(ids, more...)
	}
	return ids, nil
}
