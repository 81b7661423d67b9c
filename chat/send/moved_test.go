package send_test

import (
	"strings"
	"testing"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// moved is a conversation in which the local model answered, with a private note and a private memory pinned.
func moved(t *testing.T) (h *house, id string) {
	t.Helper()
	h = open(t)
	h.secrets()
	h.near.says(gossip)
	id = h.send(turn.ChatSend{Text: "hello", Provider: "near"}).ConversationID
	_, err := h.chat.Update(t.Context(), h.local, id, chat.Change{Settings: chat.Settings{
		PinnedMemories: &[]string{"mem1", "pubmem"}, PinnedNotes: &[]string{"hidden"},
	}})
	must(t, err)
	return h, id
}

// TestCHAT48_WhatAProviderIsNotGivenIsToldBeforeItAnswers: what is private of a conversation that moves from a local provider to
// one that is not is named to the person before that is asked, once, and remote readers see no trace of it.
func TestCHAT48_WhatAProviderIsNotGivenIsToldBeforeItAnswers(t *testing.T) {
	h, id := moved(t)
	l := &heard{before: func() {
		if n := len(h.far.asked()); n > 0 {
			t.Errorf("the provider was asked %d times before", n)
		}
	}}
	res, err := h.pipe.Send(t.Context(), h.local, turn.ChatSend{ConversationID: id, Text: "and?", Provider: "far", ClientMessageID: "c1"}, l)
	must(t, err)
	if len(l.locals) != 1 {
		t.Fatalf("local readers are told %+v", l.locals)
	}
	d := l.locals[0]
	if d.Seq != 0 || d.Type != turn.Warning || d.ClientMessage != "c1" || d.MessageID != res.AssistantMessage.ID || d.Data.Warning.About != record.AboutPrivate {
		t.Errorf("told %+v", d)
	}
	for _, want := range []string{"near answered before and is local; far is not", "1 earlier message", "[[Zqtitle Plan]]", "memory #"} {
		if !strings.Contains(d.Data.Warning.Message, want) {
			t.Errorf("not said that %q: %s", want, d.Data.Warning.Message)
		}
	}
	for i, d := range l.deltas {
		if d.Type == turn.Warning || d.Seq != i+1 {
			t.Errorf("all readers get %+v", d)
		}
	}
	h.wantNoCanary("moved")
	if !warned(res.Warnings, record.AboutPrivate) || !warned(h.said(h.local, id)[3].Warnings, record.AboutPrivate) {
		t.Error("the warning is not kept")
	}
	for _, m := range h.said(h.remote, id) {
		if len(m.Warnings) > 0 {
			t.Errorf("a remote reader is warned of %+v", m.Warnings)
		}
	}
	l = &heard{}
	_, err = h.pipe.Send(t.Context(), h.local, turn.ChatSend{ConversationID: id, Text: "more?", Provider: "far"}, l)
	must(t, err)
	if len(l.locals) > 0 {
		t.Errorf("told again: %+v", l.locals)
	}
	h.send(turn.ChatSend{ConversationID: id, Text: "and here?", Provider: "near"})
	l = &heard{}
	_, err = h.pipe.Send(t.Context(), h.local, turn.ChatSend{ConversationID: id, Text: "and there?", Provider: "far"}, l)
	must(t, err)
	if len(l.locals) != 1 || !strings.Contains(l.locals[0].Data.Warning.Message, "2 earlier messages") {
		t.Errorf("after it came back: %+v", l.locals)
	}
}

// TestCHAT48_NothingIsToldWhereNothingIsLeftOut: neither of a conversation without anything private, nor by a provider that is
// local too, nor to a remote asker.
func TestCHAT48_NothingIsToldWhereNothingIsLeftOut(t *testing.T) {
	h := open(t)
	h.near.says(quiet)
	first := h.send(turn.ChatSend{Text: "hello", Provider: "near"})
	l := &heard{}
	res, err := h.pipe.Send(t.Context(), h.local, turn.ChatSend{ConversationID: first.ConversationID, Text: "and?", Provider: "far"}, l)
	must(t, err)
	if len(l.locals) > 0 || len(res.Warnings) > 0 {
		t.Errorf("told %+v, %+v", l.locals, res.Warnings)
	}
	h, id := moved(t)
	l = &heard{}
	_, err = h.pipe.Send(t.Context(), h.local, turn.ChatSend{ConversationID: id, Text: "and?", Provider: "near"}, l)
	must(t, err)
	_, err = h.pipe.Send(t.Context(), h.remote, turn.ChatSend{ConversationID: id, Text: "and there?", Provider: "far"}, l)
	must(t, err)
	if len(l.locals) > 0 {
		t.Errorf("told %+v", l.locals)
	}
}

// TestCHAT48_APrivateConversationDoesNotMove: it is refused, with what to do, before anything is stored or asked.
func TestCHAT48_APrivateConversationDoesNotMove(t *testing.T) {
	h, id := moved(t)
	on := true
	_, err := h.chat.Update(t.Context(), h.local, id, chat.Change{Settings: chat.Settings{Private: &on}})
	must(t, err)
	before, asked := h.db.Seq(), len(h.far.asked())
	h.fails(turn.ChatSend{ConversationID: id, Text: "and?", Provider: "far"}, fault.Invalid, "provider")
	if h.db.Seq() != before || len(h.far.asked()) != asked {
		t.Error("something was stored, or the provider was asked")
	}
}
