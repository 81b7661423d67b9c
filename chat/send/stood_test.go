package send_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/chat/cites"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/books"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures/provider"
	"github.com/ctxd/ctxd/notes"
)

// stood lists what messages of a conversation stood on, as a person is shown it.
func (h *house) stood(conversation string, all bool) (lines []string) {
	h.t.Helper()
	page, err := cites.NewSourceLister(h.chat, h.memory, h.shelf).References(h.t.(*testing.T).Context(), h.local,
		cites.SourceRequest{Conversation: conversation, All: all, Limit: 50})
	must(h.t, err)
	for _, r := range page.List {
		line := strings.TrimSpace(r.Kind+" "+r.Label) + " | " + r.URI + " | " + r.Status
		if r.Used {
			line += " used"
		}
		lines = append(lines, line)
	}
	return lines
}

func wantLines(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: it stood on\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestCHAT45_EntitiesThatTheUserNamed: by name, with the note that one is made from, and none that others lead to.
func TestCHAT45_EntitiesThatTheUserNamed(t *testing.T) {
	h := open(t)
	_, _, err := h.ents.PutType(t.Context(), entities.Type{Name: "Person", Fields: []entities.Field{{Name: "boss", Type: record.EntityRef}}}, nil, false)
	must(t, err)
	_, err = h.ents.Put(t.Context(), entities.Entity{ID: "bob", Type: "Person", Name: "Bob"}, nil)
	must(t, err)
	_, err = h.ents.Put(t.Context(), entities.Entity{ID: "eve", Type: "Person", Name: "Eve", Fields: entities.Values{"boss": "bob"}}, nil)
	must(t, err)
	h.note(notes.Draft{ID: "ann", Vault: "V", Path: "People/Ann.md", Body: "---\ntype: Person\n---\nLikes boats."})
	res := h.send(turn.ChatSend{Text: "Do @Eve and @Ann like boats?", SearchNotes: ptr(0)})
	ann := h.notes.Get("ann").EntityID
	wantReferred(t, res.References, "entity eve @Eve direct ok used", "entity "+ann+" @Ann ann direct ok used")
	wantLines(t, "now", h.stood(res.ConversationID, false), "Eve | ctxd://entity/eve | ok used", "Ann | ctxd://entity/"+ann+" | ok used")
	must(t, h.db.Update(t.Context(), func(tx *kv.Tx) error { return entities.EntityRecords.Delete(tx, "eve") }))
	wantLines(t, "one is gone", h.stood(res.ConversationID, false), "@Eve | ctxd://entity/eve | deleted used", "Ann | ctxd://entity/"+ann+" | ok used")
	h.note(notes.Draft{ID: "ann", Vault: "V", Path: "People/Ann.md", Body: "---\ntype: Person\nprivate: true\n---\nLikes boats."})
	page, err := h.chat.Messages(t.Context(), h.remote, res.ConversationID, "", 0, 10)
	must(t, err)
	for _, m := range page.Messages {
		if slices.ContainsFunc(m.References, func(r record.ChatReference) bool { return r.EntityID == ann || r.NoteID == "ann" }) {
			t.Errorf("a remote reader is shown %+v", m.References)
		}
	}
}

// TestCHAT45_PassagesByTitleAndPage: used is one that the answer cites.
func TestCHAT45_PassagesByTitleAndPage(t *testing.T) {
	h := open(t)
	h.book(books.Draft{ID: "boats", Title: "Boats", Content: []byte("# Red\n\nThe red boat has six seats.\n\n# Blue\n\nThe blue boat has two seats, which is few seats for a boat.\n")})
	for answer, want := range map[string]string{
		"It has six seats [Boats, Red].": " used", "Six [boats, red]": " used", "Six.": "", "[Boats, Green]": "",
	} {
		h.near.says(func(_ *provider.Request, to *provider.Reply) { to.Text(answer) })
		res := h.send(turn.ChatSend{Text: "How many seats has the red boat?", Provider: "near"})
		list := h.stood(res.ConversationID, true)
		if !slices.Contains(list, "Boats, Red |  | ok"+want) {
			t.Errorf("%q stood on %q", answer, list)
		}
		if shown := h.stood(res.ConversationID, false); (want == "") != (len(shown) == 0) {
			t.Errorf("%q is shown to stand on %q", answer, shown)
		}
	}
}

// TestCHAT45_AFileIsWhatItIs: a picture and a document of a vault are files, and not missing notes.
func TestCHAT45_AFileIsWhatItIs(t *testing.T) {
	h := open(t)
	must(t, h.db.Update(t.Context(), func(tx *kv.Tx) error {
		for _, path := range []string{"Assets/boat.png", "report.pdf"} {
			if err := notes.PutAttachment(tx, "V", notes.Attachment{Path: path}); err != nil {
				return err
			}
		}
		return nil
	}))
	res := h.send(turn.ChatSend{Text: "See ![[boat.png]], [[Assets/boat.png]], [[report.pdf]], ![[nowhere.png]] and [[lost.pdf]]", SearchNotes: ptr(0)})
	wantReferred(t, res.References, "![[boat.png]] attachment Assets/boat.png direct ok", "[[Assets/boat.png]] attachment Assets/boat.png direct ok",
		"[[report.pdf]] attachment report.pdf direct ok", "[[lost.pdf]]  direct broken")
	if len(res.Warnings) != 1 || res.Warnings[0].About != "[[lost.pdf]]" {
		t.Errorf("warnings %+v", res.Warnings)
	}
	want := []string{"attachment boat.png |  | ok", "attachment Assets/boat.png |  | ok", "attachment report.pdf |  | ok", "lost.pdf |  | broken"}
	wantLines(t, "files", h.stood(res.ConversationID, false), want...)
	must(t, h.db.Update(t.Context(), func(tx *kv.Tx) error { return notes.DeleteAttachment(tx, "V", "report.pdf") }))
	want[2] = "report.pdf |  | broken"
	wantLines(t, "one is gone", h.stood(res.ConversationID, false), want...)
}

// TestCHAT45_MemoriesThatTheAnswerStandsOn: those that it cites, those that the user named, and those that a tool gave and of
// which it has words; the others were found and not used.
func TestCHAT45_MemoriesThatTheAnswerStandsOn(t *testing.T) {
	h := open(t)
	list, err := h.memory.Add(t.Context(), h.local, []memory.Draft{{Statement: "I train on Monday mornings"}, {Statement: "I train with Ola"}})
	must(t, err)
	monday, ola := list[0].Memory, list[1].Memory
	for _, c := range []struct {
		text, tool, answer string
		want               []int64
	}{
		{"When do I train?", "", "I do not know when.", nil},
		{"When do I train?", "", "On Monday mornings.", nil}, // as far as anybody knows, it was told so elsewhere
		{"When do I train?", "", fmt.Sprintf("On Mondays (#%d).", monday.Number), []int64{monday.Number}},
		{"When do I train?", "", fmt.Sprintf("See @%s", ola.Handle), []int64{ola.Number}},
		{"When do I train?", "", fmt.Sprintf("See #%d0", monday.Number), nil},
		{"When do I train?", "train", "On Mondays.", []int64{monday.Number}},
		{"When do I train?", "train", "You train.", nil},
		{fmt.Sprintf("Is #%d right?", ola.Number), "", "Yes.", []int64{ola.Number}},
	} {
		h.far.says(func(r *provider.Request, to *provider.Reply) {
			if c.tool != "" && !strings.Contains(r.Body, `"tool_call_id"`) {
				to.Call("search_memory", fmt.Sprintf(`{"query":%q}`, c.tool))
				return
			}
			to.Text(c.answer)
		})
		res := h.send(turn.ChatSend{Text: c.text, SearchNotes: ptr(0)})
		var got []int64
		for _, r := range res.References {
			if r.Used {
				got = append(got, map[string]int64{monday.ID: monday.Number, ola.ID: ola.Number}[r.MemoryID])
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q answered by %q stands on %v, want %v (%+v)", c.text, c.answer, got, c.want, res.References)
		}
		if shown := h.stood(res.ConversationID, false); len(shown) != len(c.want) {
			t.Errorf("%q is shown to stand on %q", c.answer, shown)
		}
	}
}
