package cites_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/cites"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
)

// asJSON is what two values are compared by.
func asJSON(t failer, value any) string {
	t.Helper()
	data, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func (w *world) wantStats(v *audience.View, since time.Time, want *cites.Stats) {
	w.Helper()
	got, err := w.index.Stats(w.ctx, v, since, 10)
	w.must(err)
	if asJSON(w, got) != asJSON(w, want) {
		w.Errorf("for %s since %v: %s\nwant %s", v.Reader(), since, asJSON(w, got), asJSON(w, want))
	}
}

func TestCHAT30_HowOftenNotesWereUsed(t *testing.T) {
	w := start(t)
	w.wantStats(w.local, time.Time{}, &cites.Stats{Notes: []turn.ChatNoteUse{}, Months: []turn.ChatPeriod{}})
	w.note("a", "Alpha", false)
	w.note("b", "Beta", false)
	march := w.now
	one, _ := w.said("", false, direct("a"), found("b"))
	w.said(one, false, read("a"), direct("a"), found("gone"))
	w.now = w.now.AddDate(0, 1, 0)
	april := w.now
	two, _ := w.said("", false, read("b"))
	w.wantStats(w.local, time.Time{}, &cites.Stats{
		Notes: []turn.ChatNoteUse{
			{NoteID: "a", Title: "Alpha", Direct: 2, Search: 1, Used: 1, Conversations: 1, Last: march},
			{NoteID: "b", Title: "Beta", Search: 2, Used: 1, Conversations: 2, Last: april},
			{NoteID: "gone", Search: 1, Conversations: 1, Last: march},
		},
		Total: 3,
		Months: []turn.ChatPeriod{
			{Month: "2026-04", Notes: 1, Search: 1, Used: 1, Conversations: 1},
			{Month: "2026-03", Notes: 3, Direct: 2, Search: 3, Used: 1, Conversations: 1},
		},
	})
	inApril := []turn.ChatPeriod{{Month: "2026-04", Notes: 1, Search: 1, Used: 1, Conversations: 1}}
	w.wantStats(w.remote, april, &cites.Stats{
		Notes: []turn.ChatNoteUse{{NoteID: "b", Title: "Beta", Search: 1, Used: 1, Conversations: 1, Last: april}},
		Total: 1, Months: inApril,
	})
	some, err := w.index.Stats(t.Context(), w.local, time.Time{}, 1)
	w.must(err)
	if len(some.Notes) != 1 || some.Total != 3 {
		t.Errorf("%d of %d notes", len(some.Notes), some.Total)
	}
	for _, id := range []string{one, two} {
		_, err = w.chats.Delete(t.Context(), w.local, id)
		w.must(err)
	}
	w.wantStats(w.local, time.Time{}, &cites.Stats{Notes: []turn.ChatNoteUse{}, Months: []turn.ChatPeriod{}})
}

func TestCHAT34_EveryMessageThatUsedANote(t *testing.T) {
	w := start(t)
	w.note("a", "Alpha", false)
	one, first := w.said("", false, direct("a"))
	_, second := w.said(one, false, read("a")) // at the same time
	w.now = w.now.Add(time.Hour)
	_, third := w.said("", false, found("a"))
	_, fourth := w.said("", false, direct("a"))
	w.wants(w.local, "a", false, fourth, second, first)
	if got, c := w.list(w.local, "a", true, 1); len(got) != 4 || c.Total != 4 || c.Conversations != 3 {
		t.Errorf("%d messages, %d in all, of %d conversations", len(got), c.Total, c.Conversations)
	}
	all, _ := w.list(w.local, "a", true, 10)
	for _, id := range []string{first, second, third, fourth} {
		found := false
		for _, other := range all {
			found = found || other == id
		}
		if !found {
			t.Errorf("%s is not in %v", id, all)
		}
	}
	page, err := w.index.ForNote(t.Context(), w.local, "a", false, nil, 1)
	w.must(err)
	if c := page.List[0]; !c.Direct || c.Search || c.Used || c.Conversation.Title == "" || c.Message.Content == "" {
		t.Errorf("the newest is %+v", c)
	}

	// One that is gone is still known by what was said; one that never was is not.
	_, err = w.notes.Delete(t.Context(), "a", nil)
	w.must(err)
	w.wants(w.local, "a", false, fourth, second, first)
	w.wants(w.remote, "a", false, fourth, first) // who is not told what was found, since it may have been private
	if _, err := w.index.ForNote(t.Context(), w.local, "never", false, nil, 1); fault.KindOf(err) != fault.NotFound {
		t.Errorf("of a note that never was: %v", err)
	}
	w.note("new", "New", false)
	w.wants(w.local, "new", false)
}

func TestCHAT32_ConversationsThatShareNotes(t *testing.T) {
	w := start(t)
	w.note("a", "Alpha", false)
	w.note("b", "Beta", false)
	w.note("c", "Gamma", false)
	one, _ := w.said("", false, direct("a"), found("c"))
	w.said(one, false, read("a"), direct("b"))
	w.now = w.now.Add(time.Hour)
	two, _ := w.said("", false, read("a"))
	title := "Two"
	_, err := w.chats.Update(t.Context(), w.local, two, chat.Change{Settings: chat.Settings{Title: &title}})
	w.must(err)
	g, err := w.index.Graph(t.Context(), w.remote, 10)
	w.must(err)
	wantEdges := []turn.ChatGraphEdge{
		{From: one, To: "a", Weight: 2, Used: 1}, {From: two, To: "a", Weight: 1, Used: 1}, {From: one, To: "b", Weight: 1},
	}
	if asJSON(t, g.Edges) != asJSON(t, wantEdges) || g.More {
		t.Errorf("edges %s\nwant %s", asJSON(t, g.Edges), asJSON(t, wantEdges))
	}
	wantNodes := map[string]turn.ChatGraphNode{
		one: {ID: one, Kind: "conversation", Title: "said at 1772614800", Messages: 3},
		two: {ID: two, Kind: "conversation", Title: "Two", Messages: 1},
		"a": {ID: "a", Kind: "note", Title: "Alpha", Messages: 3}, "b": {ID: "b", Kind: "note", Title: "Beta", Messages: 1},
	}
	if len(g.Nodes) != len(wantNodes) || g.Nodes[0].ID != one || g.Nodes[1].ID != "a" {
		t.Errorf("nodes %s", asJSON(t, g.Nodes))
	}
	for _, n := range g.Nodes {
		if n != wantNodes[n.ID] {
			t.Errorf("node %+v, want %+v", n, wantNodes[n.ID])
		}
	}
	g, err = w.index.Graph(t.Context(), w.local, 3)
	w.must(err)
	if len(g.Nodes) != 3 || len(g.Edges) != 2 || !g.More {
		t.Errorf("within 3 nodes it is %s", asJSON(t, g))
	}
	_, err = w.chats.Delete(t.Context(), w.local, one)
	w.must(err)
	g, err = w.index.Graph(t.Context(), w.local, 10)
	w.must(err)
	if len(g.Nodes) != 2 || len(g.Edges) != 1 {
		t.Errorf("without the first conversation it is %s", asJSON(t, g))
	}
}

func TestCHAT4_WhatIsNotUnderstoodOfReferencesIsPassedOver(t *testing.T) {
	w := start(t)
	w.note("a", "Alpha", false)
	id, m := w.said("", false)
	for text, want := range map[string]int{
		`[{"noteId":"a","referenceType":"direct"},7,{"noteId":8},{"noteId":""},{"memoryId":"m"},{"noteId":"a\u0000b","used":true}]`: 1,
		`[{"noteId":"a","referenceType":"later","used":true},{"noteId":"a","referenceType":"direct"}]`:                              1,
		`[{"noteId":"a","referenceType":"later","used":true}]`:                                                                      0,
		`{"noteId":"a"}`: 0,
		`"a"`:            0,
		`[]`:             0,
	} {
		w.refer(id, m, chat.ReferencesMember, json.RawMessage(text))
		got, _ := w.list(w.local, "a", true, 10)
		stats, err := w.index.Stats(t.Context(), w.local, time.Time{}, 10)
		w.must(err)
		if len(got) != want || stats.Total != want {
			t.Errorf("%s: %d messages and %d notes, want %d", text, len(got), stats.Total, want)
		}
	}
}

func TestPRIV1_PrivateRecordsAreCountedNowhere(t *testing.T) {
	w := start(t)
	w.note("a", "Alpha", false)
	w.note("secret", "Secret", true)
	public, one := w.said("", false, direct("a"), direct("secret"))
	w.said(public, true, read("a"))
	_, last := w.said(public, false, read("a"))
	w.said("", true, read("a"))
	w.wants(w.remote, "a", true, last, one)
	page, err := w.index.ForNote(t.Context(), w.remote, "a", true, nil, 1)
	w.must(err)
	if page.Total != 2 || page.Conversations != 1 || page.Next.Index != 2 {
		t.Errorf("%+v, next %+v", page, page.Next)
	}
	if _, err := w.index.ForNote(t.Context(), w.remote, "secret", true, nil, 1); fault.KindOf(err) != fault.NotFound {
		t.Errorf("of a private note: %v", err)
	}
	// It stays so when it is gone.
	_, err = w.notes.Delete(t.Context(), "secret", nil)
	w.must(err)
	if _, err := w.index.ForNote(t.Context(), w.remote, "secret", true, nil, 1); fault.KindOf(err) != fault.NotFound {
		t.Errorf("of a private note that is gone: %v", err)
	}
	w.wants(w.local, "secret", true, one)
	stats, err := w.index.Stats(t.Context(), w.remote, time.Time{}, 10)
	w.must(err)
	want := &cites.Stats{
		Notes:  []turn.ChatNoteUse{{NoteID: "a", Title: "Alpha", Direct: 1, Search: 1, Used: 1, Conversations: 1, Last: w.now}},
		Total:  1,
		Months: []turn.ChatPeriod{{Month: "2026-03", Notes: 1, Direct: 1, Search: 1, Used: 1, Conversations: 1}},
	}
	if asJSON(t, stats) != asJSON(t, want) {
		t.Errorf("%s\nwant %s", asJSON(t, stats), asJSON(t, want))
	}
	g, err := w.index.Graph(t.Context(), w.remote, 10)
	w.must(err)
	if len(g.Nodes) != 2 || len(g.Edges) != 1 || g.Edges[0].Weight != 2 {
		t.Errorf("%s", asJSON(t, g))
	}
	for _, n := range g.Nodes {
		if n.Kind == turn.KindNote && n.Title != "Alpha" {
			t.Errorf("a node is %+v", n)
		}
	}
}

// A link can lead to a private note for a person, and to another one, or to none, for a remote reader.
func TestPRIV6_ALinkCountsForTheNoteThatTheReaderIsLedTo(t *testing.T) {
	w := start(t)
	w.note("mine", "Twin", true)
	w.note("theirs", "Twin", false)
	id, one := w.said("", false, direct("mine"))
	w.refer(id, one, chat.PublicReferencesMember, []any{direct("theirs")})
	_, two := w.said(id, false, direct("mine"), direct("theirs"))
	w.refer(id, two, chat.PublicReferencesMember, []any{})
	named := direct("theirs")
	named.Wikilink = "[[Secret]]"
	_, three := w.said(id, false, named)
	w.wants(w.local, "mine", false, two, one)
	w.wants(w.local, "theirs", false, three, two)
	w.wants(w.remote, "theirs", false, three, one)
	// What a private note is called by now says nothing to a remote reader.
	w.note("secret", "Secret", true)
	w.wants(w.local, "theirs", false, three, two)
	w.wants(w.remote, "theirs", false, one)
}
