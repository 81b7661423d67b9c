package learn_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/entities/record"
)

// unsure writes down pairs that rules cannot decide.
func (w *keeperWorld) unsure() {
	w.fact("a", "I can't stand loud restaurants.")
	w.fact("b", "I hate loud restaurants.")
}

func TestMEM59_AModelDecidesWhatRulesCannot(t *testing.T) {
	for _, c := range []struct {
		answer   string
		statuses []string
		open     int
	}{
		{learn.AdviceMerge, []string{"active", "merged"}, 0},
		{learn.AdviceKeepBoth, []string{"active", "active"}, 0},
		{learn.AdviceContradiction, []string{"contested", "contested"}, 1},
		{learn.AdviceNewer, []string{"superseded", "active"}, 0},
		{"PERHAPS", []string{"active", "active"}, 1},
		{"", []string{"active", "active"}, 1},
	} {
		w := openKeeper(t)
		w.by = &adviser{local: true, answer: func(learn.PairQuestion) string { return c.answer }}
		w.unsure()
		rep := w.run()
		if got := w.statuses("a", "b"); !slices.Equal(got, c.statuses) || rep.Tokens != 10 || len(w.conflicts(w.local)) != c.open {
			t.Errorf("%s: %q, %d tokens, %d open: %+v", c.answer, got, rep.Tokens, len(w.conflicts(w.local)), rep.Changes)
		}
		asked := len(w.by.asked)
		w.run()
		if waits := c.answer == "PERHAPS" || c.answer == ""; !waits && len(w.by.asked) != asked {
			t.Errorf("%s: it was asked again", c.answer)
		}
		if c.answer == learn.AdviceKeepBoth {
			continue
		}
	}
}

func TestMEM59_AModelThatFailsIsAskedAgainLater(t *testing.T) {
	w := openKeeper(t)
	w.unsure()
	if rep := w.run(); rep.Queued != 1 {
		t.Fatalf("without a model %d wait", rep.Queued)
	}
	w.by = &adviser{local: true, err: errors.New("it is away")}
	rep := w.run()
	if rep.Queued != 1 || rep.Tokens != 1 || len(rep.Skipped) != 1 {
		t.Errorf("%+v", rep)
	}
	w.by = &adviser{local: true, answer: func(learn.PairQuestion) string { return learn.AdviceMerge }}
	if rep := w.run(); rep.Queued != 0 || w.get("b").Status != "merged" {
		t.Errorf("%+v", rep)
	}
}

func TestMEM59_AtMostTwoCallsACycle(t *testing.T) {
	w := openKeeper(t)
	things := strings.Fields(`snow onions trams opera jazz paperwork mornings hospitals lifts queues perfume karaoke spiders dust
		mushrooms liver olives raisins marzipan carnival golf cricket chess bingo taxes meetings airports ferries tents camping
		fireworks balloons clowns parades brass sirens alarms plastic nylon velvet wool lace leather cigars pipes vinegar garlic anchovies tofu rice circus puppets accordions bagpipes violins drums gravel sand mud fog heat rain wind thunder ice`)
	for _, thing := range things {
		w.fact("a"+thing, "I collect "+thing+".")
		w.add(memory.Draft{ID: "b" + thing, Statement: "I collect " + thing + ".", Tier: record.TierPatterns, Kind: record.MemoryPreference})
	}
	w.by = &adviser{local: true, answer: func(learn.PairQuestion) string { return learn.AdviceKeepBoth }}
	rep := w.run()
	if len(w.by.asked) != 2 || len(w.by.asked[0]) != 20 || len(w.by.asked[1]) != 20 || rep.Tokens != 20 || rep.Queued != len(things)-40 {
		t.Errorf("%d calls, %d and %d; %d wait of %d facts, %d pairs", len(w.by.asked), len(w.by.asked[0]), len(w.by.asked[1]), rep.Queued, rep.Facts, rep.Pairs)
	}
}

func TestPRIV4_ARemoteModelIsAskedNothingPrivate(t *testing.T) {
	const canary = "Kanarienvogel"
	w := openKeeper(t)
	w.unsure()
	w.add(memory.Draft{ID: "c", Statement: "I can't stand " + canary + " noise at night.", Private: true})
	w.add(memory.Draft{ID: "d", Statement: "I hate " + canary + " noise at night.", Private: true})
	w.by = &adviser{answer: func(learn.PairQuestion) string { return learn.AdviceMerge }}
	rep := w.run()
	if len(w.by.asked) != 1 || len(w.by.asked[0]) != 1 || rep.Queued != 1 {
		t.Fatalf("asked %+v, %d wait", w.by.asked, rep.Queued)
	}
	for _, q := range w.by.asked[0] {
		if strings.Contains(q.Older+q.Newer, canary) {
			t.Errorf("a remote model was asked %+v", q)
		}
	}
	if list := w.conflicts(w.remote); len(list) != 0 {
		t.Errorf("a remote reader is told of %+v", list)
	}
	if list := w.conflicts(w.local); len(list) != 1 {
		t.Errorf("%+v", list)
	}
	w.by.local = true
	if rep := w.run(); rep.Queued != 0 {
		t.Errorf("%+v", rep)
	}
}

// TestPRIV6_NothingPublicDependsOnWhatIsPrivate compares a store with private facts and messages with one without them.
func TestPRIV6_NothingPublicDependsOnWhatIsPrivate(t *testing.T) {
	with, without := openKeeper(t), openKeeper(t)
	for _, w := range []*keeperWorld{with, without} {
		private := func(id, statement string) {
			if w == with {
				w.add(memory.Draft{ID: id, Statement: statement, Private: true})
			} else {
				w.now = w.now.AddDate(0, 0, 0).Add(60e9)
			}
		}
		w.fact("leave", "I have 25 days of leave.")
		private("p1", "I have 28 days of leave.")
		w.fact("sister", "My sister is called Anna.")
		private("p2", "My sister's name is Anna.")
		w.fact("home", "I live in Leeds.")
		private("p3", "I moved to York.")
		w.say("m1", "I live in Leeds.")
		w.said[0].Private = true
		w.run()
	}
	ids := []string{"leave", "sister", "home"}
	with.expect("beside private ones", without.look(ids), with.look(ids))
	if got := with.statuses("p1", "p2", "p3"); !slices.Equal(got, []string{"active", "active", "active"}) {
		t.Errorf("%q", got)
	}
}

// TestPRIV8_NoPairIsAskedAboutAgainThatBecamePrivate: a fact becomes private between two tries of a request.
func TestPRIV8_NoPairIsAskedAboutAgainThatBecamePrivate(t *testing.T) {
	for _, local := range []bool{false, true} {
		w := openKeeper(t)
		w.unsure()
		var first, again error
		w.by = &adviser{local: local, meanwhile: func(ctx context.Context) {
			_, first = new(outbound.Address).NewRequest(ctx, nil, "")
			private := true
			_, err := w.mem.Update(ctx, w.local, memory.Patch{ID: "a", Private: &private}, nil)
			w.must(err)
			_, again = new(outbound.Address).NewRequest(ctx, nil, "")
		}, err: errors.New("it is away")}
		w.run()
		if first != nil || (again == nil) != local {
			t.Errorf("local %v: the first request %v, the second %v", local, first, again)
		}
	}
}
