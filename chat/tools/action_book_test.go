package tools_test

import (
	"testing"

	"github.com/ctxd/ctxd/chat/tools"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// TestPRIV5_AFileIsReadByTheClientOfALocalReader: nothing is done here, and for a remote reader nothing is proposed.
func TestPRIV5_AFileIsReadByTheClientOfALocalReader(t *testing.T) {
	w := open(t)
	args := tools.BookArgs{Path: " ~/no such file.pdf ", ConversationID: "c"}
	p, _, err := tools.ProposeAction(t.Context(), tools.ActionEnv{View: w.local}, record.ProposeBook, args, "/book")
	w.must(err)
	if string(p.Args) != `{"path":"~/no such file.pdf","conversationId":"c"}` {
		t.Errorf("%s", p.Args)
	}
	done, err := tools.PrepareAction(t.Context(), tools.ActionEnv{View: w.local}, tools.ActionRequest{Type: record.ProposeBook, Args: p.Args})
	w.must(err)
	if !done.ForClient() {
		t.Error("the daemon does it")
	}
	for _, r := range []tools.ActionRequest{{Type: record.ProposeBook, Args: p.Args}, {Type: record.ProposeBook, Args: p.Args, Seen: true}} {
		if _, err := tools.PrepareAction(t.Context(), tools.ActionEnv{View: w.remote}, r); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("for a remote reader: %v", err)
		}
	}
	for _, path := range []string{"a\nb", "a\x00b"} {
		if _, _, err := tools.ProposeAction(t.Context(), tools.ActionEnv{View: w.local}, record.ProposeBook, tools.BookArgs{Path: path}, ""); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: %v", path, err)
		}
	}
}
