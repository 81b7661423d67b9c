package action_test

import (
	"testing"

	"github.com/ctxd/ctxd/chat/action"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// TestPRIV5_AFileIsReadByTheClientOfALocalReader: nothing is done here, and for a remote reader nothing is proposed.
func TestPRIV5_AFileIsReadByTheClientOfALocalReader(t *testing.T) {
	w := open(t)
	args := action.BookArgs{Path: " ~/no such file.pdf ", ConversationID: "c"}
	p, _, err := action.Propose(t.Context(), action.Env{View: w.local}, record.ProposeBook, args, "/book")
	w.must(err)
	if string(p.Args) != `{"path":"~/no such file.pdf","conversationId":"c"}` {
		t.Errorf("%s", p.Args)
	}
	done, err := action.Prepare(t.Context(), action.Env{View: w.local}, action.Request{Type: record.ProposeBook, Args: p.Args})
	w.must(err)
	if !done.ForClient() {
		t.Error("the daemon does it")
	}
	for _, r := range []action.Request{{Type: record.ProposeBook, Args: p.Args}, {Type: record.ProposeBook, Args: p.Args, Seen: true}} {
		if _, err := action.Prepare(t.Context(), action.Env{View: w.remote}, r); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("for a remote reader: %v", err)
		}
	}
	for _, path := range []string{"a\nb", "a\x00b"} {
		if _, _, err := action.Propose(t.Context(), action.Env{View: w.local}, record.ProposeBook, action.BookArgs{Path: path}, ""); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: %v", path, err)
		}
	}
}
