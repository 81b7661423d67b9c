package learn_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// scorerWorld is a store in a folder, which can be opened anew, with memories and one conversation "c" with the answer "answer".
type scorerWorld struct {
	rapid.TB
	dir           string
	now           time.Time
	ids           int
	db            *kv.Store
	mem           *memory.Store
	room          *learn.Scorer
	log           *learn.EventLog
	local, remote *audience.View
	answer        learn.Answer
	off           bool
	gone          bool // the conversation was deleted
}

func openScorer(t rapid.TB, dir string) *scorerWorld {
	w := &scorerWorld{TB: t, dir: dir, now: time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)}
	w.open()
	if c, ok := t.(interface{ Cleanup(func()) }); ok {
		c.Cleanup(func() { // what is shown is written behind the call
			w.room.Flush(context.Background())
			_ = w.db.Close()
		})
	}
	return w
}

func (w *scorerWorld) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *scorerWorld) clock() time.Time {
	w.now = w.now.Add(time.Second)
	return w.now
}

func (w *scorerWorld) open() {
	db, err := kv.Open(w.dir, kv.Options{})
	w.must(err)
	ents, err := entities.Open(db, entities.Options{})
	w.must(err)
	ns, err := notes.Open(db, ents, notes.Options{})
	w.must(err)
	rooms := audience.Open(db, audience.Stores{Entities: ents, Notes: ns})
	w.db, w.local, w.remote = db, rooms.View(audience.Local), rooms.View(audience.Remote)
	w.mem, err = memory.Open(db, memory.Options{
		Now: w.clock, NewID: func() string { w.ids++; return fmt.Sprint("new", w.ids) },
		Deleted: func(tx *kv.Tx, ids []string) error {
			return errors.Join(learn.ForgetInEvents(tx, ids), learn.ForgetInOutcomes(tx, ids))
		},
		Conversation: func(*kv.Tx, string, []string) (bool, bool, error) { return false, true, nil },
	})
	w.must(err)
	w.log = &learn.EventLog{DB: db, Store: w.mem}
	w.room, err = learn.OpenScorer(db, w.mem, learn.ScorerOptions{
		Now: w.clock, Off: w.off, There: func(*kv.Tx, string) (bool, error) { return !w.gone, nil },
		Conversation: func(_ context.Context, _ *audience.View, id string) bool { return id == "c" },
		Answer: func(_ context.Context, _ *audience.View, conversation, message string) (learn.Answer, error) {
			if conversation == "c" && message == "answer" {
				return w.answer, nil
			}
			return learn.Answer{}, fault.Missing("message", message)
		},
	})
	w.must(err)
}

// restart stops the daemon and starts it again.
func (w *scorerWorld) restart() {
	w.room.Flush(context.Background())
	w.must(w.db.Close())
	w.open()
}

// whole fails unless all records of the rooms fit together.
func (w *scorerWorld) whole(when string) {
	w.Helper()
	w.must(w.db.View(context.Background(), func(tx *kv.Tx) error {
		problems, err := learn.Check(tx)
		if len(problems) > 0 {
			w.Errorf("%s: %q", when, problems)
		}
		return err
	}))
}

func (w *scorerWorld) add(id, tier string) {
	w.Helper()
	w.adds(memory.Draft{ID: id, Statement: "statement of " + id, Tier: tier})
}

func (w *scorerWorld) adds(d memory.Draft) {
	w.Helper()
	_, err := w.mem.Add(context.Background(), w.local, []memory.Draft{d})
	w.must(err)
}

func (w *scorerWorld) show(conversation string, ids ...string) {
	var hits []learn.OutcomeHit
	for _, id := range ids {
		hits = append(hits, learn.OutcomeHit{Kind: learn.HitMemories, ID: id})
	}
	w.room.Show(w.local, conversation, "", hits)
}

func (w *scorerWorld) respond(p learn.AnswerOutcome) *learn.ScoreResult {
	w.Helper()
	out, err := w.room.Response(context.Background(), w.local, p)
	w.must(err)
	return out
}

// scores fails unless memories have these scores, in hundredths.
func (w *scorerWorld) scores(want map[string]float64) {
	w.Helper()
	for id, score := range want {
		m, err := w.mem.Get(w.local, id)
		w.must(err)
		if m.Use.Score != score {
			w.Errorf("score of %s: %v, want %v", id, m.Use.Score, score)
		}
	}
}

func ids(out *learn.ScoreResult) string {
	var list []string
	for _, m := range out.Memories {
		list = append(list, m.ID)
	}
	return strings.Join(list, " ")
}

func refused(t rapid.TB, err error, kind fault.Kind, field string) {
	t.Helper()
	var f *fault.Error
	if fault.KindOf(err) != kind || !errors.As(err, &f) || f.Field != field {
		t.Fatalf("error %v, of kind %v; want %v of field %q", err, fault.KindOf(err), kind, field)
	}
	if f.Hint == "" && kind == fault.Invalid {
		t.Errorf("%v has no hint", err)
	}
}

func TestMEM47_AResponseScoresWhatWasShown(t *testing.T) {
	w := openScorer(t, t.TempDir())
	for _, id := range []string{"a", "b", "c"} {
		w.add(id, record.TierHistory)
	}
	w.add("fact", record.TierBank)
	w.show("talk", "c", "a")
	w.show("talk", "a", "fact", "b")
	w.restart()
	if !w.room.Unscored(w.local, "talk") {
		t.Error("what was shown is forgotten by a restart")
	}
	for _, bad := range []struct{ ref, field string }{{"c", "related[1]"}, {"0", "related[1]"}, {"4", "related[1]"}, {"none", "related[1]"}} {
		_, err := w.room.Response(t.Context(), w.local, learn.AnswerOutcome{ConversationID: "talk", Outcome: "worked", Related: []string{"a", bad.ref}})
		refused(t, err, fault.Invalid, bad.field)
	}
	out := w.respond(learn.AnswerOutcome{ConversationID: "talk", Outcome: "worked", Related: []string{"3", "b", "fact"}, Takeaway: "Ask b first."})
	if ids(out) != "b" || out.Memories[0].Score != 0.7 {
		t.Errorf("scored %+v", out.Memories)
	}
	if m := out.Takeaway; m == nil || m.Tier != record.TierWorking || m.Kind != record.MemoryTakeaway || m.Use.Score != 0.7 || m.Source.ConversationID != "" {
		t.Errorf("takeaway %+v", m)
	}
	w.scores(map[string]float64{"a": 0.5, "b": 0.7, "c": 0.5, "fact": 0.5})
	w.restart()
	again := w.respond(learn.AnswerOutcome{ConversationID: "talk", Outcome: "worked", Takeaway: "ask b first"})
	if len(again.Memories) > 0 || again.Takeaway.ID != out.Takeaway.ID || again.Takeaway.Use.Score != 0.7 {
		t.Errorf("a repeat scores %+v, takeaway %+v", again.Memories, again.Takeaway.Use)
	}
	if w.room.Unscored(w.local, "talk") {
		t.Error("it is still to be scored")
	}
	w.show("talk", "a", "b")
	if out := w.respond(learn.AnswerOutcome{ConversationID: "talk", Outcome: "failed"}); ids(out) != "a b" {
		t.Errorf("scored %s, want all that were shown", ids(out))
	}
	w.scores(map[string]float64{"a": 0.2, "b": 0.4})
}

func TestMEM47_WhatIsRefused(t *testing.T) {
	w := openScorer(t, kv.InMemory)
	w.add("a", record.TierHistory)
	for _, c := range []struct {
		p     learn.AnswerOutcome
		kind  fault.Kind
		field string
	}{
		{learn.AnswerOutcome{Outcome: "good", ConversationID: "c"}, fault.Invalid, "outcome"},
		{learn.AnswerOutcome{Outcome: "worked"}, fault.Invalid, "conversationId"},
		{learn.AnswerOutcome{Outcome: "worked", Takeaway: " \n"}, fault.Invalid, "conversationId"},
		{learn.AnswerOutcome{Outcome: "worked", Related: []string{"a"}, Takeaway: "x"}, fault.Invalid, "related"},
		{learn.AnswerOutcome{Outcome: "worked", MessageID: "m", Takeaway: "x"}, fault.Invalid, "messageId"},
		{learn.AnswerOutcome{Outcome: "worked", ConversationID: "talk", Related: []string{"a"}}, fault.Invalid, "related[0]"},
		{learn.AnswerOutcome{Outcome: "worked", ConversationID: "c", MessageID: "other"}, fault.NotFound, ""},
		{learn.AnswerOutcome{Outcome: "worked", Takeaway: strings.Repeat("x", 9000)}, fault.Limit, "takeaway"},
		{learn.AnswerOutcome{Outcome: "worked", ConversationID: "talk", Related: make([]string, 51)}, fault.Limit, "related"},
	} {
		_, err := w.room.Response(t.Context(), w.local, c.p)
		refused(t, err, c.kind, c.field)
	}
	for _, c := range []struct {
		o     learn.Outcome
		kind  fault.Kind
		field string
	}{
		{learn.Outcome{Outcome: "worked"}, fault.Invalid, "ids"},
		{learn.Outcome{IDs: []string{"a"}, Outcome: "ok"}, fault.Invalid, "outcome"},
		{learn.Outcome{IDs: []string{"a"}, Outcome: "worked", Signal: "hunch"}, fault.Invalid, "signal"},
		{learn.Outcome{IDs: []string{"a", "none"}, Outcome: "worked"}, fault.NotFound, "ids[1]"},
		{learn.Outcome{IDs: []string{"a", "/"}, Outcome: "worked"}, fault.Invalid, "ids[1]"},
	} {
		_, err := w.room.Outcome(t.Context(), w.local, c.o)
		refused(t, err, c.kind, c.field)
	}
	w.scores(map[string]float64{"a": 0.5})
	if list, _, err := w.log.List(t.Context(), w.local, learn.EventQuery{Limit: 9}); err != nil || len(list) > 0 {
		t.Errorf("events %v of what was refused, %v", list, err)
	}
}

func TestMEM50_AnAnswerOfTheChatWaitsToBeScored(t *testing.T) {
	w := openScorer(t, t.TempDir())
	for _, id := range []string{"a", "b"} {
		w.add(id, record.TierHistory)
	}
	w.answer = learn.Answer{Shown: []string{"a", "b"}, Cited: []string{"b"}}
	w.must(w.room.Answered(t.Context(), w.local, "c", "answer", w.answer.Shown))
	w.must(w.room.Answered(t.Context(), w.local, "c", "plain", nil))
	state := func(want string) {
		t.Helper()
		got, err := w.room.OutcomesOf(t.Context(), "c")
		w.must(err)
		if got["answer"] != want || len(got) != 1 {
			t.Errorf("outcomes %v, want %s", got, want)
		}
	}
	state("unscored")
	if !w.room.Unscored(w.local, "c") || w.room.Unscored(w.remote, "c") {
		t.Error("only who was shown it is asked")
	}
	w.restart()
	out := w.respond(learn.AnswerOutcome{ConversationID: "c", Outcome: "partial", Takeaway: "b says it."})
	if ids(out) != "b" || out.Takeaway.Source.ConversationID != "c" || !slices.Equal(out.Takeaway.Source.MessageIDs, []string{"answer"}) {
		t.Errorf("scored %s, takeaway %+v", ids(out), out.Takeaway.Source)
	}
	state("partial")
	w.show("c", "a")
	out = w.respond(learn.AnswerOutcome{ConversationID: "c", MessageID: "answer", Outcome: "worked"})
	if len(out.Memories) > 0 {
		t.Errorf("an answer was scored twice: %s", ids(out))
	}
	state("partial")
	w.room.Dropped("c")
	w.restart()
	if got, err := w.room.OutcomesOf(t.Context(), "c"); err != nil || len(got) > 0 || w.room.Unscored(w.local, "c") {
		t.Errorf("outcomes %v of a conversation that is gone, %v", got, err)
	}
}

func TestMEM48_SignalsAndTheEvent(t *testing.T) {
	w := openScorer(t, kv.InMemory)
	w.add("a", record.TierPatterns)
	w.add("fact", record.TierBank)
	sure := 0.6
	for _, c := range []struct {
		o     learn.Outcome
		score float64
	}{
		{learn.Outcome{Outcome: "worked"}, 0.7},
		{learn.Outcome{Outcome: "failed", Signal: learn.SourceHeuristic}, 0.7},
		{learn.Outcome{Outcome: "failed", Signal: learn.SourceDetector, Confidence: &sure}, 0.7},
		{learn.Outcome{Outcome: "failed", Signal: learn.SourceDetector}, 0.4},
		{learn.Outcome{Outcome: "partial", Signal: learn.SourceSystem}, 0.45},
	} {
		c.o.IDs = []string{"a", "fact", "a"}
		_, err := w.room.Outcome(t.Context(), w.local, c.o)
		w.must(err)
		w.scores(map[string]float64{"a": c.score, "fact": 0.5})
	}
	list, _, err := w.log.List(t.Context(), w.local, learn.EventQuery{Limit: 9})
	w.must(err)
	var said []string
	for _, e := range slices.Backward(list) {
		said = append(said, fmt.Sprintf("%s %s %s %v %v %d", e.Kind, e.Outcome, e.Signal, *e.Confidence, e.IDs, len(e.After)))
	}
	want := []string{
		"outcome worked explicit 1 [a fact] 1", "outcome failed heuristic 0.5 [a fact] 0", "outcome unknown detector 0.6 [a fact] 1",
		"outcome failed detector 0.8 [a fact] 1", "outcome partial system 0.9 [a fact] 1",
	}
	if !slices.Equal(said, want) {
		t.Errorf("events\n%s\nwant\n%s", strings.Join(said, "\n"), strings.Join(want, "\n"))
	}
	m, err := w.mem.Get(w.local, "a")
	w.must(err)
	if u := m.Use; u.Worked != 1 || u.Failed != 1 || u.Partial != 1 || u.Unknown != 1 || u.LastOutcome != "partial" || m.Version != 1 {
		t.Errorf("counters %+v", u)
	}
}

func TestMEM49_ADetectorIsSureOrScoresNothing(t *testing.T) {
	w := openScorer(t, kv.InMemory)
	w.add("a", record.TierHistory)
	w.show("c", "a")
	for _, c := range []struct {
		outcome string
		sure    float64
		want    string
	}{{"worked", 0.7, ""}, {"unknown", 1, ""}, {"worked", 0.71, "a"}, {"worked", 0.9, ""}} {
		out, err := w.room.Detected(t.Context(), w.local, "c", "", c.outcome, c.sure)
		w.must(err)
		if ids(out) != c.want {
			t.Errorf("%s at %v scores %q, want %q", c.outcome, c.sure, ids(out), c.want)
		}
	}
	w.scores(map[string]float64{"a": 0.7})
}

func TestPRIV1_WhatARemoteReaderScores(t *testing.T) {
	w := openScorer(t, kv.InMemory)
	w.add("open", record.TierHistory)
	w.adds(memory.Draft{ID: "secret", Statement: "a secret", Tier: record.TierHistory, Private: true})
	w.show("talk", "secret", "open")
	out, err := w.room.Response(t.Context(), w.remote, learn.AnswerOutcome{ConversationID: "talk", Outcome: "worked"})
	w.must(err)
	if len(out.Memories) > 0 || w.room.Unscored(w.remote, "talk") {
		t.Error("a remote reader scores what he was not shown")
	}
	_, err = w.room.Response(t.Context(), w.remote, learn.AnswerOutcome{ConversationID: "talk", Outcome: "worked", Related: []string{"open"}})
	refused(t, err, fault.Invalid, "related[0]")
	_, err = w.room.Outcome(t.Context(), w.remote, learn.Outcome{IDs: []string{"secret"}, Outcome: "worked"})
	refused(t, err, fault.NotFound, "ids[0]")
	mine := w.respond(learn.AnswerOutcome{ConversationID: "talk", Outcome: "worked", Takeaway: "It is in the drawer."})
	if ids(mine) != "secret open" || !mine.Takeaway.Private {
		t.Errorf("scored %s; what was learned with a private memory in sight is private: %v", ids(mine), mine.Takeaway.Private)
	}
	w.room.Show(w.remote, "talk", "", []learn.OutcomeHit{{Kind: learn.HitMemories, ID: "open"}})
	if !w.room.Unscored(w.local, "talk") {
		t.Error("a local reader knows of what a remote one was shown")
	}
}

func TestMEM5_WhatWasShownForgetsWhatIsDeleted(t *testing.T) {
	w := openScorer(t, t.TempDir())
	for _, id := range []string{"a", "b"} {
		w.add(id, record.TierHistory)
	}
	w.show("talk", "a", "b")
	w.room.Flush(t.Context())
	w.must(w.mem.Delete(t.Context(), w.local, "a", true, nil))
	for range 2 {
		_, err := w.room.Response(t.Context(), w.local, learn.AnswerOutcome{ConversationID: "talk", Outcome: "worked", Related: []string{"1"}})
		refused(t, err, fault.Invalid, "related[0]")
		w.must(w.db.View(t.Context(), func(tx *kv.Tx) error {
			problems, err := learn.CheckOutcomes(tx)
			if len(problems) > 0 {
				t.Errorf("problems %q", problems)
			}
			return err
		}))
		w.restart()
	}
	if out := w.respond(learn.AnswerOutcome{ConversationID: "talk", Outcome: "worked", Related: []string{"2"}}); ids(out) != "b" {
		t.Errorf("scored %s: the others keep their positions", ids(out))
	}
}

// model is what the room is compared with: plain maps, and no store.
type model struct {
	scores map[string]int
	shown  map[string][]string
	scored map[string]bool
}

// TestMEM47_InPiecesIsTheWhole compares random showings and responses, with restarts between them, with a plain model.
func TestMEM47_InPiecesIsTheWhole(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		w := openScorer(t, fmt.Sprintf("%s/%d", dir, n))
		defer func() { _ = w.db.Close() }()
		m := model{make(map[string]int), make(map[string][]string), make(map[string]bool)}
		all := []string{"m0", "m1", "m2", "m3"}
		for _, id := range all {
			w.add(id, record.TierHistory)
			m.scores[id] = 50
		}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			talk := rapid.SampledFrom([]string{"x", "y"}).Draw(t, "conversation")
			switch rapid.SampledFrom([]string{"show", "respond", "respond", "restart"}).Draw(t, "step") {
			case "show":
				ids := rapid.SliceOfNDistinct(rapid.SampledFrom(all), 1, 4, rapid.ID[string]).Draw(t, "ids")
				w.show(talk, ids...)
				m.shown[talk], m.scored[talk] = ids, false
			case "respond":
				outcome := rapid.SampledFrom(record.Outcomes).Draw(t, "outcome")
				w.respond(learn.AnswerOutcome{ConversationID: talk, Outcome: outcome})
				if !m.scored[talk] {
					for _, id := range m.shown[talk] {
						step := map[string]int{"worked": 20, "failed": -30, "partial": 5}[outcome]
						m.scores[id] = min(100, max(0, m.scores[id]+step))
					}
				}
				m.scored[talk] = true
			case "restart":
				w.restart()
			}
		}
		for id, want := range m.scores {
			w.scores(map[string]float64{id: float64(want) / 100})
		}
	})
}

// TestMEM80_ARoomThatIsOffKeepsNothing: nothing that is shown waits to be scored, and what was told before stays.
func TestMEM80_ARoomThatIsOffKeepsNothing(t *testing.T) {
	w := openScorer(t, t.TempDir())
	ctx := context.Background()
	w.add("a", record.TierHistory)
	w.must(w.room.Answered(ctx, w.local, "c", "before", []string{"a"}))
	w.must(w.room.Answered(ctx, w.local, "c", "answer", []string{"a"}))
	w.answer = learn.Answer{Shown: []string{"a"}}
	w.respond(learn.AnswerOutcome{ConversationID: "c", MessageID: "answer", Outcome: record.OutcomeWorked})
	w.show("d", "a")
	states := func(want string) {
		t.Helper()
		got, err := w.room.OutcomesOf(ctx, "c")
		w.must(err)
		if fmt.Sprint(got) != want {
			t.Errorf("outcomes %v, want %s", got, want)
		}
	}
	states("map[answer:worked before:unscored]")
	w.off = true
	w.restart()
	w.show("e", "a")
	w.must(w.room.Answered(ctx, w.local, "c", "later", []string{"a"}))
	states("map[answer:worked]")
	for _, conversation := range []string{"c", "d", "e"} {
		if w.room.Unscored(w.local, conversation) {
			t.Errorf("%s is to be asked about", conversation)
		}
	}
	w.off = false
	w.restart()
	states("map[answer:worked before:unscored]")
	if !w.room.Unscored(w.local, "d") || w.room.Unscored(w.local, "e") {
		t.Error("what was shown before is asked about when the room is on again, and nothing else")
	}
}
