package tools_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/tools"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// remembered is what is remembered and found, as a list of statements with their status.
func (w *deciderWorld) remembered() string {
	w.Helper()
	list, _, _, err := w.memory.List(w.Context(), w.local, memory.Filter{Status: record.MemoryStatuses}, nil, 100)
	must(w, err)
	var all []string
	for _, m := range list {
		s := m.Statement + " " + m.Status
		if m.Private {
			s += " private"
		}
		all = append(all, s)
	}
	return strings.Join(all, ", ")
}

func (w *deciderWorld) add(d memory.Draft) *record.Memory {
	w.Helper()
	list, err := w.memory.Add(w.Context(), w.local, []memory.Draft{d})
	must(w, err)
	return list[0].Memory
}

// TestCHAT21_WhatIsRememberedOnceConfirmed is written down once, with where it was said, and is private where that is.
func TestCHAT21_WhatIsRememberedOnceConfirmed(t *testing.T) {
	for _, private := range []bool{false, true} {
		w := openDecider(t)
		turn, err := w.chat.Ask(t.Context(), w.local, chat.Question{Content: "/goal Run a marathon", Private: private})
		must(w, err)
		id, _ := w.proposed("remember", tools.RememberArgs{
			Statement: "Run a marathon", Kind: "goal", ConversationID: turn.Conversation.ID, MessageID: turn.Question.ID,
		}, private)
		if got := w.remembered(); got != "" {
			t.Errorf("before: %s", got)
		}
		for repeat := range 2 {
			got, err := w.decider.Confirm(t.Context(), w.local, id, nil)
			must(w, err)
			if got.Repeat != (repeat == 1) || got.Action.Status != record.ActionConfirmed || got.Action.ForClient {
				t.Errorf("%+v", got)
			}
		}
		want := "Run a marathon active"
		if private {
			want += " private"
		}
		if got := w.remembered(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		m, err := w.memory.Get(w.local, "1")
		must(w, err)
		if m.Kind != "goal" || m.Source.Kind != "user" || m.Source.ConversationID != turn.Conversation.ID || m.Source.MessageIDs[0] != turn.Question.ID {
			t.Errorf("%+v", m)
		}
		// The number that was given is free for nobody else, and the next one is.
		if next := w.add(memory.Draft{Statement: "I like tea"}); next.Number != 2 {
			t.Errorf("the next has the number %d", next.Number)
		}
		w.sound()
	}
}

// TestCHAT21_WhatIsSaidOtherwiseWhenItIsConfirmed: args stand in the place of what was proposed, and are checked.
func TestCHAT21_WhatIsSaidOtherwiseWhenItIsConfirmed(t *testing.T) {
	w := openDecider(t)
	id, _ := w.proposed("remember", tools.RememberArgs{Statement: "I like tee"}, false)
	_, err := w.decider.Confirm(t.Context(), w.local, id, map[string]any{"statement": " "})
	if f := faultOf(t, err); f.Kind != fault.Invalid || f.Field != "args.statement" {
		t.Errorf("%+v", f)
	}
	_, err = w.decider.Confirm(t.Context(), w.local, id, map[string]any{"conversationId": "none"})
	if f := faultOf(t, err); f.Kind != fault.NotFound {
		t.Errorf("%+v", f)
	}
	if got := w.remembered(); got != "" {
		t.Errorf("remembered: %s", got)
	}
	_, err = w.decider.Confirm(t.Context(), w.local, id, map[string]any{"statement": "I like tea"})
	must(w, err)
	if got := w.remembered(); got != "I like tea active" {
		t.Errorf("remembered: %s", got)
	}
}

// TestCHAT21_AMemoryThatIsPutAway is archived in the version that was looked at; one that has changed since is not.
func TestCHAT21_AMemoryThatIsPutAway(t *testing.T) {
	w := openDecider(t)
	m := w.add(memory.Draft{Statement: "I live in Rome"})
	id, _ := w.proposed("forget", tools.ForgetArgs{MemoryID: m.ID}, false)
	if got := w.shown(w.local, id); got.Args["statement"] != "I live in Rome" || got.Version != 1 {
		t.Errorf("%+v", got)
	}
	statement := "I live in Paris"
	_, err := w.memory.Update(t.Context(), w.local, memory.Patch{ID: m.ID, Statement: &statement}, nil)
	must(w, err)
	_, err = w.decider.Confirm(t.Context(), w.local, id, nil)
	if f := faultOf(t, err); f.Kind != fault.Conflict || f.Ref != m.ID || w.remembered() != "I live in Paris active" {
		t.Errorf("%+v, %s", f, w.remembered())
	}
	_, err = w.decider.Confirm(t.Context(), w.local, id, map[string]any{})
	must(w, err)
	if got := w.remembered(); got != "I live in Paris archived" {
		t.Errorf("remembered: %s", got)
	}
	// One that is archived already is confirmed, and one that is gone fails.
	id, _ = w.proposed("forget", tools.ForgetArgs{MemoryID: w.add(memory.Draft{Statement: "a"}).ID}, false)
	other, _ := w.proposed("forget", tools.ForgetArgs{MemoryID: w.add(memory.Draft{Statement: "b"}).ID}, false)
	_, err = w.memory.Archive(t.Context(), w.local, w.shown(w.local, id).Args["memoryId"].(string), nil)
	must(w, err)
	must(w, w.memory.Delete(t.Context(), w.local, w.shown(w.local, other).Args["memoryId"].(string), true, nil))
	got, err := w.decider.Confirm(t.Context(), w.local, id, map[string]any{})
	must(w, err)
	if got.Action.Status != record.ActionConfirmed || got.Action.ForClient {
		t.Errorf("%+v", got.Action)
	}
	got, err = w.decider.Confirm(t.Context(), w.local, other, nil)
	must(w, err)
	if got.Action.Status != record.ActionFailed || !strings.Contains(got.Action.Failure, "memory") {
		t.Errorf("%+v", got.Action)
	}
}

// TestCHAT21_WhatIsPinnedOnceConfirmed stands among the pins of the conversation, behind those that are there, once.
func TestCHAT21_WhatIsPinnedOnceConfirmed(t *testing.T) {
	w := openDecider(t)
	m := w.add(memory.Draft{Statement: "I like tea"})
	_, err := w.notes.Put(t.Context(), notes.Draft{ID: "roof", Title: "Roof", Body: "Tar"}, nil)
	must(w, err)
	turn, err := w.chat.Ask(t.Context(), w.local, chat.Question{Content: "/pin Roof"})
	must(w, err)
	at := turn.Conversation.ID
	for _, args := range []tools.PinArgs{{ConversationID: at, MemoryID: m.ID}, {ConversationID: at, NoteID: "roof"}, {ConversationID: at, NoteID: "roof"}} {
		id, _ := w.proposed("pin", args, false)
		_, err := w.decider.Confirm(t.Context(), w.local, id, nil)
		must(w, err)
	}
	c, err := w.chat.Get(t.Context(), w.local, at)
	must(w, err)
	if len(c.PinnedNoteIDs) != 1 || c.PinnedNoteIDs[0] != "roof" || len(c.PinnedMemoryIDs) != 1 || c.PinnedMemoryIDs[0] != m.ID || c.Version != 3 {
		t.Errorf("%+v", c)
	}
	// In the conversation that proposes it, too.
	own, of := w.proposed("pin", tools.PinArgs{ConversationID: at, NoteID: "roof"}, false)
	_, err = w.decider.Confirm(t.Context(), w.local, own, map[string]any{"conversationId": of})
	must(t, err)
	if c, err := w.chat.Get(t.Context(), w.local, of); err != nil || len(c.PinnedNoteIDs) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	id, _ := w.proposed("pin", tools.PinArgs{ConversationID: "none", NoteID: "roof"}, false)
	if _, err = w.decider.Confirm(t.Context(), w.local, id, nil); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a conversation that there is not: %v", err)
	}
	for _, args := range []tools.PinArgs{{ConversationID: at}, {ConversationID: at, NoteID: "none"}, {ConversationID: at, MemoryID: "none"}, {ConversationID: at, NoteID: "roof", MemoryID: m.ID}} {
		if _, _, err := tools.ProposeAction(t.Context(), tools.ActionEnv{View: w.local, ActionDeps: w.proposing}, "pin", args, ""); err == nil {
			t.Errorf("%+v is proposed", args)
		}
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
