package learn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// ForgetInOutcomes takes memories that are deleted out of what was shown, in the transaction that deletes them. The others keep
// their positions. O(conversations kept).
func ForgetInOutcomes(tx *kv.Tx, ids []string) error {
	gone := make(map[string]bool, len(ids))
	for _, id := range ids {
		gone[id] = true
	}
	for key, s := range showings.All(tx, "") {
		if made := s.without(gone); made != s {
			if err := showings.Put(tx, key, made); err != nil {
				return err
			}
		}
	}
	return tx.Err()
}

// without returns the showing with nothing in the places of memories that are gone: itself when it has none of them.
func (s *showing) without(gone map[string]bool) *showing {
	is := func(h OutcomeHit) bool { return h.Kind == HitMemories && gone[h.ID] }
	if !slices.ContainsFunc(s.Hits, is) {
		return s
	}
	made := *s
	made.Hits = slices.Clone(s.Hits)
	for i, h := range made.Hits {
		if is(h) {
			made.Hits[i] = OutcomeHit{Kind: HitMemories}
		}
	}
	return &made
}

// commit has the view forget memories that are deleted.
func (r *Scorer) commit(cs *kv.ChangeSet) {
	var gone map[string]bool
	for _, d := range memory.Records.Each(cs) {
		if d.New == nil {
			if gone == nil {
				gone = make(map[string]bool)
			}
			gone[d.ID] = true
		}
	}
	if gone == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, s := range r.shown {
		r.shown[key] = s.without(gone)
	}
}

// Dropped forgets a conversation that was deleted. It waits for nothing, and may be called while a transaction is
// committed.
func (r *Scorer) Dropped(conversationID string) {
	r.mu.Lock()
	for _, reader := range []audience.Reader{audience.Local, audience.Remote} {
		key := shownKey(reader, conversationID)
		delete(r.shown, key)
		r.dirty[key] = true
	}
	r.gone[conversationID] = true
	begin := !r.flushing
	r.flushing = true
	r.mu.Unlock()
	if begin {
		go r.flush()
	}
}

// dropAnswers deletes the outcomes of the messages of a conversation.
func dropAnswers(tx *kv.Tx, conversationID string) error {
	for key := range answers.All(tx, conversationID+"/") {
		if err := answers.Delete(tx, key); err != nil {
			return err
		}
	}
	return tx.Err()
}

// mendOutcomes drops the outcomes of messages of conversations that are gone, and has nothing be shown that is. there
// reports whether a conversation is not.
func mendOutcomes(tx *kv.Tx, there func(tx *kv.Tx, id string) (bool, error)) error {
	for key, s := range showings.All(tx, "") {
		if err := putShowing(tx, key, s); err != nil {
			return err
		}
	}
	gone, known := make(map[string]bool), make(map[string]bool)
	for key := range answers.All(tx, "") {
		id, _, _ := strings.Cut(key, "/")
		if known[id] {
			continue
		}
		known[id] = true
		has, err := there(tx, id)
		if err != nil {
			return err
		}
		gone[id] = !has
	}
	for id, is := range gone {
		if is {
			if err := dropAnswers(tx, id); err != nil {
				return err
			}
		}
	}
	return tx.Err()
}

// CheckOutcomes tells what does not fit together in the records of the room.
func CheckOutcomes(tx *kv.Tx) (problems []string, err error) {
	for key, s := range showings.All(tx, "") {
		if len(s.Hits) == 0 || len(s.Hits) > maxConversationHits {
			problems = append(problems, fmt.Sprintf("%d results were shown in conversation %s", len(s.Hits), key))
		}
		for _, h := range s.Hits {
			if h.Kind != HitMemories || h.ID == "" {
				continue
			}
			if has, err := memory.Records.Has(tx, h.ID); err != nil {
				return nil, err
			} else if !has {
				problems = append(problems, fmt.Sprintf("memory %s was shown in conversation %s and is not there", h.ID, key))
			}
		}
	}
	for key, a := range answers.All(tx, "") {
		if a.Outcome != "" && !slices.Contains(record.Outcomes, a.Outcome) {
			problems = append(problems, fmt.Sprintf("the outcome of message %s is none of its values", key))
		}
	}
	return problems, tx.Err()
}
