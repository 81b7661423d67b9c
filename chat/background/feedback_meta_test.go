package background_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/chat/background"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/record"
)

func TestMEM66_WhatAnAnswerHasToDoWithMemories(t *testing.T) {
	tier := func(id string) string {
		return map[string]string{"a": "history", "b": "memoryBank", "c": "history"}[id]
	}
	in := &turn.ChatInspected{
		Question: &record.ChatMessage{Content: strings.Repeat("?", 600)},
		Answer: &record.ChatMessage{Content: "As #12 says, not #123 alone.", References: []record.ChatReference{
			{NoteID: "n1", Used: true},
			{NoteID: "n2"},
			{MemoryID: "a", Ref: "#1"},
			{MemoryID: "b", Ref: "#12"},
			{MemoryID: "gone", Ref: "#7"},
			{MemoryID: "c", Ref: "#3"},
		}},
		Trace: &turn.ChatTrace{Stages: []prompt.Stage{{Name: "search", Ms: 2}, {Name: "search", Ms: 1}, {Name: "recall", Skipped: true, Why: "it took too long"}}},
	}
	got := background.AnswerMeta(in, record.OutcomeUnscored, tier)
	want := &record.MemoryMeta{
		SchemaVersion: 1, Query: strings.Repeat("?", 500),
		Retrieval: record.MemoryRetrieval{
			SortBy: "relevance", TiersConsidered: []string{"working", "history", "patterns", "memoryBank"}, TiersUsed: []string{"history", "memoryBank"},
			Fallbacks: []string{"recall: it took too long"}, StageMS: map[string]float64{"search": 3, "recall": 0},
		},
		Known:     []record.MemoryKnown{{ID: "a", Tier: "history"}, {ID: "b", Tier: "memoryBank"}, {ID: "gone"}, {ID: "c", Tier: "history"}},
		Citations: []record.MemoryCited{{Kind: "note", ID: "n1"}, {Kind: "memory", ID: "b"}},
		Feedback:  record.MemoryFeedback{Eligible: true, Related: []string{"b"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	in.Answer.Content, in.Question, in.Trace = "Yes.", nil, nil
	if got := background.AnswerMeta(in, "worked", tier); got.Feedback.Eligible || len(got.Feedback.Related) != 4 || got.Query != "" {
		t.Errorf("none is named: %+v", got)
	}
	for i := range 200 {
		in.Answer.References = append(in.Answer.References, record.ChatReference{MemoryID: fmt.Sprint("m", i), Ref: fmt.Sprint("#", 1000+i)}, record.ChatReference{NoteID: fmt.Sprint("x", i), Used: true})
	}
	if got := background.AnswerMeta(in, "", tier); len(got.Known) != 50 || len(got.Citations) != 50 || len(got.Feedback.Related) != 50 {
		t.Errorf("%d known, %d cited, %d related", len(got.Known), len(got.Citations), len(got.Feedback.Related))
	}
	in.Answer.References = []record.ChatReference{{NoteID: "n1", Used: true}}
	if got := background.AnswerMeta(in, "", tier); got != nil {
		t.Errorf("an answer without memories has %+v", got)
	}
}
