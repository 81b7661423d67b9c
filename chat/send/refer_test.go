package send_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures/provider"
	"github.com/ctxd/ctxd/notes"
)

// referred writes references in lines.
func referred(list []record.ChatReference) (lines []string) {
	for _, r := range list {
		line := r.Wikilink + " " + r.NoteID + " " + r.Type + " " + r.Status
		switch {
		case r.MemoryID != "":
			line = "memory " + r.MemoryID
		case r.EntityID != "":
			line = "entity " + r.EntityID + " " + strings.TrimSpace(r.Ref+" "+r.NoteID) + " " + r.Type + " " + r.Status
		case r.PassageID != "":
			line = "passage [" + r.Ref + "] " + r.Type + " " + r.Status
		case r.Kind != "":
			line = r.Wikilink + " " + r.Kind + " " + r.Path + " " + r.Type + " " + r.Status
		}
		if r.Used {
			line += " used"
		}
		if len(r.Tools) > 0 {
			line += " " + strings.Join(r.Tools, "+")
		}
		if len(r.Spans) > 0 {
			line += fmt.Sprint(" ", r.Spans)
		}
		lines = append(lines, line)
	}
	return lines
}

func wantReferred(t fataler, list []record.ChatReference, want ...string) {
	t.Helper()
	if got := referred(list); !slices.Equal(got, want) {
		t.Errorf("references\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// told are the texts of the messages that a model was last told, without the system prompt.
func (m *model) told(t fataler) (list []string) {
	for _, message := range m.last(t).Messages {
		if message.Role != "system" {
			list = append(list, message.Text())
		}
	}
	return list
}

// TestCHAT9_TheListIsToldOnceAndStays: it stands behind the message that the model is given, not in what is stored, and
// is the same when the turn is replayed, whatever has become of the notes.
func TestCHAT9_TheListIsToldOnceAndStays(t *testing.T) {
	h := open(t)
	h.note(notes.Draft{ID: "p", Title: "parameters reference", Path: "docs/params.md", Body: "# Params\n\nAll of them.\n"})
	text := "What of [[parameters reference]] and [[gone]]?"
	const list = "\n\nReferenced Documents:\n- [[parameters reference]] (docs/params.md): All of them.\n" +
		"- [[gone]]: Warning - Document not found"
	const hint = "\n\nUse read_note for the full text of any of these."
	res := h.send(turn.ChatSend{Text: text, Files: []turn.ChatFile{{Name: "a.txt", Text: "file"}}})
	told := h.far.told(t)
	if len(told) != 1 || !strings.HasPrefix(told[0], text+"\n\nAttached file") || !strings.HasSuffix(told[0], "\n```"+list+hint) {
		t.Fatalf("the model is told %q", told)
	}
	if res.UserMessage.Content != text {
		t.Errorf("%q is stored", res.UserMessage.Content)
	}
	wantReferred(t, res.UserMessage.References, "[[parameters reference]] p direct ok [[8 32]]", "[[gone]]  direct broken [[37 45]]")
	wantReferred(t, res.References, "[[parameters reference]] p direct ok used", "[[gone]]  direct broken")
	if r := res.References[0]; r.Path != "docs/params.md" || r.Summary != "All of them." {
		t.Errorf("%+v", r)
	}
	if !slices.Contains(res.Warnings, record.ChatWarning{About: "[[gone]]", Message: "Document not found"}) {
		t.Errorf("warnings %+v", res.Warnings)
	}
	_, err := h.notes.Delete(t.Context(), "p", nil)
	must(t, err)
	h.note(notes.Draft{ID: "g", Title: "gone", Body: "It is here now."})
	next := h.send(turn.ChatSend{Text: "And [[gone]]?", ConversationID: res.ConversationID, Tools: ptr(false)})
	want := []string{text + list + hint, "Yes.", "And [[gone]]?\n\nReferenced Documents:\n- [[gone]]: It is here now."}
	if told := h.far.told(t); !slices.Equal(told, want) {
		t.Errorf("the model is told %q, want %q", told, want)
	}
	for range 2 { // also anew, and with tools
		h.send(turn.ChatSend{Regenerate: next.UserMessage.ID, ConversationID: res.ConversationID})
		if told := h.far.told(t); !slices.Equal(told, want) {
			t.Errorf("the model is told %q, want %q", told, want)
		}
	}
	h.send(turn.ChatSend{Text: "Thanks", ConversationID: res.ConversationID})
	if told := h.far.told(t); len(told) != 5 || told[4] != "Thanks" {
		t.Errorf("the model is told %q", told)
	}
}

// TestCHAT9_TheListHasNoMoreRoomThanTheMessageLeaves.
func TestCHAT9_TheListHasNoMoreRoomThanTheMessageLeaves(t *testing.T) {
	h := open(t)
	c, err := h.chat.Put(t.Context(), h.local, "", chat.Change{Settings: chat.Settings{MaxContext: ptr(1000)}})
	must(t, err)
	var links strings.Builder
	for i := range 60 {
		fmt.Fprintf(&links, "[[ghost %d]] ", i)
	}
	text := links.String() + strings.Repeat("x", 3000-len(links.String())-300)
	res := h.send(turn.ChatSend{Text: text, ConversationID: c.ID})
	told := h.far.told(t)[0]
	for track, dropped := range map[bool]bool{true: true, false: false} {
		long := h.append("", user(strings.Repeat("y", 600)), answer("Yes."))
		_, err = h.chat.Update(t.Context(), h.local, long, chat.Change{Settings: chat.Settings{MaxContext: ptr(1000)}})
		must(t, err)
		res := h.send(turn.ChatSend{
			Text: links.String()[:600], ConversationID: long, Tools: ptr(false), TrackReferences: ptr(track), SearchNotes: ptr(0), Memories: ptr(0),
		})
		if warned(res.Warnings, "maxContext") != dropped {
			t.Errorf("tracked %v: warnings %+v", track, res.Warnings)
		}
	}
	if len(told) > 3000+len("- and 60 others\n") || !strings.Contains(told, "- and 5") || len(res.References) != 60 {
		t.Errorf("the model is told %d bytes for %d references: %q", len(told), len(res.References), told[len(text):])
	}
}

// TestCHAT12_ReferencesOfAllRounds: tools of each round, the question, the answer and the prompt make one list.
func TestCHAT12_ReferencesOfAllRounds(t *testing.T) {
	h := open(t)
	h.note(notes.Draft{ID: "hives", Title: "Hives", Body: "Bees live in hives. They winter in a cluster."})
	h.note(notes.Draft{ID: "honey", Title: "Honey", Body: "Honey is made of nectar."})
	h.note(notes.Draft{ID: "wax", Title: "Wax", Body: "Wax melts at 62 degrees."})
	h.far.says(func(r *provider.Request, to *provider.Reply) {
		switch r.N {
		case 1:
			to.Call("search_notes", `{"query":"honey nectar"}`)
			to.Call("search_notes", `{"query":"nothing like this zzz"}`)
		case 2:
			to.Call("find_excerpts", `{"query":"winter cluster"}`)
			to.Call("read_note", `{"id":"hives"}`)
		case 3:
			to.Call("search_notes", `{"query":"wax melts"}`)
		default:
			to.Text("😀 As [[Honey]] says.")
		}
	})
	l := &heard{}
	res, err := h.pipe.Send(t.Context(), h.local, turn.ChatSend{Text: "Tell me about [[Wax]]", SearchNotes: ptr(0)}, l)
	must(t, err)
	wantReferred(t, res.References, "[[Wax]] wax direct ok used search_notes", "[[Honey]] honey direct ok used search_notes [[6 15]]",
		"[[Hives]] hives search ok used search_notes+find_excerpts+read_note")
	hives := res.References[2]
	if len(hives.Ranges) == 0 || hives.Hash == "" || !strings.HasPrefix(hives.Snippet, "Bees live") {
		t.Errorf("%+v", hives)
	}
	if res.References[1].Snippet != "Found via semantic search" {
		t.Errorf("%+v", res.References[1])
	}
	var deltas []turn.ChatDelta
	for _, d := range l.deltas {
		if d.Type == turn.References {
			deltas = append(deltas, d)
		}
	}
	if len(deltas) != 1 || !slices.Equal(referred(deltas[0].Data.References), referred(res.References)) {
		t.Errorf("deltas %+v", deltas)
	}
	if got := h.said(h.local, res.ConversationID)[1]; !slices.Equal(referred(got.References), referred(res.References)) {
		t.Errorf("stored are %q", referred(got.References))
	}
	again := h.send(turn.ChatSend{Text: "And?", ConversationID: res.ConversationID, SearchNotes: ptr(0), Memories: ptr(0)})
	if len(again.References) > 0 && again.References[0].NoteID == "hives" {
		t.Errorf("%q", referred(again.References))
	}
}

// TestCHAT12_WhatTheSearchOfThePromptFound is kept, and used if the answer names it.
func TestCHAT12_WhatTheSearchOfThePromptFound(t *testing.T) {
	h := open(t)
	h.note(notes.Draft{ID: "a", Title: "Zebra crossing", Body: "Zebra stripes on the road."})
	h.note(notes.Draft{ID: "b", Title: "Zebra herd", Body: "Zebra families in the steppe."})
	h.far.says(func(_ *provider.Request, to *provider.Reply) { to.Text("See [[Zebra herd]].") })
	res := h.send(turn.ChatSend{Text: "zebra"})
	wantReferred(t, res.References, "[[Zebra herd]] b direct ok used [[4 18]]", "[[Zebra crossing]] a search ok")
	if s := res.References[1].Snippet; s != "Found by the search for the message" {
		t.Errorf("snippet %q", s)
	}
}

// TestCHAT8_PinnedPlaces: mentioned notes first, then links and embeds in the order of the message, five in all; a note
// that an entity is linked to stands once; pictures take no place, and links in a pinned note are not followed.
func TestCHAT8_PinnedPlaces(t *testing.T) {
	h := open(t)
	_, _, err := h.ents.PutType(t.Context(), entities.Type{Name: "Project", Fields: []entities.Field{{Name: "doc", Type: record.NoteRef}}}, nil, false)
	must(t, err)
	for _, id := range []string{"n1", "n2", "n3", "n4", "n5", "n6", "other"} {
		h.note(notes.Draft{ID: id, Title: strings.ToUpper(id), Body: "text of " + id + " [[OTHER]]"})
	}
	_, err = h.ents.Put(t.Context(), entities.Entity{ID: "hive", Type: "Project", Name: "Hive", Fields: entities.Values{"doc": "n3"}}, nil)
	must(t, err)
	text := "![[photo.png]] [[N2]] ![[N3]] [[Ghost]] [[N4]] [[N2]] [[N5]] [[N6]] for @Hive"
	res := h.send(turn.ChatSend{Text: text, MentionedNoteIDs: []string{"n1", "none"}, SearchNotes: ptr(0)})
	in := make(map[string][]string)
	for _, s := range res.Report.Sections {
		for _, item := range s.Items {
			in[s.Name] = append(in[s.Name], item.ID)
		}
	}
	if want := []string{"n1", "n2", "n3", "n4", "n5"}; !slices.Equal(in["pinned"], want) || len(in["linked"]) > 0 {
		t.Errorf("in the prompt are %v", in)
	}
	var left []string
	for _, d := range res.Report.Dropped {
		left = append(left, d.ID+d.Title+" "+string(d.Reason))
	}
	slices.Sort(left)
	if want := []string{"Ghost unknown", "n6N6 limit", "none unknown"}; !slices.Equal(left, want) {
		t.Errorf("left out are %q, want %q", left, want)
	}
	wantReferred(t, res.References, "[[N2]] n2 direct ok used", "![[N3]] n3 direct ok used", "[[Ghost]]  direct broken",
		"[[N4]] n4 direct ok used", "[[N5]] n5 direct ok used", "[[N6]] n6 direct ok", "entity hive @Hive direct ok used", "[[N1]] n1 direct ok used")
}

// TestCHAT29_Edges of references.
func TestCHAT29_ReferenceEdges(t *testing.T) {
	h := open(t)
	h.note(notes.Draft{ID: "n", Title: "Note", Body: "Short."})
	h.note(notes.Draft{ID: "o", Title: "Other", Body: "Other text."})
	t.Run("five times", func(*testing.T) {
		res := h.send(turn.ChatSend{Text: "[[Note]] [[note]] [[NOTE|x]] ![[Note]] [[Note#a]]"})
		if list := res.UserMessage.References; len(list) != 1 || len(list[0].Spans) != 5 {
			t.Errorf("%+v", list)
		}
		if strings.Count(h.far.told(t)[0], "\n- ") != 1 {
			t.Errorf("the model is told %q", h.far.told(t))
		}
	})
	t.Run("more than 100", func(*testing.T) {
		var b strings.Builder
		for i := range 130 {
			fmt.Fprintf(&b, "[[g%d]] ", i)
		}
		res := h.send(turn.ChatSend{Text: b.String()})
		if len(res.UserMessage.References) != chat.MaxMessageReferences || len(res.References) != chat.MaxMessageReferences || !warned(res.Warnings, chat.ReferencesMember) {
			t.Errorf("%d, %d, %+v", len(res.UserMessage.References), len(res.References), res.Warnings)
		}
	})
	t.Run("only links", func(*testing.T) {
		res := h.send(turn.ChatSend{Text: "[[Note]]"})
		wantReferred(t, res.References, "[[Note]] n direct ok used")
	})
	t.Run("nothing found", func(*testing.T) {
		h.far.says(func(r *provider.Request, to *provider.Reply) {
			if strings.HasSuffix(r.Last(), "find it") {
				to.Call("search_notes", `{"query":"qqqq"}`)
				return
			}
			to.Text("No.")
		})
		res := h.send(turn.ChatSend{Text: "find it", SearchNotes: ptr(0), Memories: ptr(0)})
		if len(res.References) > 0 || len(res.AssistantMessage.ToolCalls) != 1 {
			t.Errorf("%q, %+v", referred(res.References), res.AssistantMessage.ToolCalls)
		}
	})
	t.Run("deleted during the turn", func(*testing.T) {
		h.far.says(func(r *provider.Request, to *provider.Reply) {
			if strings.Contains(r.Last(), "read both") {
				to.Call("read_note", `{"id":"o"}`)
				return
			}
			for _, id := range []string{"n", "o"} {
				_, err := h.notes.Delete(context.Background(), id, nil)
				must(h.t, err)
			}
			to.Text("Done.")
		})
		res := h.send(turn.ChatSend{Text: "read both, [[Note]]", SearchNotes: ptr(0)})
		wantReferred(t, res.References, "[[Note]] n direct deleted used", "[[Other]] o search deleted used read_note")
		wantReferred(t, res.UserMessage.References, "[[Note]] n direct ok [[11 19]]")
		if !warned(res.Warnings, "[[Note]]") || !warned(res.Warnings, "[[Other]]") {
			t.Errorf("warnings %+v", res.Warnings)
		}
	})
}

// TestCHAT4_TrackingCanBeOff and its failure is a warning.
func TestCHAT4_TrackingCanBeOff(t *testing.T) {
	h := open(t)
	h.note(notes.Draft{ID: "n", Title: "Note", Body: "Short."})
	text := "What of [[Note]] and [[Ghost]]?"
	res := h.send(turn.ChatSend{Text: text, TrackReferences: ptr(false)})
	if told := h.far.told(t); len(res.References)+len(res.UserMessage.References)+len(res.Warnings) > 0 || told[0] != text {
		t.Errorf("%q, %q, %+v, told %q", referred(res.References), referred(res.UserMessage.References), res.Warnings, told)
	}
	h.chat.SummariseBy(func(context.Context, *audience.View, string) (_, _ string, err error) {
		return "", "", errors.New("the disk is full")
	})
	res = h.send(turn.ChatSend{Text: "What of [[Note]]?"})
	wantReferred(t, res.References, "[[Note]] n direct ok used")
	if !warned(res.Warnings, chat.ReferencesMember) || res.Content != "Yes." {
		t.Errorf("%+v", res.Warnings)
	}
	h.chat.SummariseBy(func(context.Context, *audience.View, string) (string, string, error) { panic("a defect") })
	res = h.send(turn.ChatSend{Text: "What of [[Note]]?"})
	if !warned(res.Warnings, chat.ReferencesMember) || len(res.References) > 0 || res.Content != "Yes." || res.AssistantMessage.Finish != record.FinishComplete {
		t.Errorf("%q, %+v", referred(res.References), res.Warnings)
	}
}

// TestPRIV1_ReferencesOfARemoteReader: what leads to a private note is nowhere for him, also where it becomes private
// later, and a remote model is told nothing of it.
func TestPRIV1_ReferencesOfARemoteReader(t *testing.T) {
	h := open(t)
	h.note(notes.Draft{ID: "open", Title: "Open", Path: "open.md", Body: "Meet [[Zanzibar]] now."})
	h.note(notes.Draft{ID: "z", Title: "Zanzibar", Path: "zanzibar.md", Body: "Zulu.", Private: true})
	h.far.says(func(_ *provider.Request, to *provider.Reply) { to.Text("😀 [[Zanzibar]], says [[Open]].") })
	text := "[[Zanzibar]] and [[Open]]?"
	l := &heard{}
	res, err := h.pipe.Send(t.Context(), h.local, turn.ChatSend{Text: text}, l)
	must(t, err)
	wantReferred(t, res.UserMessage.References, "[[Zanzibar]] z direct ok [[0 12]]", "[[Open]] open direct ok [[17 25]]")
	wantReferred(t, res.References, "[[Zanzibar]] z direct ok used [[3 15]]", "[[Open]] open direct ok used [[22 30]]")
	if s := res.References[1].Summary; !strings.Contains(s, "Zanzibar") {
		t.Errorf("the local reader has the summary %q", s)
	}
	for _, body := range h.far.asked() {
		if strings.Contains(body, "Zanzibar") || strings.Contains(body, "Zulu") || !strings.Contains(body, "[[Open]] (open.md)") {
			t.Errorf("the model is told %s", body)
		}
	}
	for _, d := range l.deltas {
		if data, _ := json.Marshal(d.Data); strings.Contains(string(data), "Zanzibar") || strings.Contains(string(data), "zanzibar") {
			t.Errorf("who follows is told %s", data)
		}
	}
	said := h.said(h.remote, res.ConversationID)
	if len(said) != 2 {
		t.Fatalf("%+v", said)
	}
	wantReferred(t, said[0].References, "[[Open]] open direct ok [[14 22]]")
	wantReferred(t, said[1].References, "[[Open]] open direct ok used [[19 27]]")
	for _, m := range said {
		data, _ := json.Marshal(m)
		if strings.Contains(strings.ToLower(string(data)), "zanzibar") {
			t.Errorf("a remote reader has %s", data)
		}
	}
	h.note(notes.Draft{ID: "open", Title: "Open", Path: "open.md", Body: "x", Private: true})
	for _, m := range h.said(h.remote, res.ConversationID) {
		wantReferred(t, m.References)
	}
	h.send(turn.ChatSend{Text: "Go on", ConversationID: res.ConversationID})
	if body := h.far.last(t).Body; strings.Contains(body, "open.md") || strings.Contains(body, "Referenced Documents") {
		t.Errorf("the model is told %s", body)
	}
}

// TestPRIV4_AListOfPrivateNotes makes the answer of a local model private, also when it is replayed.
func TestPRIV4_AListOfPrivateNotes(t *testing.T) {
	h := open(t)
	h.note(notes.Draft{ID: "z", Title: "Zanzibar", Path: "z.md", Body: "Zulu.", Private: true})
	h.note(notes.Draft{ID: "o", Title: "Open", Path: "o.md", Body: "Open."})
	res := h.send(turn.ChatSend{Text: "[[Zanzibar]]?", Provider: "near"})
	if told := h.near.told(t)[0]; !strings.Contains(told, "- [[Zanzibar]] (z.md): Zulu.") || !res.AssistantMessage.Private {
		t.Errorf("told %q, private %v", told, res.AssistantMessage.Private)
	}
	// The summary names what is private, and is told again when the note itself is not in the prompt any more.
	h.note(notes.Draft{ID: "m", Title: "Meeting", Path: "m.md", Body: "With [[Zanzibar]]."})
	h.near.says(func(_ *provider.Request, to *provider.Reply) { to.Status(400, "no") })
	_, err := h.pipe.Send(t.Context(), h.local, turn.ChatSend{Text: "[[Meeting]]?", Provider: "near", ClientMessageID: "m"}, &heard{})
	f := new(fault.Error)
	if !errors.As(err, &f) || f.Ref == "" {
		t.Fatal(err)
	}
	h.near.says(nil)
	later := h.send(turn.ChatSend{Text: "And?", Provider: "near", ConversationID: f.Ref, SearchNotes: ptr(0), Memories: ptr(0)})
	if told := h.near.told(t)[0]; !strings.HasPrefix(told, "[[Meeting]]?\n\nReferenced Documents:\n- [[Meeting]] (m.md): With Zanzibar.") || !later.AssistantMessage.Private {
		t.Errorf("told %q, private %v", told, later.AssistantMessage.Private)
	}
	other := h.send(turn.ChatSend{Text: "[[Open]]?", Provider: "near"})
	if other.AssistantMessage.Private {
		t.Error("the answer is private, and the model was told nothing private")
	}
}

// TestPRIV4_ANoteThatBecomesPrivateMeanwhile makes the answer private that its model was shown it for.
func TestPRIV4_ANoteThatBecomesPrivateMeanwhile(t *testing.T) {
	h := open(t)
	for _, id := range []string{"read", "given"} {
		h.note(notes.Draft{ID: id, Title: "Note " + id, Body: "Text."})
		h.far.says(func(r *provider.Request, to *provider.Reply) {
			if id == "read" && strings.HasPrefix(r.Last(), "See") {
				to.Call("read_note", `{"id":"read"}`)
				return
			}
			h.note(notes.Draft{ID: id, Title: "Note " + id, Body: "Text.", Private: true})
			to.Text("It says so.")
		})
		m := turn.ChatSend{Text: "See", SearchNotes: ptr(0)}
		if id == "given" {
			m.MentionedNoteIDs = []string{id}
		}
		res := h.send(m)
		if !res.AssistantMessage.Private || len(res.References) != 1 || len(h.said(h.remote, res.ConversationID)) != 1 {
			t.Errorf("%s: private %v, %q", id, res.AssistantMessage.Private, referred(res.References))
		}
	}
}

// TestCHAT36_AppendedMessagesHaveReferences, and no list that nobody was told.
func TestCHAT36_AppendedMessagesHaveReferences(t *testing.T) {
	h := open(t)
	h.note(notes.Draft{ID: "n", Title: "Note", Body: "Short."})
	id := h.append("", user("What of [[Note]]?"), answer("[[note]] is short, [[Ghost]]."), chat.Draft{Role: record.RoleSystem, Content: "[[Note]]"})
	said := h.said(h.local, id)
	wantReferred(t, said[0].References, "[[Note]] n direct ok [[8 16]]")
	wantReferred(t, said[1].References, "[[note]] n direct ok used [[0 8]]", "[[Ghost]]  direct broken [[19 28]]")
	wantReferred(t, said[2].References)
	h.send(turn.ChatSend{Text: "Go on", ConversationID: id})
	if body := h.far.last(t).Body; strings.Contains(body, "Referenced") {
		t.Errorf("the model is told %s", body)
	}
	_, err := h.chat.AppendMany(t.Context(), h.local, []chat.AppendRequest{{Past: true, ClientID: "x", Messages: []chat.Draft{user("of [[Note]]")}}})
	must(t, err)
	list, _, err := h.chat.List(t.Context(), h.local, false, nil, 10)
	must(t, err)
	for _, c := range list {
		if c.ID != id {
			wantReferred(t, h.said(h.local, c.ID)[0].References)
		}
	}
}

// members are what all messages have of references in the store, by id.
func (h *house) members() map[string]string {
	h.t.Helper()
	out := make(map[string]string)
	must(h.t, h.db.View(context.Background(), func(tx *kv.Tx) error {
		for _, m := range chat.Messages.All(tx, "") {
			for _, name := range []string{chat.ReferencesMember, chat.PublicReferencesMember, chat.ReferenceNoticeMember} {
				out[m.ID+" "+name] = string(m.Members[name])
			}
		}
		return tx.Err()
	}))
	return out
}

// TestCHAT9_NothingChangesWhatWasSaid: notes are renamed, deleted, archived, brought back and made private between the
// turns of a conversation. What is stored of references stays byte for byte, and a local model is told the same of all
// earlier turns. A remote model is told the same but for what has become private, of which it is told nothing.
func TestCHAT9_NothingChangesWhatWasSaid(t *testing.T) {
	near, far := newModel(t), newModel(t)
	rapid.Check(t, func(rt *rapid.T) {
		h := openOver(t, rt, kv.InMemory, near, far, chat.Limits{})
		defer func() { _ = h.db.Close() }()
		ids := []string{"a", "b", "c"}
		title, private := make(map[string]string), make(map[string]bool)
		put := func(id, name string, version int) {
			title[id] = name
			h.note(notes.Draft{ID: id, Title: name, Path: fmt.Sprintf("%s%d.md", id, version), Body: fmt.Sprintf("About %s, version %d.", id, version), Private: private[id]})
		}
		for _, id := range ids {
			put(id, "First "+id, 0)
		}
		conversation := map[string]string{}
		before := map[string][]string{}
		kept := make(map[string]string)
		hidden := false
		for step := range rapid.IntRange(1, 12).Draw(rt, "steps") {
			id := rapid.SampledFrom(ids).Draw(rt, "note")
			switch rapid.SampledFrom([]string{"send", "send", "send", "rename", "delete", "archive", "bring back", "hide"}).Draw(rt, "step") {
			case "send":
				by := rapid.SampledFrom([]string{"near", "far"}).Draw(rt, "provider")
				m := near
				if by == "far" {
					m = far
				}
				text := fmt.Sprintf("%d: [[%s]], [[First %s]] and [[Ghost]]", step, title[id], rapid.SampledFrom(ids).Draw(rt, "other"))
				m.says(func(_ *provider.Request, to *provider.Reply) { to.Text("As [[" + title[id] + "]] says.") })
				c := conversation[by]
				res := h.send(turn.ChatSend{Text: text, ConversationID: c, Provider: by, SearchNotes: ptr(0), Memories: ptr(0)})
				conversation[by] = res.ConversationID
				told := m.told(rt)
				if n := len(before[by]); by == "near" || !hidden {
					if len(told) < n || !slices.Equal(told[:n], before[by]) {
						rt.Fatalf("%s is told\n%q\nand was told\n%q", by, told, before[by])
					}
				}
				for of := range private {
					if by == "far" && (strings.Contains(strings.Join(told, " "), "About "+of+",") || strings.Contains(strings.Join(told, " "), "("+of)) {
						rt.Fatalf("%s is private, and far is told\n%q", of, told)
					}
				}
				before[by] = append(told, res.Content)
			case "rename":
				put(id, fmt.Sprintf("Named %s in %d", id, step), step)
			case "delete":
				if _, err := h.notes.Delete(t.Context(), id, nil); err == nil {
					title[id] = "First " + id
				}
			case "archive":
				_, _ = h.notes.Archive(t.Context(), id, nil) // it may be gone
			case "bring back":
				put(id, title[id], step)
			case "hide":
				private[id], hidden = true, true
				put(id, title[id], step)
			}
			now := h.members()
			for key, text := range kept {
				if now[key] != text {
					rt.Fatalf("%s was\n%s\nand is\n%s", key, text, now[key])
				}
			}
			kept = now
		}
	})
}

// TestCHAT2_WhatNobodyReadIsNotUsed: where no model was asked, an answer has the links of its question, and none of them
// was read.
func TestCHAT2_WhatNobodyReadIsNotUsed(t *testing.T) {
	h := open(t)
	h.note(notes.Draft{ID: "plan", Title: "Plan", Body: "Go by train."})
	h.note(notes.Draft{ID: "other", Title: "Other train", Body: "The plan of the train."})
	for _, m := range []turn.ChatSend{{Text: "What of the train of [[Plan]]?", Provider: "keyless"}, {Text: "/pin [[Plan]]"}} {
		res := h.send(m)
		if len(res.References) != 1 || res.References[0].NoteID != "plan" || res.References[0].Used {
			t.Errorf("%s: %+v", m.Text, res.References)
		}
	}
}
