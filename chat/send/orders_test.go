package send_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures/provider"
	"github.com/ctxd/ctxd/notes"
)

// proposes writes what an answer proposes: type and the arg that says what.
func proposes(list []record.ChatAction) string {
	var all []string
	for _, a := range list {
		s := a.Type
		for _, arg := range []string{"kind", "statement", "label", "query"} {
			if v, ok := a.Args[arg].(string); ok {
				s += " " + v
			}
		}
		all = append(all, s)
	}
	return strings.Join(all, "; ")
}

// TestMEM78_CommandsAskNoModel: a message of commands alone is answered with what is proposed, and nothing else happens.
func TestMEM78_CommandsAskNoModel(t *testing.T) {
	h := open(t)
	_, err := h.memory.Add(context.Background(), h.local, []memory.Draft{{Statement: "I live in Rome, near the station"}})
	must(t, err)
	h.note(notes.Draft{ID: "pack", Title: "Packing list", Body: "Socks"})
	res := h.send(turn.ChatSend{Text: "/remember I like **tea**\n/goal run; /forget #1\n/pin [[Packing list]]\n/search roof"})
	const want = "remember fact I like **tea**; remember goal run; forget I live in Rome, near the station; pin Packing list; search roof"
	if got := proposes(res.Actions); got != want {
		t.Errorf("proposed %s", got)
	}
	if len(h.far.asked())+len(h.near.asked()) > 0 || res.Report != nil || len(res.Warnings) > 0 || res.AssistantMessage.Finish != record.FinishComplete {
		t.Errorf("%+v, %+v", res.AssistantMessage, res.Warnings)
	}
	for _, line := range []string{"before you confirm", "\n- remember: I like", "\n- remember (goal): run", "\n- put away: I live in Rome", "\n- pin in this conversation: Packing list", "\n- search the notes: roof"} {
		if !strings.Contains(res.Content, line) {
			t.Errorf("the answer does not say %q:\n%s", line, res.Content)
		}
	}
	list, _, _, err := h.memory.List(context.Background(), h.local, memory.Filter{}, nil, 10)
	must(t, err)
	if len(list) != 1 {
		t.Errorf("%d memories", len(list))
	}
	decider := h.decider()
	for _, a := range res.Actions {
		got, err := decider.Confirm(context.Background(), h.local, a.ID, nil)
		must(t, err)
		if got.Action.Status != record.ActionConfirmed || got.Action.ForClient != (a.Type == record.ProposeSearch) {
			t.Errorf("%+v", got.Action)
		}
	}
	m, err := h.memory.Get(h.local, "#2")
	must(t, err)
	if m.Statement != "I like **tea**" || m.Source.ConversationID != res.ConversationID || m.Source.MessageIDs[0] != res.UserMessage.ID {
		t.Errorf("%+v", m)
	}
	if was, err := h.memory.Get(h.local, "1"); err != nil || was.Status != record.MemoryArchived {
		t.Errorf("%+v, %v", was, err)
	}
	// The model hears of it with the next message.
	h.far.says(func(_ *provider.Request, to *provider.Reply) { to.Text("Yes.") })
	h.send(turn.ChatSend{ConversationID: res.ConversationID, Text: "What do I like?"})
	told := h.far.last(t).Last()
	if !strings.Contains(told, `"I like **tea**"`) || !strings.Contains(told, "the user confirmed it, and it is done") {
		t.Errorf("the model is told %q", told)
	}
}

// TestMEM78_WordsAreProposedAndAnswered: what is ordered in words is proposed, the model answers, and it is told that
// nothing has changed.
func TestMEM78_WordsAreProposedAndAnswered(t *testing.T) {
	h := open(t)
	h.far.says(func(_ *provider.Request, to *provider.Reply) { to.Text("Soup.") })
	res := h.send(turn.ChatSend{Text: "Remember that I eat no meat. What can I cook?"})
	if got := proposes(res.Actions); got != "remember fact I eat no meat." || res.Content != "Soup." || res.Report == nil {
		t.Errorf("%s, %q", got, res.Content)
	}
	if told := h.far.last(t).Last(); !strings.HasSuffix(told, "Remember that I eat no meat. What can I cook?") || !strings.Contains(told, "- remember: it waits for the user") {
		t.Errorf("the model is told %q", told)
	}
	if got := res.Actions[0].Reason; got != "Remember that I eat no meat." {
		t.Errorf("the reason is %q", got)
	}
	// Who wants none of it is not bothered.
	no := false
	if res := h.send(turn.ChatSend{Text: "/remember I eat no meat", Intents: &no}); len(res.Actions) > 0 || res.Content != "Soup." {
		t.Errorf("%+v", res)
	}
}

// TestMEM78_WhatCannotBeProposed is a warning that says what would be right.
func TestMEM78_WhatCannotBeProposed(t *testing.T) {
	h := open(t)
	for _, tc := range []struct{ text, about, says string }{
		{"/remember", "remember", "/remember STATEMENT"},
		{"/forget #77", "forget", "no memory"},
		{"/forget what nobody ever said about giraffes", "forget", "no memory"},
		{"/pin [[No such note]]", "pin", ""},
		{"/book", "book", "/book FILE"},
		{"/remember user: hi\nassistant: hello", "remember", "exchange"},
		{strings.Repeat("/search x\n", 25), "intents", "25"},
	} {
		res := h.send(turn.ChatSend{Text: tc.text})
		if tc.about != "intents" && (len(res.Actions) > 0 || res.Content != "Nothing is proposed.") {
			t.Errorf("%s: %q, %s", tc.text, res.Content, proposes(res.Actions))
		}
		if !warned(res.Warnings, tc.about) || !strings.Contains(res.Warnings[0].Message, tc.says) {
			t.Errorf("%s: %+v", tc.text, res.Warnings)
		}
	}
	if len(h.far.asked()) > 0 {
		t.Error("a model was asked")
	}
}

// TestMEM78_AProposalThatNamesAPrivateRecord makes its answer private: no remote reader follows it, or is shown it later.
func TestMEM78_AProposalThatNamesAPrivateRecord(t *testing.T) {
	h := open(t)
	_, err := h.memory.Add(context.Background(), h.local, []memory.Draft{{Statement: "zqsecret is where I live", Private: true}})
	must(t, err)
	h.far.says(func(_ *provider.Request, to *provider.Reply) { to.Text("Yes.") })
	for _, text := range []string{"/forget #1", "Well:\n/forget #1"} {
		l := &heard{}
		res, err := h.pipe.Send(context.Background(), h.local, turn.ChatSend{Text: text}, l)
		must(t, err)
		if !l.private || !res.AssistantMessage.Private || len(res.Actions) != 1 {
			t.Errorf("%s: %v, %+v", text, l.private, res.AssistantMessage)
		}
		for _, m := range h.said(h.remote, res.ConversationID) {
			if m.Role == record.RoleAssistant {
				t.Errorf("%s: a remote reader is shown %+v", text, m)
			}
		}
	}
	for _, body := range h.far.asked() {
		if strings.Contains(body, "zqsecret") {
			t.Errorf("a remote model is told of it: %s", body)
		}
	}
	// For a remote reader there is no such memory.
	res, err := h.pipe.Send(context.Background(), h.remote, turn.ChatSend{Text: "/forget #1"}, &heard{})
	must(t, err)
	if len(res.Actions) > 0 || !warned(res.Warnings, "forget") {
		t.Errorf("%+v", res)
	}
}

// TestMEM78_CommandsOfAPrivateMessage need no local model, since none is asked.
func TestMEM78_CommandsOfAPrivateMessage(t *testing.T) {
	h := open(t)
	res := h.send(turn.ChatSend{Text: "/remember I like tea", Private: true})
	if !res.UserMessage.Private || !res.AssistantMessage.Private {
		t.Errorf("%+v", res)
	}
	h.fails(turn.ChatSend{Text: "Do I like tea?", Private: true}, fault.Invalid, "provider")
}

// TestMEM78_ProposalsOutliveAProviderThatFails: they are kept though nothing was answered.
func TestMEM78_ProposalsOutliveAProviderThatFails(t *testing.T) {
	h := open(t)
	h.far.says(func(_ *provider.Request, to *provider.Reply) { to.Status(401, "no") })
	_, err := h.pipe.Send(context.Background(), h.local, turn.ChatSend{Text: "Remember that I like tea."}, &heard{})
	if err == nil {
		t.Fatal("it was answered")
	}
	f := faultOf(t, err)
	said := h.said(h.local, f.Ref)
	if len(said) != 2 || proposes(said[1].Actions) != "remember fact I like tea." || said[1].Finish == record.FinishComplete {
		t.Errorf("%q: %+v", texts(said), said[len(said)-1])
	}
}

func faultOf(t *testing.T, err error) *fault.Error {
	t.Helper()
	f := new(fault.Error)
	if !errors.As(err, &f) {
		t.Fatalf("%v is no fault", err)
	}
	return f
}
