package learn

import (
	"context"
	"strings"

	"github.com/ctxd/ctxd/entities/kv"
)

// OutcomeChange reports whether a change of the store is one of the outcome of an answer, and returns it: "" where nobody has
// told of it, or no longer.
func OutcomeChange(ch kv.Change) (conversationID, messageID, outcome string, ok bool) {
	_, now, ok := answers.Of(ch)
	if !ok {
		return "", "", "", false
	}
	conversationID, messageID, _ = strings.Cut(ch.ID, "/")
	if now != nil {
		outcome = now.Outcome
	}
	return conversationID, messageID, outcome, true
}

// AllOutcomes returns a function that gives all answers of a store of which somebody has told how they went. O(answers that used
// memories).
func AllOutcomes(db *kv.Store) func(ctx context.Context, visit func(conversationID, messageID, outcome string)) error {
	return func(ctx context.Context, visit func(conversationID, messageID, outcome string)) error {
		return db.View(ctx, func(tx *kv.Tx) error {
			for key, a := range answers.All(tx, "") {
				if conversation, message, _ := strings.Cut(key, "/"); a.Outcome != "" {
					visit(conversation, message, a.Outcome)
				}
			}
			return tx.Err()
		})
	}
}
