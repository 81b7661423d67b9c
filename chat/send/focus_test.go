package send_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures/provider"
	"github.com/ctxd/ctxd/notes"
)

const (
	hivesID = "11111111-1111-4111-8111-111111111111"
	honeyID = "22222222-2222-4222-8222-222222222222"
	waxID   = "33333333-3333-4333-8333-333333333333"
	annID   = "44444444-4444-4444-8444-444444444444"
)

// apiary is a house with three notes and a person.
func apiary(t testing.TB) *house {
	t.Helper()
	h := open(t)
	h.note(notes.Draft{ID: hivesID, Title: "Hives", Body: "Bees live in hives. They winter in a cluster."})
	h.note(notes.Draft{ID: honeyID, Title: "Honey", Body: "Honey is made of nectar."})
	h.note(notes.Draft{ID: waxID, Title: "Wax", Body: "Wax melts at 62 degrees."})
	_, _, err := h.ents.PutType(context.Background(), entities.Type{Name: "Person", Fields: []entities.Field{{Name: "role", Type: record.Text}}}, nil, false)
	must(t, err)
	_, err = h.ents.Put(context.Background(), entities.Entity{ID: annID, Type: "Person", Name: "Ann Beck", Fields: entities.Values{"role": "Keeper"}}, nil)
	must(t, err)
	return h
}

// whyOf are the reasons of the items of a report, by their ids.
func whyOf(r *prompt.Report) map[string]string {
	why := make(map[string]string)
	for _, s := range r.Sections {
		for _, item := range s.Items {
			why[item.ID] = item.Reason
		}
	}
	return why
}

func (h *house) wantWhy(res *turn.ChatSent, id, want string) {
	h.t.Helper()
	if got := whyOf(res.Report)[id]; got != want {
		h.t.Errorf("%s is in the prompt since %q, want %q", id, got, want)
	}
}

// say sends a message of a conversation without searches.
func (h *house) say(id, text string) *turn.ChatSent {
	h.t.Helper()
	return h.send(turn.ChatSend{ConversationID: id, Text: text, SearchNotes: ptr(0), Memories: ptr(0)})
}

// TestCTX41_AChatDoesNotForget: what a message named by ids, what a tool read and what the answer cited.
func TestCTX41_AChatDoesNotForget(t *testing.T) {
	h := apiary(t)
	h.far.says(func(r *provider.Request, to *provider.Reply) {
		if r.N == 1 {
			to.Call("read_note", fmt.Sprintf(`{"id":%q}`, honeyID))
			return
		}
		to.Text("Yes.")
	})
	first := h.send(turn.ChatSend{
		Text: "What of her hives?", MentionedNoteIDs: []string{hivesID}, MentionedEntityIDs: []string{annID}, SearchNotes: ptr(0), Memories: ptr(0),
	})
	id := first.ConversationID
	second := h.say(id, "and why?")
	h.wantWhy(second, hivesID, "focus: named 1 turn ago")
	h.wantWhy(second, annID, "focus: named 1 turn ago")
	h.wantWhy(second, honeyID, "focus: read 1 turn ago")
	if body := h.far.last(t).Body; !strings.Contains(body, "Bees live in hives") || !strings.Contains(body, "Keeper") || !strings.Contains(body, "made of nectar") {
		t.Errorf("the model was not given it: %s", body)
	}
	// It is no reference of this answer, which did not use it, and so does not stay for ever.
	if len(second.References) > 0 && slices.ContainsFunc(second.References, func(r record.ChatReference) bool { return r.Used || r.Type == record.ReferDirect }) {
		t.Errorf("the answer is said to stand on %+v", second.References)
	}
	for turns := 2; turns <= prompt.FocusTurns; turns++ {
		h.wantWhy(h.say(id, "and why?"), hivesID, fmt.Sprintf("focus: named %d turns ago", turns))
	}
	h.wantWhy(h.say(id, "and why?"), hivesID, "")
	// An answer that cites it has it stay.
	h.far.says(func(_ *provider.Request, to *provider.Reply) { to.Text("As [[Wax]] and @Ann Beck say.") })
	h.say(id, "so what?")
	last := h.say(id, "and then?")
	h.wantWhy(last, waxID, "focus: cited 1 turn ago")
	h.wantWhy(last, annID, "focus: cited 1 turn ago")
	inspected := h.inspect(h.local, id, 0)
	if !slices.ContainsFunc(inspected.Trace.References, func(r turn.ChatTraceRef) bool { return r.ID == annID && r.Origin == turn.OriginFocus }) {
		t.Errorf("chat.inspect says %+v", inspected.Trace.References)
	}
}

// TestCTX41_ABranchHasItsOwnFocus: what was said on another branch is not what this one is about.
func TestCTX41_ABranchHasItsOwnFocus(t *testing.T) {
	h := apiary(t)
	first := h.say("", "What of [[Hives]]?")
	id := first.ConversationID
	second := h.say(id, "Tell me about [[Wax]]")
	third := h.say(id, "and why?")
	h.wantWhy(third, waxID, "focus: named 1 turn ago")
	instead := turn.ChatSend{ConversationID: id, Replaces: second.UserMessage.ID, Text: "and why?", SearchNotes: ptr(0), Memories: ptr(0)}
	res := h.send(instead)
	h.wantWhy(res, hivesID, "focus: named 1 turn ago")
	h.wantWhy(res, waxID, "")
	res = h.send(turn.ChatSend{ConversationID: id, ParentID: third.AssistantMessage.ID, Text: "and how?", SearchNotes: ptr(0), Memories: ptr(0)})
	h.wantWhy(res, waxID, "focus: named 2 turns ago")
	h.wantWhy(res, hivesID, "")
	res = h.send(turn.ChatSend{ConversationID: id, Regenerate: third.AssistantMessage.ID, SearchNotes: ptr(0), Memories: ptr(0)})
	h.wantWhy(res, waxID, "focus: named 1 turn ago")
}

// assembled is a prompt of context.assemble.
func (h *house) assembled(reader audience.Reader, p prompt.Params) *prompt.Result {
	h.t.Helper()
	v := h.seen.View(reader)
	res, err := h.sending.Prompts.Assemble(context.Background(), gather.Readers{Prompt: v, Report: v}, p)
	must(h.t, err)
	return res
}

// TestCTX41_AHistoryOfTheClientIsTheSame as the conversation that is stored.
func TestCTX41_AHistoryOfTheClientIsTheSame(t *testing.T) {
	h := apiary(t)
	h.note(notes.Draft{ID: "secret", Title: "Secret", Body: "Canary.", Private: true})
	for _, texts := range [][]string{
		{"What of [[Hives]] and @Ann Beck?", "They winter.", "and why?", "See [[Honey]]."},
		{"What of [[Secret]] and [[Hives]]?", "Canary."},
		{"What does wax do?", "It melts."},
		{"What of [[Hives]]?", "Yes.", "What of [[Wax]]?", "It melts.", "thanks", "Gladly."},
		{"What of [[Hives]]?", "Yes.", "why?", "So.", "why?", "So.", "why?", "So.", "why?", "So.", "why?", "So.", "why?", "So.", "why?", "So.", "why?", "So."},
	} {
		var said []prompt.HistoryMessage
		id := ""
		for i, text := range texts {
			d := user(text)
			if i%2 == 1 {
				d = answer(text)
			}
			said = append(said, prompt.HistoryMessage{Role: d.Role, Text: text})
			id = h.append(id, d)
		}
		for _, reader := range []audience.Reader{audience.Local, audience.Remote} {
			for _, text := range []string{"and how?", "compare it with [[Wax]]", "thanks", "What does @Ann Beck do?"} {
				p := prompt.Params{Text: text, SearchNotes: 3}
				p.ConversationID = id
				stored := h.assembled(reader, p)
				p.ConversationID, p.History = "", said
				sent := h.assembled(reader, p)
				if stored.System != sent.System || stored.Report.Query != sent.Report.Query {
					t.Errorf("%s, %q after %.80q: the conversation gives (%q)\n%s\nthe history (%q)\n%s", reader, text, texts, stored.Report.Query, stored.System, sent.Report.Query, sent.System)
				}
				if reader == audience.Remote && strings.Contains(stored.System+stored.Report.Query, "Secret") {
					t.Errorf("a private name got out: %q\n%s", stored.Report.Query, stored.System)
				}
			}
		}
	}
}

// TestCTX41_WhatChangesMeanwhile: what was renamed is there under its name, what was deleted or became private is not.
func TestCTX41_WhatChangesMeanwhile(t *testing.T) {
	h := apiary(t)
	id := h.say("", "What of [[Hives]], [[Honey]], [[Wax]] and @Ann Beck?").ConversationID
	h.note(notes.Draft{ID: hivesID, Title: "Beehives", Body: "Bees live in hives. They winter in a cluster."})
	_, err := h.notes.Delete(t.Context(), honeyID, nil)
	must(t, err)
	h.note(notes.Draft{ID: waxID, Title: "Wax", Body: "Wax melts at 62 degrees.", Private: true})
	_, err = h.ents.Put(t.Context(), entities.Entity{ID: annID, Type: "Person", Name: "Bea Stern", Fields: entities.Values{"role": "Keeper"}}, nil)
	must(t, err)
	res := h.send(turn.ChatSend{ConversationID: id, Text: "and why?"})
	h.wantWhy(res, hivesID, "focus: named 1 turn ago")
	h.wantWhy(res, annID, "focus: named 1 turn ago")
	h.wantWhy(res, honeyID, "")
	h.wantWhy(res, waxID, "")
	if q := res.Report.Query; !strings.Contains(q, "Beehives") || !strings.Contains(q, "Bea Stern") || strings.Contains(q, "Wax") || strings.Contains(q, "Honey") {
		t.Errorf("searched for %q", q)
	}
	if body := h.far.last(t).Body; strings.Contains(body, "62 degrees") {
		t.Errorf("a remote model was given what became private: %s", body)
	}
	near := h.send(turn.ChatSend{ConversationID: id, Text: "and how?", Provider: "near"})
	h.wantWhy(near, waxID, "focus: named 2 turns ago")
	if !near.AssistantMessage.Private {
		t.Error("an answer that stands on a private note is not private")
	}
}

// TestCTX41_APrivateConversationIsNotToldOthers, nor a private message of a public one.
func TestCTX41_APrivateMessageIsNotToldOthers(t *testing.T) {
	h := apiary(t)
	id := h.append("", user("What of [[Honey]]?"), answer("Sweet."))
	secret := user("Tell me about [[Hives]] in the zanzibar affair")
	secret.Private = true
	h.append(id, secret)
	p := prompt.Params{Text: "and why?", SearchNotes: 3, ConversationID: id}
	remote, local := h.assembled(audience.Remote, p), h.assembled(audience.Local, p)
	if why := whyOf(&remote.Report); why[hivesID] != "" || strings.Contains(remote.Report.Query, "Hives") || why[honeyID] != "focus: named 1 turn ago" {
		t.Errorf("a remote reader has %v and the query %q", why, remote.Report.Query)
	}
	if why := whyOf(&local.Report); why[hivesID] != "focus: named 1 turn ago" || why[honeyID] != "" {
		t.Errorf("a local reader has %v", why)
	}
	if none := h.assembled(audience.Remote, prompt.Params{Text: "and why?", ConversationID: "nobody"}); len(none.Report.Sections) != 0 {
		t.Errorf("%+v", none.Report.Sections)
	}
}
