package chat_test

import (
	"context"
	"testing"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// TestPRIV13_AMemoryThatBecomesPrivateWhileItsAnswerIsAppended: what is looked at before the transaction is looked at in it once
// more.
func TestPRIV13_AMemoryThatBecomesPrivateWhileItsAnswerIsAppended(t *testing.T) {
	w := remembering(t)
	_, err := w.notes.Put(t.Context(), notes.Draft{ID: "n", Title: "N"}, nil)
	must(t, err)
	w.chat.SummariseBy(func(context.Context, *audience.View, string) (string, string, error) { // before the transaction
		w.memories = "m1"
		return "", "", nil
	})
	answer := chat.Draft{Role: record.RoleAssistant, Content: "As [[N]] says."}
	said := w.say(w.local, chat.AppendRequest{Messages: []chat.Draft{user("What?"), answer}, MemoryIDs: []string{"m1"}})
	if page := w.page(w.remote, said.ConversationID, 0, 10); len(page.Messages) != 1 {
		t.Errorf("a remote reader sees %d messages", len(page.Messages))
	}
}

// TestPRIV13_AConversationThatAnotherMachineHides: an answer that is being given here is private with it, as far as it stands
// on a message of it.
func TestPRIV13_AConversationThatAnotherMachineHides(t *testing.T) {
	w := remembering(t)
	source := w.say(w.local, chat.AppendRequest{Messages: []chat.Draft{user("The harbour is full.")}})
	for _, private := range []bool{true, false} {
		turn, err := w.chat.Ask(t.Context(), w.local, chat.Question{Content: "What of the harbour?"})
		must(t, err)
		must(t, w.db.Update(t.Context(), func(tx *kv.Tx) error { // what comes here of its transaction
			c, err := chat.Conversations.Get(tx, source.ConversationID)
			if err != nil {
				return err
			}
			c.Private = private
			return chat.Conversations.Put(tx, c.ID, c)
		}))
		var on record.StandsOn
		on.Message(source.Messages[0].ID)
		hidden, err := w.chat.Hidden(t.Context(), turn, on)
		must(t, err)
		m, err := w.chat.Answered(t.Context(), w.local, turn, &chat.Answer{Content: "It is full.", StandsOn: on})
		must(t, err)
		if hidden != private || m.Private != private {
			t.Errorf("private %v: the answer is hidden %v, stored as private %v", private, hidden, m.Private)
		}
	}
}
