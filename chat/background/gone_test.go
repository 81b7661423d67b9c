package background_test

import (
	"testing"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures/provider"
)

// TestREL16_ATitleOfADeletedConversation is that of no other one, also where a client has made one anew with its id.
func TestREL16_ATitleOfADeletedConversation(t *testing.T) {
	w := openTitler(t, llm.Budget{})
	sent := w.answered(chat.Question{NewID: "c", Content: "Which hikes are open in May?"}, "near", chat.Answer{})
	w.does(func(_ *provider.Request, to *provider.Reply) {
		_, err := w.house.Chat.Delete(w.Context(), w.house.Local, "c")
		w.must(err)
		w.answered(chat.Question{NewID: "c", Content: "How do I bake bread?"}, "near", chat.Answer{})
		to.Text("Hikes in May")
	})
	w.titler.Do(w.Context(), w.house, sent)
	c, err := w.house.Chat.Get(w.Context(), w.house.Local, "c")
	w.must(err)
	if c.Title != "How do I bake bread?" {
		t.Errorf("it is called %q", c.Title)
	}
}

// TestREL16_FactsOfADeletedMessage are none, also where a client has made its conversation anew, and no deleted message
// waits.
func TestREL16_FactsOfADeletedMessage(t *testing.T) {
	for _, anew := range []bool{false, true} {
		h := buildExtractor(t, true)
		h.answer = `[{"statement":"The user lives in York.","kind":"fact","quote":"I live in York","confidence":"high"}]`
		x := h.extractor(h.model)
		said := h.say(x, "I live in York now.", false)
		list, _, err := h.chat.List(h.Context(), h.local, false, nil, 1)
		h.must(err)
		id := list[0].ID
		h.meanwhile = func() {
			_, err := h.chat.Delete(h.Context(), h.local, id)
			h.must(err)
			if anew {
				_, err = h.chat.Append(h.Context(), h.local, chat.AppendRequest{NewID: id, Messages: []chat.Draft{{Role: record.RoleUser, Content: "I live in Leeds."}}})
				h.must(err)
			}
		}
		added, _, err := x.Run(h.Context())
		h.must(err)
		if len(added) != 0 || h.waiting(x) != 0 {
			t.Errorf("anew %t: %q were added, %d wait", anew, added, h.waiting(x))
		}
		h.must(x.Answered(h.Context(), &turn.ChatSent{
			ConversationID: "gone", UserMessage: &record.ChatMessage{ID: said, Content: "I live in York."}, AssistantMessage: &record.ChatMessage{Finish: record.FinishComplete},
		}))
		if n := h.waiting(x); n != 0 {
			t.Errorf("%d messages of a deleted conversation wait", n)
		}
	}
}
