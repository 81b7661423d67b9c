package send_test

import (
	"strings"
	"testing"

	"github.com/ctxd/ctxd/chat/send"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
)

// TestMEM50_AModelIsToAskHowItWent: where that is configured, and while nobody has told.
func TestMEM50_AModelIsToAskHowItWent(t *testing.T) {
	for _, unscored := range []bool{true, false} {
		h := open(t)
		h.sending.Unscored = func(_ *audience.View, conversationID string) bool { return unscored && conversationID != "" }
		h.pipe = send.New(h.sending)
		_, err := h.pipe.Send(t.Context(), h.local, turn.ChatSend{Text: "Hello"}, &heard{})
		must(t, err)
		if got := strings.Contains(h.far.last(t).Body, "whether the last answer helped"); got != unscored {
			t.Errorf("unscored %v: the model is to ask %v", unscored, got)
		}
	}
}
