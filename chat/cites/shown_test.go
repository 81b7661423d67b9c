package cites_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/cites"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// line is what a person and a program are told of an item.
func line(r turn.ChatShownReference) string {
	click := ""
	if r.Clickable {
		click = " click"
	}
	return strings.TrimRight(fmt.Sprintf("%s | %s | %s | %s%s | %s", r.Label, r.Path, strings.TrimPrefix(r.URI, record.NoteAddress), r.Status, click, r.Reason), " |")
}

func lines(list []turn.ChatShownReference) (out []string) {
	for _, r := range list {
		out = append(out, line(r))
	}
	return out
}

func (w *sourcesWorld) wants(got []turn.ChatShownReference, want ...string) {
	w.Helper()
	if have := lines(got); !slices.Equal(have, want) {
		w.Errorf("shown\n%s\nwant\n%s", strings.Join(have, "\n"), strings.Join(want, "\n"))
	}
}

// TestCHAT28_LabelsAndAddresses: the alias, else the heading form, else the title.
func TestCHAT28_LabelsAndAddresses(t *testing.T) {
	for text, want := range map[string]string{
		"[[Plan]]":             "Plan | docs/plan.md | plan | ok click",
		"[[plan|the plan]]":    "the plan | docs/plan.md | plan | ok click",
		"[[Plan#Goals]]":       "Plan#Goals | docs/plan.md | plan#Goals | ok click",
		"[[Plan#Two words]]":   "Plan#Two words | docs/plan.md | plan#Two%20words | ok click",
		"[[Plan#Goals|goals]]": "goals | docs/plan.md | plan#Goals | ok click",
		"[[Plan#^b1]]":         "Plan | docs/plan.md | plan#%5Eb1 | ok click",
		"[[Plan#Nothing]]":     "Plan#Nothing | docs/plan.md | plan#Nothing | ok click | The note has no heading Nothing",
		"![[docs/plan]]":       "Plan | docs/plan.md | plan | ok click",
		"[[Ghost]]":            "Ghost |  |  | broken | Document not found",
		"[[Ghost|boo]]":        "boo |  |  | broken | Document not found",
		"[[#Goals]]":           "Goals |  |  | broken | No note is given",
		"[[Twin]]":             "Twin |  |  | ambiguous | Several notes are called so: a/one.md, b/two.md",
		"[[Old]]":              "Old | old.md | old | broken | The note is archived",
	} {
		w := startSources(t)
		w.put(notes.Draft{ID: "plan", Title: "Plan", Path: "docs/plan.md", Body: "What we do.\n\n# Goals\n\nAll. ^b1\n\n# Two words\n"})
		w.put(notes.Draft{ID: "t1", Title: "Twin", Path: "a/one.md"})
		w.put(notes.Draft{ID: "t2", Title: "Twin", Path: "b/two.md"})
		w.put(notes.Draft{ID: "old", Title: "Old", Path: "old.md"})
		_, err := w.notes.Archive(w.ctx, "old", nil)
		w.must(err)
		conversation, messages := w.say("", "🍵 "+text+" and "+text)
		for _, q := range []cites.SourceRequest{{Conversation: conversation, Message: messages[0]}, {Conversation: conversation, Index: 1}} {
			got, _ := w.show(w.local, q)
			w.wants(got, want)
			r := got[0]
			places := [][2]int{{3, 3 + len(text)}, {8 + len(text), 8 + 2*len(text)}}
			if r.Wikilink != text || r.Type != record.ReferDirect || r.Used || !reflect.DeepEqual(r.Spans, places) || !slices.Equal(r.Messages, messages) {
				t.Errorf("%s is shown as %+v", text, r)
			}
			if wantSummary := r.Status == record.ReferOK; (r.Summary != "") != wantSummary {
				t.Errorf("%s has the summary %q", text, r.Summary)
			}
			a, ok := record.ParseAddress(r.URI)
			if ok != (r.NoteID != "") || a.ID != r.NoteID {
				t.Errorf("%s is opened at %q, which is %+v", text, r.URI, a)
			}
		}
	}
}

// TestCHAT28_StatusIsThatOfNow and what was said stays.
func TestCHAT28_StatusIsThatOfNow(t *testing.T) {
	w := startSources(t)
	for _, id := range []string{"moved", "gone", "old", "same"} {
		w.put(notes.Draft{ID: id, Title: "The " + id, Path: id + ".md", Body: "About " + id})
	}
	conversation, _ := w.say("", "[[The moved]] [[The gone#Part|it]] [[gone.md|]] [[The old]] [[Later]] [[The same]]")
	before, err := w.chats.Messages(w.ctx, w.local, conversation, "", 0, 1)
	w.must(err)
	moved := w.notes.Get("moved")
	w.put(notes.Draft{ID: "moved", Title: "Moved away", Path: "far/moved.md", Body: moved.Body})
	_, err = w.notes.Delete(w.ctx, "gone", nil)
	w.must(err)
	_, err = w.notes.Archive(w.ctx, "old", nil)
	w.must(err)
	w.put(notes.Draft{ID: "later", Title: "Later", Path: "later.md"})
	got, _ := w.show(w.local, cites.SourceRequest{Conversation: conversation})
	w.wants(
		got,
		"Moved away | far/moved.md | moved | ok click", "it | gone.md | gone#Part | deleted | The note was deleted",
		"The old | old.md | old | broken | The note is archived",
		"Later | later.md | later | ok click | There was no such note when the message was said", "The same | same.md | same | ok click",
	)
	if got[0].Summary != "About moved" || got[1].Summary != "About gone" {
		t.Errorf("the summaries are %q and %q", got[0].Summary, got[1].Summary)
	}
	after, err := w.chats.Messages(w.ctx, w.local, conversation, "", 0, 1)
	w.must(err)
	if !reflect.DeepEqual(before.Messages, after.Messages) {
		t.Errorf("what was said was %+v and is %+v", before.Messages[0], after.Messages[0])
	}
}

// TestCHAT28_AConversationHasEachNoteOnce with all messages, the tools of all of them, and what was used first.
func TestCHAT28_AConversationHasEachNoteOnce(t *testing.T) {
	w := startSources(t)
	for _, id := range []string{"a", "b", "c", "d"} {
		w.put(notes.Draft{ID: id, Title: id})
	}
	conversation, m := w.say("", "one", "[[a|first]]", "two", "three")
	w.refer(conversation, m[0], foundReference("b", false), foundReference("c", false), foundReference("a", false))
	w.refer(conversation, m[2], foundReference("d", false), foundReference("b", true), record.ChatReference{Type: record.ReferDirect, Status: record.ReferBroken, Wikilink: "[[Ghost]]"})
	w.refer(conversation, m[3], foundReference("a", true), record.ChatReference{Type: record.ReferDirect, Status: record.ReferBroken, Wikilink: "[[GHOST|x]]"})
	for _, limit := range []int{1, 2, 100} {
		got, last := w.show(w.local, cites.SourceRequest{Conversation: conversation, Limit: limit})
		w.wants(got, "b |  | b | ok click", "first |  | a | ok click", "Ghost |  |  | broken | Document not found")
		if last.Total != 3 || last.Unused != 2 {
			t.Errorf("in all %d, %d not used", last.Total, last.Unused)
		}
		all, last := w.show(w.local, cites.SourceRequest{Conversation: conversation, Limit: limit, All: true})
		w.wants(all[3:], "c |  | c | ok click", "d |  | d | ok click")
		if last.Total != 5 || last.Unused != 2 || !reflect.DeepEqual(all[:3], got) {
			t.Errorf("of all %d, %d not used: %v", last.Total, last.Unused, lines(all))
		}
		b, a := got[0], got[1]
		if !slices.Equal(a.Messages, []string{m[0], m[1], m[3]}) || !slices.Equal(a.Tools, []string{"search_notes", "read_note"}) || !a.Used || a.Type != record.ReferDirect {
			t.Errorf("a is %+v", a)
		}
		if !slices.Equal(b.Messages, []string{m[0], m[2]}) || !b.Used || b.Type != record.ReferSearch || len(b.Spans) > 0 {
			t.Errorf("b is %+v", b)
		}
	}
	one, last := w.show(w.local, cites.SourceRequest{Conversation: conversation, Message: m[0]})
	if len(one) > 0 || last.Total != 0 || last.Unused != 3 {
		t.Errorf("of the first message %v, %+v", lines(one), last)
	}
}

// TestCHAT28_TheNewestBranchCounts, and a message of another one can be asked for.
func TestCHAT28_TheNewestBranchCounts(t *testing.T) {
	w := startSources(t)
	w.put(notes.Draft{ID: "a", Title: "a"})
	w.put(notes.Draft{ID: "b", Title: "b"})
	ask := func(q chat.Question) *chat.Turn {
		t.Helper()
		links, err := w.chats.Links(w.ctx, w.local, q.Content)
		w.must(err)
		q.Links, q.Told = &links, &chat.ReferenceNotice{}
		asked, err := w.chats.Ask(w.ctx, w.local, q)
		w.must(err)
		return asked
	}
	turnOf := ask(chat.Question{Content: "[[a]]"})
	conversation := turnOf.Conversation.ID
	ask(chat.Question{ConversationID: conversation, Content: "[[b]]", Replaces: turnOf.Question.ID})
	got, _ := w.show(w.local, cites.SourceRequest{Conversation: conversation})
	w.wants(got, "b |  | b | ok click")
	got, _ = w.show(w.local, cites.SourceRequest{Conversation: conversation, Message: turnOf.Question.ID})
	w.wants(got, "a |  | a | ok click")
}

// TestCHAT29_OneNoteFiveTimes is one item with five places.
func TestCHAT29_OneNoteFiveTimes(t *testing.T) {
	w := startSources(t)
	w.put(notes.Draft{ID: "a", Title: "a", Path: "a.md"})
	conversation, m := w.say("", "[[a]] [[A]] [[a|x]] [[a.md]] ![[a]]")
	got, _ := w.show(w.local, cites.SourceRequest{Conversation: conversation, Message: m[0]})
	if len(got) != 1 || len(got[0].Spans) != 5 {
		t.Errorf("shown %+v", got)
	}
}

// TestPRIV6_ARemoteReaderIsShownWhatHeKnows: no private note, also when it is gone, and no private memory.
func TestPRIV6_ARemoteReaderIsShownWhatHeKnows(t *testing.T) {
	w := startSources(t)
	w.put(notes.Draft{ID: "open", Title: "Open"})
	w.put(notes.Draft{ID: "secret", Title: "Secret", Private: true})
	w.put(notes.Draft{ID: "lost", Title: "Lost", Private: true})
	w.put(notes.Draft{ID: "fell", Title: "Fell", Path: "fell.md"})
	list, err := w.memory.Add(w.ctx, w.local, []memory.Draft{{Statement: "I like tea", Handle: "tea"}, {Statement: "I like gin", Handle: "gin", Private: true}})
	w.must(err)
	conversation, m := w.say("", "one", "two")
	w.refer(conversation, m[0], foundReference("open", true), foundReference("secret", true), foundReference("lost", true), foundReference("fell", true),
		record.ChatReference{MemoryID: list[0].Memory.ID, Used: true}, record.ChatReference{MemoryID: list[1].Memory.ID, Used: true})
	w.refer(conversation, m[1], record.ChatReference{
		NoteID: "fell", Path: "fell.md", Wikilink: "[[Fell]]", Summary: "It fell.", Type: record.ReferDirect, Status: record.ReferOK,
	})
	for _, id := range []string{"lost", "fell"} {
		_, err := w.notes.Delete(w.ctx, id, nil)
		w.must(err)
	}
	got, _ := w.show(w.local, cites.SourceRequest{Conversation: conversation})
	w.wants(got, "Open |  | open | ok click", "Secret |  | secret | ok click", "lost |  | lost | deleted | The note was deleted",
		"Fell | fell.md | fell | deleted | The note was deleted", "I like tea |  |  | ok", "I like gin |  |  | ok")
	if tea := got[4]; tea.MemoryID != list[0].Memory.ID || tea.Ref != "#1" || !tea.Used || tea.Clickable {
		t.Errorf("a memory is %+v", tea)
	}
	got, last := w.show(w.remote, cites.SourceRequest{Conversation: conversation})
	w.wants(got, "Open |  | open | ok click", "I like tea |  |  | ok", "Fell |  | fell | deleted | The note was deleted")
	if last.Total != 3 || last.Unused != 0 {
		t.Errorf("a remote reader is told of %d and %d", last.Total, last.Unused)
	}
}

// TestCHAT28_WhatThereIsNot is said with the field that named it.
func TestCHAT28_WhatThereIsNot(t *testing.T) {
	w := startSources(t)
	conversation, m := w.say("", "one")
	for _, c := range []struct {
		q     cites.SourceRequest
		kind  fault.Kind
		field string
	}{
		{cites.SourceRequest{Conversation: "none"}, fault.NotFound, "conversationId"},
		{cites.SourceRequest{Conversation: "none", Index: 1}, fault.NotFound, "conversationId"},
		{cites.SourceRequest{Conversation: conversation, Message: "none"}, fault.NotFound, "messageId"},
		{cites.SourceRequest{Conversation: conversation, Index: 2}, fault.NotFound, "index"},
		{cites.SourceRequest{Conversation: conversation, Index: 1, Message: m[0]}, fault.Invalid, "index"},
	} {
		c.q.Limit = 10
		_, err := w.shower.References(w.ctx, w.local, c.q)
		f, ok := err.(*fault.Error)
		if !ok || f.Kind != c.kind || f.Field != c.field || f.Hint == "" {
			t.Errorf("%+v gives %v", c.q, err)
		}
	}
	empty, err := w.chats.Put(w.ctx, w.local, "", chat.Change{Settings: chat.Settings{}})
	w.must(err)
	if got, last := w.show(w.local, cites.SourceRequest{Conversation: empty.ID}); len(got) > 0 || last.List == nil {
		t.Errorf("an empty conversation stands on %v", got)
	}
}
