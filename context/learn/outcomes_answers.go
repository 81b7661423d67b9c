package learn

import (
	"context"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// answer is an answer of the chat that used memories.
type answer struct {
	At      time.Time `json:"at"`
	Outcome string    `json:"outcome,omitempty"` // empty: nobody has told
}

func answerKey(conversationID, messageID string) string { return conversationID + "/" + messageID }

// Answered notes an answer of the chat that used memories: it waits to be scored.
func (r *Scorer) Answered(ctx context.Context, v *audience.View, conversationID, messageID string, ids []string) error {
	if r.opts.Off || len(ids) == 0 {
		return nil
	}
	r.Show(v, conversationID, messageID, answered(ids).Hits)
	return r.db.Update(ctx, func(tx *kv.Tx) error {
		if there, err := r.there(tx, conversationID); err != nil || !there { // it was deleted meanwhile
			return err
		}
		key := answerKey(conversationID, messageID)
		if has, err := answers.Has(tx, key); err != nil || has {
			return err
		}
		return answers.Put(tx, key, &answer{At: tx.Now(r.opts.Now).UTC().Truncate(time.Millisecond)})
	})
}

// OutcomesOf returns the outcomes of messages of a conversation, OutcomeUnscored for an answer that used memories and
// that nobody told of; others have none. A room that is off asks for no outcome: it has none of these.
func (r *Scorer) OutcomesOf(ctx context.Context, conversationID string) (map[string]string, error) {
	out := make(map[string]string)
	err := r.db.View(ctx, func(tx *kv.Tx) error {
		prefix := conversationID + "/"
		for key, a := range answers.All(tx, prefix) {
			state := a.Outcome
			if state == "" {
				state = record.OutcomeUnscored
			}
			if r.opts.Off && state == record.OutcomeUnscored {
				continue
			}
			out[key[len(prefix):]] = state
		}
		return tx.Err()
	})
	return out, err
}

// Unscored reports whether something was shown to a reader in a conversation of which nobody has told how it went. O(1).
func (r *Scorer) Unscored(v *audience.View, conversationID string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, s := r.last(v, conversationID)
	return !r.opts.Off && s != nil && !s.Scored
}

// scoredBefore reports whether the answer that a response means was scored before.
func (r *Scorer) scoredBefore(ctx context.Context, t *target) (scored bool, err error) {
	if t.messageID == "" {
		return false, nil
	}
	err = r.db.View(ctx, func(tx *kv.Tx) error {
		a, err := answers.Get(tx, answerKey(t.conversationID, t.messageID))
		scored = a != nil && a.Outcome != ""
		return err
	})
	return scored, err
}

// mark writes that what is scored was, with the transaction that scores it.
func (w *writing) mark(tx *kv.Tx) error {
	t := w.target
	if t == nil || t.conversationID == "" || t.repeat {
		return nil
	}
	if t.messageID != "" {
		if err := w.markMessage(tx, t.conversationID, t.messageID); err != nil {
			return err
		}
	}
	for _, h := range t.hits {
		if h.Kind == HitMessages {
			if err := w.markMessage(tx, h.In, h.ID); err != nil {
				return err
			}
		}
	}
	if t.showing == nil || !w.room.holds(t) {
		return nil
	}
	return putShowing(tx, t.key, t.showing.scored())
}

// markMessage gives a message its outcome, where it has none and its conversation is there.
func (w *writing) markMessage(tx *kv.Tx, conversationID, messageID string) error {
	if there, err := w.room.there(tx, conversationID); err != nil || !there {
		return err
	}
	key := answerKey(conversationID, messageID)
	a, err := answers.Get(tx, key)
	if err != nil || a != nil && a.Outcome != "" {
		return err
	}
	if a == nil {
		a = &answer{At: tx.Now(w.room.opts.Now).UTC().Truncate(time.Millisecond)}
	}
	a.Outcome = w.effective()
	return answers.Put(tx, key, a)
}

func (s *showing) scored() *showing {
	made := *s
	made.Scored = true
	return &made
}

// holds reports whether what a response means is what was shown last.
func (r *Scorer) holds(t *target) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return t.key != "" && r.shown[t.key] == t.showing
}

// marked has the view say what mark has written.
func (w *writing) marked() {
	t := w.target
	if t == nil || t.showing == nil || t.key == "" || t.repeat {
		return
	}
	r := w.room
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shown[t.key] == t.showing {
		r.shown[t.key] = t.showing.scored()
	}
}
