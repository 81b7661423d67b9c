package learn_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
)

// TestREL16_DeletionsBesideUpkeep deletes and changes facts between all transactions of runs, while a model is asked, and
// while a run is undone: what is kept fits together at each of these times.
func TestREL16_DeletionsBesideUpkeep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := openKeeper(t)
		ids := w.live(lives().Draw(t, "life"), func() {})
		w.now = w.now.Add(time.Duration(rapid.IntRange(0, 150).Draw(t, "days")) * day)
		w.between = func() {
			w.whole()
			if len(ids) == 0 {
				return
			}
			id := rapid.SampledFrom(ids).Draw(t, "fact")
			switch rapid.SampledFrom([]string{"nothing", "deleted", "deleted", "changed", "settled"}).Draw(t, "what") {
			case "deleted":
				ids = slices.DeleteFunc(slices.Clone(ids), func(other string) bool { return other == id })
				w.forget(id)
			case "changed":
				text := rapid.SampledFrom(statements).Draw(t, "statement")
				_, _ = w.mem.Update(context.Background(), w.local, memory.Patch{ID: id, Statement: &text}, nil) // one that was merged is left
			case "settled":
				for _, c := range w.conflicts(w.local) {
					_, err := w.keeper().Settle(context.Background(), w.local, c.ID, c.With, rapid.SampledFrom(learn.Resolutions).Draw(t, "how"))
					if fault.KindOf(err) != fault.Conflict { // the one before it has ended this one
						w.must(err)
					}
				}
			}
		}
		w.by = &adviser{local: true, answer: func(learn.PairQuestion) string {
			w.between()
			return rapid.SampledFrom([]string{learn.AdviceMerge, learn.AdviceKeepBoth, learn.AdviceContradiction, learn.AdviceNewer}).Draw(t, "answer")
		}}
		for range rapid.IntRange(1, 3).Draw(t, "runs") {
			rep := w.run()
			w.whole()
			if rapid.Bool().Draw(t, "undone") {
				_, err := w.keeper().Undo(context.Background(), rep.RunID)
				w.must(err)
				w.whole()
			}
		}
	})
}

// TestREL16_ADeletionBeforeItsPairIsWritten leaves no pair, whatever is to be written of it.
func TestREL16_ADeletionBeforeItsPairIsWritten(t *testing.T) {
	for name, c := range map[string]struct {
		a, b   string
		before func(w *keeperWorld) // the run
		model  string               // what it says; "": none is asked
	}{
		"waits":     {a: "I can't stand loud restaurants.", b: "I hate loud restaurants."},
		"both hold": {a: "I can't stand loud restaurants.", b: "I hate loud restaurants.", model: learn.AdviceKeepBoth},
		"closed": {a: "I have 25 days of leave.", b: "I have 28 days of leave.", before: func(w *keeperWorld) {
			w.run()
			_, err := w.mem.Archive(context.Background(), w.local, "b", nil)
			w.must(err)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := openKeeper(t)
			w.fact("a", c.a)
			w.fact("b", c.b)
			if c.before != nil {
				c.before(w)
			}
			if c.model != "" {
				w.by = &adviser{local: true, answer: func(learn.PairQuestion) string { w.forget("b"); return c.model }}
			} else {
				w.between = func() {
					if w.mem.Stored("b") != nil {
						w.forget("b")
					}
				}
			}
			w.run()
			if w.mem.Stored("b") != nil {
				t.Fatal("nothing was deleted beside the run")
			}
			w.whole()
		})
	}
}

// TestREL16_AnAnswerAboutOtherWords of a model is not kept: what it was asked about does not stand there any more.
func TestREL16_AnAnswerAboutOtherWords(t *testing.T) {
	w := openKeeper(t)
	w.unsure()
	asked := 0
	w.by = &adviser{local: true, answer: func(learn.PairQuestion) string {
		if asked++; asked == 1 {
			text := "I hate loud restaurants at noon."
			_, err := w.mem.Update(context.Background(), w.local, memory.Patch{ID: "b", Statement: &text}, nil)
			w.must(err)
		}
		return learn.AdviceKeepBoth
	}}
	w.run()
	if list := w.conflicts(w.local); len(list) != 1 || asked != 1 {
		t.Fatalf("%d open after %d questions: %+v", len(list), asked, list)
	}
	w.run()
	if list := w.conflicts(w.local); len(list) != 0 || asked != 2 {
		t.Errorf("%d open after %d questions: %+v", len(list), asked, list)
	}
}

// TestREL16_WhatIsShownOfADeletedMemory is nothing, whether it was deleted before it is noted, before that is written, or
// while it is scored.
func TestREL16_WhatIsShownOfADeletedMemory(t *testing.T) {
	for _, how := range []string{"shown late", "scored late"} {
		w := openScorer(t, t.TempDir())
		w.add("a", "working")
		w.add("b", "working")
		if how == "scored late" {
			w.show("c", "a", "b")
		}
		w.must(w.mem.Delete(t.Context(), w.local, "a", true, nil))
		if how == "shown late" {
			w.show("c", "a", "b") // a search that began before
		}
		w.room.Flush(t.Context())
		w.whole(how)
		w.respond(learn.AnswerOutcome{Outcome: "worked", ConversationID: "c"})
		w.whole(how + ", scored")
		w.scores(map[string]float64{"b": 0.7})
	}
}

// TestREL16_AnAnswerOfADeletedConversation has no outcome.
func TestREL16_AnAnswerOfADeletedConversation(t *testing.T) {
	w := openScorer(t, t.TempDir())
	w.add("a", "working")
	w.gone = true
	w.must(w.room.Answered(t.Context(), w.local, "c", "answer", []string{"a"}))
	w.answer.Shown = []string{"a"}
	w.respond(learn.AnswerOutcome{Outcome: "worked", ConversationID: "c", MessageID: "answer"})
	if of, err := w.room.OutcomesOf(t.Context(), "c"); err != nil || len(of) != 0 {
		t.Errorf("%v, %v", of, err)
	}
}
