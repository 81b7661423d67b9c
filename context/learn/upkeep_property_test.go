package learn_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/record"
)

// statements say the same, contradict and replace each other.
var statements = []string{
	"I live in Leeds.", "My home is in Leeds.", "I moved to York.", "I live in York now.", "I have 25 days of leave.",
	"I have 28 days of leave.", "I now have 30 days of leave.", "My sister is called Anna.", "My sister's name is Anna.",
	"Anna is the name of my sister.", "I eat meat.", "I do not eat meat.", "I no longer eat meat.", "I like tea.", "I like coffee.",
	"I drink coffee only at weekends.", "My rent is 950 euros.", "My rent has gone up to 1020 euros.", "My car is a blue Volvo.",
	"I drive a blue Volvo.", "Ich esse kein Fleisch.", "Fleisch esse ich nicht.", "I can't stand loud restaurants.",
	"I hate loud restaurants.",
}

// life is what happened to a store: what was written down and said, in its order.
type life struct {
	drafts []memory.Draft
	said   []string // "": a fact is written down
	gaps   []time.Duration
}

func lives() *rapid.Generator[life] {
	return rapid.Custom(func(t *rapid.T) (l life) {
		for i := range rapid.IntRange(1, 14).Draw(t, "events") {
			l.gaps = append(l.gaps, time.Duration(rapid.IntRange(0, 60).Draw(t, "hours"))*time.Hour)
			text := rapid.SampledFrom(statements).Draw(t, "statement")
			if rapid.IntRange(0, 3).Draw(t, "said") == 0 {
				l.said, l.drafts = append(l.said, text), append(l.drafts, memory.Draft{})
				continue
			}
			sure := float64(rapid.IntRange(30, 100).Draw(t, "sure")) / 100
			l.said = append(l.said, "")
			l.drafts = append(l.drafts, memory.Draft{
				ID: fmt.Sprintf("f%02d", i), Statement: text, Confidence: &sure, Private: rapid.IntRange(0, 4).Draw(t, "private") == 0,
				Source: record.MemorySource{Kind: rapid.SampledFrom([]string{"user", "extraction", "assistant"}).Draw(t, "source")},
				Kind:   rapid.SampledFrom([]string{"fact", "preference", "identity"}).Draw(t, "kind"),
			})
		}
		return l
	})
}

// live has it happen, and returns the ids of the facts. between is called after each event.
func (w *keeperWorld) live(l life, between func()) (ids []string) {
	for i, d := range l.drafts {
		w.now = w.now.Add(l.gaps[i])
		if l.said[i] != "" {
			w.say(fmt.Sprintf("m%02d", i), l.said[i])
		} else if id := w.add(d); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		between()
	}
	return ids
}

func (w *keeperWorld) expect(what string, want, got []record.MemoryRecord) {
	w.Helper()
	for i := range want {
		if !sameState(want[i], got[i]) {
			w.Fatalf("%s: %q is\n%+v\nand not\n%+v", what, want[i].Statement, got[i], want[i])
		}
	}
}

// TestMEM61_PiecesTwiceAndBack runs upkeep whole, twice, as a dry run, in pieces with kills between, and back.
func TestMEM61_PiecesTwiceAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := lives().Draw(t, "life")
		later := time.Duration(rapid.IntRange(0, 150).Draw(t, "days")) * day
		whole, pieces := openKeeper(t), openKeeper(t)
		ids := whole.live(l, func() {})
		pieces.live(l, func() {})
		whole.now, pieces.now = whole.now.Add(later), pieces.now.Add(later)

		before := whole.look(ids)
		dry, err := whole.keeper().Run(context.Background(), learn.UpkeepRequest{DryRun: true})
		whole.must(err)
		whole.expect("a dry run", before, whole.look(ids))
		rep := whole.run()
		if len(dry.Changes) != len(rep.Changes) || dry.Queued != rep.Queued || dry.Same != rep.Same {
			t.Fatalf("a dry run says %d changes, %d wait; the run %d, %d\n%+v\n%+v",
				len(dry.Changes), dry.Queued, len(rep.Changes), rep.Queued, dry.Changes, rep.Changes)
		}
		after := whole.look(ids)
		if again := whole.run(); len(again.Changes) != 0 || again.Queued != rep.Queued {
			t.Fatalf("a second run has done %+v", again.Changes)
		}
		whole.expect("a second run", after, whole.look(ids))

		for tries := 0; ; tries++ {
			pieces.kill = rapid.IntRange(0, 2).Draw(t, "transactions")
			if tries > 20 {
				pieces.kill = -1
			}
			_, err := pieces.keeper().Run(context.Background(), learn.UpkeepRequest{})
			if err == nil {
				break
			}
			if !errors.Is(err, errKilled) {
				t.Fatal(err)
			}
		}
		pieces.expect("in pieces", after, pieces.look(ids))
		if a, b := len(whole.conflicts(whole.local)), len(pieces.conflicts(pieces.local)); a != b {
			t.Fatalf("%d conflicts, and in pieces %d", a, b)
		}

		pieces.kill = rapid.IntRange(0, 2).Draw(t, "transactions")
		_, err = pieces.keeper().Undo(context.Background(), "run-b")
		for errors.Is(err, errKilled) {
			pieces.kill++
			_, err = pieces.keeper().Undo(context.Background(), "run-b")
		}
		pieces.must(err)
		pieces.expect("undone", before, pieces.look(ids))
	})
}

// TestMEM56_AnyOrderOfIndependentSteps compares evidence and decay, at any times and in any order, with a plain model.
func TestMEM56_AnyOrderOfIndependentSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := lives().Draw(t, "life")
		for i := range l.drafts {
			l.drafts[i].Private = false
		}
		w := openKeeper(t)
		ids := w.live(l, func() {
			for _, step := range rapid.SliceOfN(rapid.SampledFrom([]string{learn.StepEvidence, learn.StepDecay}), 0, 2).Draw(t, "steps") {
				w.run(step)
			}
		})
		w.now = w.now.Add(time.Duration(rapid.IntRange(0, 150).Draw(t, "days")) * day)
		last := []string{learn.StepEvidence, learn.StepDecay}
		if rapid.Bool().Draw(t, "other order") {
			slices.Reverse(last)
		}
		for _, step := range last {
			w.run(step)
		}
		for _, id := range ids {
			m := w.get(id)
			want, count := w.plain(m)
			if got := m.EvidenceCount; got != count {
				t.Fatalf("%q counts %d, want %d", m.Statement, got, count)
			}
			shown, err := w.mem.Get(w.local, id)
			w.must(err)
			if math.Abs(shown.Confidence-want) > 1e-12 {
				t.Fatalf("%q is sure to %v, want %v", m.Statement, shown.Confidence, want)
			}
			if status := map[bool]string{true: "deprecated", false: "active"}[want < 0.3]; m.Status != status && fades(m) {
				t.Fatalf("%q is %s at %v", m.Statement, m.Status, want)
			}
		}
	})
}

func fades(m *memory.Record) bool { return m.Source.Kind != "user" && m.Kind != "identity" }

// plain is how sure a fact is, by a walk over all that was written down and said.
func (w *keeperWorld) plain(m *memory.Record) (sure float64, count int) {
	type event struct {
		at   time.Time
		text string
		like bool
	}
	var all []event
	for _, s := range w.said {
		all = append(all, event{s.At, s.Text, w.alike(m.Statement, s.Text)})
	}
	for other := range w.mem.All() {
		if other.ID != m.ID {
			all = append(all, event{other.CreatedAt, other.Statement, w.alike(m.Statement, other.Statement)})
		}
	}
	slices.SortFunc(all, func(a, b event) int { return a.at.Compare(b.at) })
	sure, at := w.first(m.ID), m.CreatedAt
	fade := func(now time.Time) {
		if fades(m) {
			sure *= math.Exp(-0.01 * float64(now.Sub(at)/day))
		}
	}
	for _, e := range all {
		if !e.at.After(m.CreatedAt) || !e.like {
			continue
		}
		for _, s := range learn.ReadSentences(e.text) {
			if learn.SupportsFact(learn.ReadStatement(m.Statement), s) {
				fade(e.at)
				sure += 0.05 * (1 - sure)
				at = e.at
				count++
			}
		}
	}
	fade(w.now)
	return sure, count
}
