package chat_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

func mustTrace(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// largest is the trace of an answer that stands on more than any does.
func largest() *chat.Trace {
	id := func(kind string, i int) string { return kind + strings.Repeat("x", 50) + fmt.Sprint(1_000_000+i) }
	r := &prompt.Report{Chars: 1e9, Budget: 1e9, Hash: strings.Repeat("a", 64)}
	for i := range 40 {
		s := prompt.SectionReport{Name: "referenced", Chars: 1e9, Budget: 1e9}
		for j := range 50 {
			s.Items = append(s.Items, prompt.Item{Kind: prompt.KindEntity, ID: id("e", i*100+j), Chars: 1e9, Cut: &prompt.Extent{}, Depth: 9})
		}
		r.Sections = append(r.Sections, s)
		r.Stages = append(r.Stages, prompt.Stage{Name: "stage", Ms: 1e9, Skipped: true})
		for j := range 10 {
			r.Dropped = append(r.Dropped, prompt.Dropped{Kind: prompt.KindEntity, ID: id("d", i*100+j), Reason: prompt.Duplicate})
		}
	}
	t := chat.NewTrace(r, time.Now(), true, true)
	var tools []record.ToolReference
	for i := range 500 {
		tools = append(tools, record.ToolReference{
			NoteID: id("e", i), How: record.ToolExcerpt, Tools: []string{"read_note", "find_excerpts", "search_notes", "explore_graph", "query", "get_entity"},
		})
	}
	t.Shown(tools, "")
	for range 30 {
		t.AskedOnce(chat.TraceRound{Took: 1e12, First: 1e12, Tries: 3, Finish: "interrupted", Usage: &record.ChatUsage{In: 1e9, Out: 1e9, Cached: 1e9, Estimated: true}})
		for range 30 {
			t.Called(chat.TraceCall{Name: "explore_graph", Arguments: 1e9, Chars: 1e9, Took: 1e12, Cached: true, Failed: true})
		}
	}
	spent := make(map[string]time.Duration)
	for i := range 100 {
		spent[fmt.Sprint("stage", i)] = time.Hour
	}
	t.Ended(spent, fault.New(fault.Unavailable, "words"))
	return t
}

// stored is a trace as it lies in a store.
func stored(t *testing.T, r *chat.Trace) (text string) {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	mustTrace(t, err)
	defer func() { _ = db.Close() }()
	mustTrace(t, db.Update(context.Background(), func(tx *kv.Tx) error { return chat.PutTrace(tx, "c", "m", r) }))
	mustTrace(t, db.View(context.Background(), func(tx *kv.Tx) error {
		s, err := raw.Get(tx, "c/m")
		text = *s
		return err
	}))
	return text
}

// raw are traces as they are stored.
var raw = kv.NewCollection("message-trace", kv.Codec[string]{
	Encode: func(s *string) (string, error) { return *s, nil }, Decode: func(s string) (*string, error) { return &s, nil },
})

// read reads a trace from what a store has.
func read(t *testing.T, text string) (r *chat.Trace, err error) {
	t.Helper()
	db, failed := kv.Open(kv.InMemory, kv.Options{})
	mustTrace(t, failed)
	defer func() { _ = db.Close() }()
	mustTrace(t, db.Update(context.Background(), func(tx *kv.Tx) error { return raw.Put(tx, "c/m", &text) }))
	_ = db.View(context.Background(), func(tx *kv.Tx) error {
		r, err = chat.GetTrace(tx, "c", "m")
		return nil
	})
	return r, err
}

func TestCHAT27_ATraceComesBackAsItWas(t *testing.T) {
	few := chat.NewTrace(&prompt.Report{
		Sections: []prompt.SectionReport{{Name: prompt.SectionPinned, Chars: 300, Items: []prompt.Item{
			{Kind: prompt.KindNote, ID: "6fa459ea-ee8a-3ca4-894e-db77e160355e", Chars: 200, Cut: &prompt.Extent{}, Reason: prompt.PinnedByUser},
			{Kind: prompt.KindNote, ID: "6FA459EA-EE8A-3CA4-894E-DB77E160355E", Chars: 100},
			{Kind: prompt.KindAction},
			{Kind: prompt.KindNote, ID: "6fa459ea_ee8a-3ca4-894e-db77e160355e"},
		}}},
		Dropped: []prompt.Dropped{{Kind: prompt.KindEntity, ID: "e", Reason: prompt.OverLimit}, {Kind: prompt.KindEntity, ID: "f", Reason: prompt.OverLimit}},
	}, time.Now(), true, true)
	for _, r := range []*chat.Trace{few, largest(), {}} {
		text := stored(t, r)
		back, err := read(t, text)
		mustTrace(t, err)
		was, err := json.Marshal(r)
		mustTrace(t, err)
		is, err := json.Marshal(back)
		mustTrace(t, err)
		if string(was) != string(is) {
			t.Errorf("it was\n%.2000s and is\n%.2000s", was, is)
		}
		t.Logf("%d bytes, as JSON %d", len(text), len(was))
	}
	text := stored(t, few)
	for cut := range text { // what is cut short is an error, and what is changed no panic
		if _, err := read(t, text[:cut]); err == nil {
			t.Errorf("%d bytes of %d are read", cut, len(text))
		}
		for _, b := range []byte{0, 1, 0x7f, 0xff} {
			_, _ = read(t, text[:cut]+string([]byte{b})+text[cut+1:])
		}
	}
}

func TestCHAT27_ATraceIsBounded(t *testing.T) {
	r := largest()
	text := stored(t, r)
	if len(r.References) != chat.MaxTraceReferences || len(r.Dropped) != chat.MaxTraceDrops || len(r.Rounds) != chat.MaxTraceRounds || len(text) > chat.MaxTraceBytes {
		t.Errorf("%d references, %d dropped, %d rounds, %d bytes", len(r.References), len(r.Dropped), len(r.Rounds), len(text))
	}
	if r.Left < 1000 {
		t.Errorf("%d are said to be left out", r.Left)
	}
	t.Logf("the largest trace has %d bytes", len(text))
	if problems := check(t, map[string]*chat.Trace{"c/m": r}, "m"); len(problems) > 0 {
		t.Errorf("%q", problems)
	}
}

// check says what a store with traces of the conversation c has wrong, when some answers are there.
func check(t *testing.T, list map[string]*chat.Trace, there ...string) (problems []string) {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	mustTrace(t, err)
	defer func() { _ = db.Close() }()
	mustTrace(t, db.Update(context.Background(), func(tx *kv.Tx) error {
		for key, r := range list {
			id, messageID, _ := strings.Cut(key, "/")
			if err := chat.PutTrace(tx, id, messageID, r); err != nil {
				return err
			}
		}
		problems = chat.CheckTraces(tx, func(_, messageID string) bool { return slices.Contains(there, messageID) })
		return tx.Err()
	}))
	return problems
}

// What no program has written is found: a text in the place of an id or a word, and lists that are too long.
func TestCHAT27_WhatCannotBeATraceIsFound(t *testing.T) {
	long := largest()
	long.References = append(long.References, long.References...)
	for name, r := range map[string]*chat.Trace{
		"long":    long,
		"failure": {Failure: "the disk is full"},
		"section": {Sections: []chat.TraceSection{{Name: "My diary"}}},
		"id":      {References: []chat.TraceReference{{Kind: "note", ID: "My diary", Origin: "search"}}},
		"place":   {References: []chat.TraceReference{{Kind: "note", ID: "n", Origin: "search", Section: 2}}},
		"tool":    {References: []chat.TraceReference{{Kind: "note", ID: "n", Origin: "tool", Tools: []string{"rm -rf"}}}},
		"dropped": {Dropped: []chat.TraceDrop{{Kind: "note", ID: "../x", Reason: "budget"}}},
		"call":    {Rounds: []chat.TraceRound{{Calls: []chat.TraceCall{{Name: "a tool of words"}}}}},
		"stage":   {Times: []chat.TraceStage{{Name: "a b"}}},
		"hash":    {Hash: "not a hash"},
	} {
		if problems := check(t, map[string]*chat.Trace{"c/m": r}, "m"); len(problems) != 1 || !strings.Contains(problems[0], "can't be right") {
			t.Errorf("%s: %q", name, problems)
		}
	}
	if problems := check(t, map[string]*chat.Trace{"c/m": {}, "c/n": {}}, "m"); len(problems) != 1 || !strings.Contains(problems[0], "no message") {
		t.Errorf("%q", problems)
	}
}

func TestCHAT25_TracesOfNoAnswerAreMended(t *testing.T) {
	db, err := kv.Open(kv.InMemory, kv.Options{})
	mustTrace(t, err)
	defer func() { _ = db.Close() }()
	mustTrace(t, db.Update(t.Context(), func(tx *kv.Tx) error {
		for _, key := range [][2]string{{"c", "m"}, {"c", "n"}, {"d", "m"}, {"cc", "m"}} {
			mustTrace(t, chat.PutTrace(tx, key[0], key[1], &chat.Trace{Chars: 1}))
		}
		mustTrace(t, chat.MendTraces(tx, func(id, messageID string) bool { return id != "d" && messageID == "m" }))
		mustTrace(t, chat.DeleteTrace(tx, "c", ""))
		for _, key := range [][2]string{{"c", "m"}, {"c", "n"}, {"d", "m"}} {
			if r, err := chat.GetTrace(tx, key[0], key[1]); r != nil || err != nil {
				t.Errorf("%v is %+v, %v", key, r, err)
			}
		}
		if r, err := chat.GetTrace(tx, "cc", "m"); r == nil || err != nil {
			t.Errorf("that of another conversation is gone: %v", err)
		}
		return nil
	}))
}

// Each way in which a record comes into a prompt has its name.
func TestCHAT27_Origins(t *testing.T) {
	for _, c := range []struct {
		section string
		item    prompt.Item
		want    string
	}{
		{prompt.SectionPinned, prompt.Item{Reason: prompt.PinnedByUser}, turn.OriginMention},
		{prompt.SectionPinned, prompt.Item{Reason: prompt.PinnedInConversation}, turn.OriginPinned},
		{prompt.SectionEntities, prompt.Item{}, turn.OriginMention},
		{prompt.SectionEntities, prompt.Item{Depth: 1}, turn.OriginEntity},
		{prompt.SectionLinked, prompt.Item{Reason: "the note of @A"}, turn.OriginEntity},
		{prompt.SectionSearch, prompt.Item{Reason: "found by search, by its meaning"}, turn.OriginSearch},
		{prompt.SectionCalendar, prompt.Item{}, turn.OriginClient},
		{prompt.SectionActions, prompt.Item{}, turn.OriginClient},
		{prompt.SectionReferenced, prompt.Item{Reason: "named by the user as #1"}, turn.OriginMention},
		{prompt.SectionMemory, prompt.Item{Reason: prompt.PinnedByUser}, turn.OriginPinned},
		{prompt.SectionMemory, prompt.Item{Reason: prompt.PinnedInConversation}, turn.OriginPinned},
		{prompt.SectionMemory, prompt.Item{Reason: prompt.KnownAboutUser}, turn.OriginProfile},
		{prompt.SectionMemory, prompt.Item{Reason: prompt.FoundByTurns}, turn.OriginPassive},
		{prompt.SectionMemory, prompt.Item{Reason: prompt.FoundBySearch}, turn.OriginSearch},
		{prompt.SectionMemory, prompt.Item{Reason: "attached by the user"}, turn.OriginMention},
	} {
		item := c.item
		item.Kind, item.ID = prompt.KindNote, "n"
		r := chat.NewTrace(&prompt.Report{Sections: []prompt.SectionReport{{Name: c.section, Items: []prompt.Item{item}}}}, time.Now(), false, true)
		if got := r.References[0].Origin; got != c.want {
			t.Errorf("%s, %q: %s, want %s", c.section, c.item.Reason, got, c.want)
		}
	}
}

// What a client or a text calls an id is kept only where it can be one of ours.
func TestPRIV6_ATraceKeepsNoTextAsAnID(t *testing.T) {
	r := chat.NewTrace(&prompt.Report{
		Sections: []prompt.SectionReport{{Name: prompt.SectionActions, Items: []prompt.Item{{Kind: prompt.KindAction, ID: "secret-words", Title: "secret"}}}},
		Dropped: []prompt.Dropped{
			{Kind: prompt.KindNote, ID: "secret words", Reason: prompt.Unknown},
			{Kind: prompt.KindEntity, Title: "secret", Reason: prompt.Ambiguous},
			{Kind: prompt.KindNote, ID: "secret", Reason: prompt.Private},
			{Kind: prompt.KindMessage, ID: "c/secret/x", Reason: prompt.OverLimit},
		},
	}, time.Now(), false, true)
	text, err := json.Marshal(r)
	mustTrace(t, err)
	if strings.Contains(string(text), "secret") || r.Withheld != 1 || len(r.Dropped) != 3 {
		t.Errorf("%s", text)
	}
}
