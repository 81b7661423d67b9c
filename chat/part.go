package chat

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// part is a piece of an answer that is being given. The parts of an answer are deleted with the transaction
// that stores it. Those that the daemon finds when it starts are all that is left of one.
type part struct {
	Text      string `json:"text,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
	Private   bool   `json:"private,omitempty"` // as far as was known
	After     *int   `json:"after,omitempty"`   // what the answer follows
	Provider  string `json:"provider,omitempty"`
	Model     string `json:"model,omitempty"`

	StandsOn *record.StandsOn `json:"standsOn,omitempty"` // what the answer stood on by then, where it is more than before
}

func partPrefix(conversationID, answerID string) string { return conversationID + "/" + answerID + "/" }

func partKey(conversationID, answerID string, n int) string {
	return fmt.Sprintf("%s%08d", partPrefix(conversationID, answerID), n)
}

// Keep stores what came of an answer since its last part, so that it outlives the daemon. n counts the parts of the
// answer from 0; the first one is stored with the trace as it is by then. It stores nothing where the conversation is gone.
func (s *Store) Keep(ctx context.Context, t *Turn, n int, a *Answer) error {
	return s.db.Update(ctx, func(tx *kv.Tx) error {
		known, err := Conversations.Has(tx, t.Conversation.ID)
		if err != nil || !known {
			return err
		}
		if n == 0 && a.Trace != nil {
			if err := PutTrace(tx, t.Conversation.ID, t.AnswerID, a.Trace); err != nil {
				return err
			}
		}
		p := &part{Text: a.Content, Reasoning: a.Reasoning, Private: a.Private, After: &t.index, Provider: a.Provider, Model: a.Model}
		if a.StandsOn.Any() {
			p.StandsOn = &a.StandsOn
		}
		return parts.Put(tx, partKey(t.Conversation.ID, t.AnswerID, n), p)
	})
}

func deleteParts(tx *kv.Tx, prefix string) error {
	var keys []string
	for key := range parts.All(tx, prefix) {
		keys = append(keys, key)
	}
	if err := tx.Err(); err != nil {
		return err
	}
	for _, key := range keys {
		if err := parts.Delete(tx, key); err != nil {
			return err
		}
	}
	return nil
}

// finishParts makes messages of the answers that were being given when the daemon ended. O(parts).
func (s *Store) finishParts(tx *kv.Tx) error {
	answers := make(map[string]*Answer)
	after := make(map[string]*int)
	for key, p := range parts.All(tx, "") {
		of := key[:strings.LastIndexByte(key, '/')]
		a := answers[of]
		if a == nil {
			a = &Answer{Finish: record.FinishInterrupted}
			answers[of] = a
		}
		a.Content += p.Text
		a.Reasoning += p.Reasoning
		a.Private = a.Private || p.Private
		a.Provider, a.Model, after[of] = p.Provider, p.Model, p.After
		if p.StandsOn != nil {
			a.StandsOn.All(*p.StandsOn)
		}
	}
	if err := tx.Err(); err != nil {
		return err
	}
	for _, of := range slices.Sorted(maps.Keys(answers)) {
		id, answerID, _ := strings.Cut(of, "/")
		if err := deleteParts(tx, of+"/"); err != nil {
			return err
		}
		c, err := Conversations.Get(tx, id)
		if err != nil {
			return err
		}
		if c == nil {
			continue
		}
		d := answers[of].draft(answerID)
		d.after = after[of]
		if d.Private, err = s.hides(tx, answers[of], d.Private); err != nil {
			return err
		}
		_, err = s.add(tx, c, &d, false, s.now(tx))
		if fault.KindOf(err) == fault.Limit {
			if err := DeleteTrace(tx, id, answerID); err != nil {
				return err
			}
			continue // its conversation has become full meanwhile, and the store is to open
		}
		if err != nil {
			return err
		}
		if err := Conversations.Put(tx, c.ID, c); err != nil {
			return err
		}
	}
	return nil
}

// anyParts reports whether an answer was being given when the daemon ended.
func anyParts(tx *kv.Tx) bool {
	for range parts.All(tx, "") {
		return true
	}
	return false
}
