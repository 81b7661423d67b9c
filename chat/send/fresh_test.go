package send_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/fixtures/provider"
	"github.com/ctxd/ctxd/notes"
)

// TestPRIV8_ARequestThatIsSentAgainIsMaskedAnew: what becomes private while a provider is busy, or while tools run, is not in
// what it is sent then: neither in the message, nor in the prompt, in what was said before or in what tools have said.
func TestPRIV8_ARequestThatIsSentAgainIsMaskedAnew(t *testing.T) {
	private := true
	for name, first := range map[string]script{
		"busy":    func(_ *provider.Request, to *provider.Reply) { to.Status(503, "busy") },
		"tools":   func(_ *provider.Request, to *provider.Reply) { to.Call("read_note", `{"id":"open"}`) },
		"refused": func(_ *provider.Request, to *provider.Reply) { to.Status(400, "tools are not supported") },
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t)
			h.note(notes.Draft{ID: "hidden", Title: "Zqtitle Plan", Body: "Zqbody has scales."})
			h.note(notes.Draft{ID: "open", Title: "Open", Body: "As [[Zqtitle Plan]] says."})
			_, _, err := h.ents.PutType(t.Context(), entities.Type{Name: "P"}, nil, false)
			must(t, err)
			_, err = h.ents.Put(t.Context(), entities.Entity{ID: "zoe", Type: "P", Name: "Zqalias"}, nil)
			must(t, err)
			id := h.append("", user("Before: [[Zqtitle Plan]]"), answer("It is @Zqalias."))
			asked := 0
			h.far.says(func(r *provider.Request, to *provider.Reply) {
				if asked++; asked == 1 && !strings.Contains(r.Body, "Zqbody") {
					t.Errorf("the first request lacks what is to be hidden: %s", r.Body)
				}
				if asked == 2 && name == "tools" && !strings.Contains(r.Body, "tool_call_id") {
					t.Errorf("no result of a tool: %s", r.Body)
				}
				if asked > 1 {
					to.Text("Yes.")
					return
				}
				_, err := h.notes.Patch(context.Background(), notes.Patch{ID: "hidden", Private: &private}, nil)
				must(t, err)
				_, err = h.ents.Patch(context.Background(), entities.Patch{ID: "zoe", Private: &private}, nil)
				must(t, err)
				first(r, to)
			})
			h.send(turn.ChatSend{
				ConversationID: id, Text: "What of [[Zqtitle Plan]], @Zqalias and [[Open]]?",
				MentionedNoteIDs: []string{"hidden"}, MentionedEntityIDs: []string{"zoe"},
			})
			bodies := h.far.asked()
			if len(bodies) != 2 {
				t.Fatalf("%d requests", len(bodies))
			}
			if holdsCanary(bodies[1]) || !strings.Contains(bodies[1], "(private)") {
				t.Errorf("it was told %q", around(bodies[1]))
			}
		})
	}
}

// TestPRIV8_NothingIsSentAgainOfAConversationThatBecamePrivate while the provider was busy.
func TestPRIV8_NothingIsSentAgainOfAConversationThatBecamePrivate(t *testing.T) {
	h := open(t)
	id := h.append("", user("Before"), answer("Yes."))
	private := true
	h.far.says(func(_ *provider.Request, to *provider.Reply) {
		_, err := h.chat.Update(context.Background(), h.local, id, chat.Change{Settings: chat.Settings{Private: &private}})
		must(t, err)
		to.Status(503, "busy")
	})
	h.fails(turn.ChatSend{ConversationID: id, Text: "A zqbody question"}, fault.Invalid, "provider")
	if n := len(h.far.asked()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// TestPRIV13_AnAnswerAnewStandsOnWhatTheMessageMentions: the model is given it as at first, and the answer goes with it.
func TestPRIV13_AnAnswerAnewStandsOnWhatTheMessageMentions(t *testing.T) {
	h := open(t)
	h.note(notes.Draft{ID: "open", Title: "Open", Body: "Scales weigh."})
	_, _, err := h.ents.PutType(t.Context(), entities.Type{Name: "P"}, nil, false)
	must(t, err)
	_, err = h.ents.Put(t.Context(), entities.Entity{ID: "zoe", Type: "P", Name: "Zoe Quick"}, nil)
	must(t, err)
	for _, text := range []string{"@Zoe Quick ?", "@zoe_quick_p_entity ?", "Is [[Open]] right?", "About @Zoe Quick and [[Open]]"} {
		none := ptr(0) // what was said in the other conversations
		first := h.send(turn.ChatSend{Text: text, Memories: none})
		prompted := func() string { return h.far.last(t).Messages[0].Text() }
		want := prompted()
		for _, id := range []string{first.UserMessage.ID, first.AssistantMessage.ID} {
			again := h.send(turn.ChatSend{ConversationID: first.ConversationID, Regenerate: id, Memories: none})
			if got := prompted(); got != want {
				t.Errorf("%q: the model was given %q, and at first %q", text, got, want)
			}
			if strings.Contains(text, "oe") && len(again.Report.Sections) == 0 {
				t.Errorf("%q: nothing is reported", text)
			}
		}
	}
	first := h.send(turn.ChatSend{Text: "@Zoe Quick ?"})
	again := h.send(turn.ChatSend{ConversationID: first.ConversationID, Regenerate: first.UserMessage.ID})
	for _, section := range again.Report.Sections {
		if section.Name == "entities" && len(section.Items) == 1 && section.Items[0].ID == "zoe" {
			return
		}
	}
	t.Errorf("the answer does not stand on it: %+v", again.Report.Sections)
}
