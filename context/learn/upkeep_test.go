package learn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func extracted(id, statement string) memory.Draft {
	sure := 0.7
	return memory.Draft{ID: id, Statement: statement, Confidence: &sure, Source: record.MemorySource{Kind: "extraction"}}
}

func TestMEM55_WhatIsSaidAgainMakesAFactSurer(t *testing.T) {
	w := openKeeper(t)
	w.fact("a", "I live in Berlin.")
	w.say("before", "I live in Berlin")
	w.said[0].At = upkeepNoon.Add(-time.Hour)
	w.say("m1", "It rained today. I live in Berlin, as you know.")
	w.say("m2", "Do I live in Berlin?")
	w.say("m3", "I do not live in Berlin.")
	w.say("m4", "Anna lives in Berlin with 2 cats.")
	w.fact("b", "My home is in Berlin.")
	rep := w.run(learn.StepEvidence)
	m := w.get("a")
	want := 0.7 + 0.05*0.3
	want += 0.05 * (1 - want)
	if m.Confidence != want || m.EvidenceCount != 2 || !slices.Equal(m.Evidence, []string{"m1", "b"}) || m.Version != 1 {
		t.Fatalf("confidence %v, want %v; %d from %q; version %d", m.Confidence, want, m.EvidenceCount, m.Evidence, m.Version)
	}
	if len(rep.Changes) != 1 || rep.Changes[0].Kind != record.LearnedEvidence || *rep.Changes[0].After.EvidenceCount != 2 {
		t.Errorf("%+v", rep.Changes)
	}
	if rep := w.run(learn.StepEvidence); len(rep.Changes) != 0 || w.get("a").Confidence != want {
		t.Errorf("counted twice: %+v", rep.Changes)
	}
	w.say("m5", "I live in Berlin.")
	w.run(learn.StepEvidence)
	if now := w.get("a"); now.EvidenceCount != 3 || !near(now.Confidence, want+0.05*(1-want)) {
		t.Errorf("%d, %v", now.EvidenceCount, now.Confidence)
	}
}

func TestMEM56_TwoRunsADayEqualOne(t *testing.T) {
	once, often := openKeeper(t), openKeeper(t)
	for _, w := range []*keeperWorld{once, often} {
		w.add(extracted("a", "I live in Berlin."))
		for i := range 150 {
			w.now = w.now.Add(12 * time.Hour)
			if i == 60 {
				w.say("m1", "I live in Berlin.")
			}
			if w == often {
				w.run()
			}
		}
		w.run()
	}
	a, b := once.get("a"), often.get("a")
	if a.Confidence != b.Confidence || !a.ConfidenceAt.Equal(b.ConfidenceAt) || a.Status != b.Status || a.Version != 1 || b.Version != 1 {
		t.Errorf("%+v\n%+v", a.MemoryRecord, b.MemoryRecord)
	}
	if a.Status != record.MemoryActive || a.EvidenceCount != 1 {
		t.Errorf("%s, %d", a.Status, a.EvidenceCount)
	}
}

func TestMEM57_FadedFactsAreNotReliedOn(t *testing.T) {
	w := openKeeper(t)
	w.add(extracted("a", "I live in Berlin."))
	w.fact("b", "I drink tea.")
	w.now = w.now.Add(84 * day) // 0.7 exp(-0.84) = 0.302
	if rep := w.run(learn.StepDecay); len(rep.Changes) != 0 {
		t.Fatalf("%+v", rep.Changes)
	}
	w.now = w.now.Add(day)
	rep := w.run(learn.StepDecay)
	if len(rep.Changes) != 1 || w.get("a").Status != record.MemoryDeprecated || w.get("a").Confidence != 0.7 || w.get("a").Version != 1 {
		t.Fatalf("%+v\n%+v", rep.Changes, w.get("a").MemoryRecord)
	}
	if m, err := w.mem.Get(w.local, "a"); err != nil || m.Confidence >= 0.3 || m.Quality != 0.21 {
		t.Errorf("it is shown with %v, %v: %v", m.Confidence, m.Quality, err)
	}
	w.say("m1", "I live in Berlin.")
	w.run()
	if m := w.get("a"); m.Status != record.MemoryActive || m.EvidenceCount != 1 {
		t.Errorf("after new evidence: %s, %v", m.Status, m.Confidence)
	}
	if got := w.get("b").Status; got != record.MemoryActive {
		t.Errorf("what the person wrote down is %s", got)
	}
}

func TestMEM58_TheNewerOneSupersedes(t *testing.T) {
	w := openKeeper(t)
	w.fact("old", "I live in Leeds.")
	w.fact("new", "I moved to York.")
	w.fact("tea", "I like tea.")
	rep := w.run()
	if got := w.statuses("old", "new", "tea"); !slices.Equal(got, []string{"superseded", "active", "active"}) {
		t.Fatalf("%q: %+v", got, rep.Changes)
	}
	old, now := w.get("old"), w.get("new")
	if old.SupersededBy != "new" || !slices.Equal(now.Supersedes, []string{"old"}) || old.ValidTo == nil || !old.ValidTo.Equal(now.CreatedAt) {
		t.Errorf("%+v\n%+v", old.MemoryRecord, now.MemoryRecord)
	}
	if len(w.conflicts(w.local)) != 0 || rep.Queued != 0 {
		t.Errorf("%+v", w.conflicts(w.local))
	}
}

func TestMEM58_WhatContradictsIsContested(t *testing.T) {
	w := openKeeper(t)
	w.fact("a", "I have 25 days of leave.")
	w.fact("b", "I have 28 days of leave.")
	w.run()
	a, b := w.get("a"), w.get("b")
	if a.Status != "contested" || b.Status != "contested" || a.Confidence != 0.35 || b.Confidence != 0.35 ||
		!slices.Equal(a.Contradicts, []string{"b"}) || !slices.Equal(b.Contradicts, []string{"a"}) {
		t.Fatalf("%+v\n%+v", a.MemoryRecord, b.MemoryRecord)
	}
	list := w.conflicts(w.local)
	if len(list) != 1 || list[0].ID != "b" || list[0].With != "a" || list[0].State != learn.PairContested || list[0].Why == "" {
		t.Errorf("%+v", list)
	}
	if rep := w.run(); len(rep.Changes) != 0 || w.get("a").Confidence != 0.35 {
		t.Errorf("halved again: %+v", rep.Changes)
	}
	_, err := w.mem.Archive(t.Context(), w.local, "b", nil)
	w.must(err)
	w.run()
	if a := w.get("a"); a.Status != "active" || a.Confidence != 0.7 || len(a.Contradicts) != 0 {
		t.Errorf("after the other one is archived: %+v", a.MemoryRecord)
	}
}

func TestMEM59_WhatSaysTheSameBecomesOne(t *testing.T) {
	w := openKeeper(t)
	w.fact("a", "My sister is called Anna.")
	w.say("m1", "my sister is called Anna")
	w.fact("b", "My sister's name is Anna.")
	w.fact("c", "The name of my sister is Anna.")
	w.run()
	if got := w.statuses("a", "b", "c"); !slices.Equal(got, []string{"active", "merged", "merged"}) {
		t.Fatalf("%q", got)
	}
	a := w.get("a")
	if w.get("b").MergedInto != "a" || w.get("c").MergedInto != "a" || !slices.Contains(a.Evidence, "m1") || a.EvidenceCount < 3 {
		t.Errorf("%+v", a.MemoryRecord)
	}
	got, err := w.mem.Get(w.local, "c")
	if err != nil || got.ID != "a" {
		t.Errorf("a merged one leads to %v, %v", got, err)
	}
}

func TestMEM59_NotMerged(t *testing.T) {
	w := openKeeper(t)
	low := 0.55
	w.add(memory.Draft{ID: "low1", Statement: "My doctor is Dr. Patel.", Confidence: &low})
	w.add(memory.Draft{ID: "low2", Statement: "Dr. Patel is my doctor.", Confidence: &low})
	w.add(memory.Draft{ID: "kind1", Statement: "I drink my coffee black.", Kind: "preference"})
	w.add(memory.Draft{ID: "kind2", Statement: "My coffee I drink black.", Kind: "fact"})
	w.add(memory.Draft{ID: "open", Statement: "Rex is afraid of thunder."})
	w.add(memory.Draft{ID: "own", Statement: "Rex is scared of thunder.", Private: true})
	rep := w.run(learn.StepContradictions, learn.StepMerging)
	for _, id := range []string{"low1", "low2", "kind1", "kind2", "open", "own"} {
		if got := w.get(id).Status; got != "active" {
			t.Errorf("%s is %s", id, got)
		}
	}
	if rep.Queued != 2 || len(w.conflicts(w.local)) != 2 {
		t.Errorf("%d wait: %+v", rep.Queued, w.conflicts(w.local))
	}
}

func TestMEM60_Settling(t *testing.T) {
	for _, c := range []struct {
		resolution string
		statuses   []string
	}{
		{learn.ResolutionKeep, []string{"active", "retracted"}},
		{learn.ResolutionSupersede, []string{"active", "superseded"}},
		{learn.ResolutionRetract, []string{"retracted", "active"}},
		{learn.BothHold, []string{"active", "active"}},
	} {
		w := openKeeper(t)
		w.fact("a", "I have 25 days of leave.")
		w.fact("b", "I have 28 days of leave.")
		w.run()
		list, err := w.keeper().Settle(t.Context(), w.local, "b", "a", c.resolution)
		w.must(err)
		if got := w.statuses("b", "a"); !slices.Equal(got, c.statuses) || len(list) != 2 || list[0].ID != "b" {
			t.Errorf("%s: %q", c.resolution, got)
		}
		for _, m := range list {
			if m.Status == "active" && (m.Confidence != 0.7 || len(m.Contradicts) != 0) {
				t.Errorf("%s: %+v", c.resolution, m.MemoryRecord)
			}
		}
		if _, err := w.keeper().Settle(t.Context(), w.local, "b", "a", c.resolution); c.resolution != learn.BothHold && fault.KindOf(err) != fault.Conflict {
			t.Errorf("%s again: %v", c.resolution, err)
		}
		if rep := w.run(); len(rep.Changes) != 0 || len(w.conflicts(w.local)) != 0 {
			t.Errorf("%s is raised again: %+v", c.resolution, rep.Changes)
		}
	}
	w := openKeeper(t)
	w.fact("a", "I have 25 days of leave.")
	w.fact("b", "I like tea.")
	for _, c := range []struct {
		id, with, resolution string
		kind                 fault.Kind
		field                string
	}{
		{"a", "b", "keep", fault.Conflict, ""},
		{"a", "b", "win", fault.Invalid, "resolution"},
		{"a", "a", "keep", fault.Invalid, "with"},
		{"none", "b", "keep", fault.NotFound, "id"},
		{"a", "none", "keep", fault.NotFound, "with"},
	} {
		_, err := w.keeper().Settle(t.Context(), w.local, c.id, c.with, c.resolution)
		if fault.KindOf(err) != c.kind || c.field != "" && !strings.Contains(fault.Message(err)+fieldOf(err), c.field) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestPRIV16_ConflictsKnowNoHiddenSuperseding(t *testing.T) {
	w := openKeeper(t)
	w.fact("a", "I have 25 days of leave.")
	w.fact("b", "I have 28 days of leave.")
	w.run()
	before := w.conflicts(w.remote)
	_, err := w.mem.Add(t.Context(), w.local, []memory.Draft{{ID: "p", Statement: "I have 30 days of leave.", Supersedes: []string{"a"}, Private: true}})
	w.must(err)
	if after := w.conflicts(w.remote); len(before) != 1 || !slices.Equal(before, after) {
		t.Errorf("conflicts %+v, then %+v", before, after)
	}
	if left := w.conflicts(w.local); len(left) != 0 {
		t.Errorf("a local reader has the conflicts %+v", left)
	}
	list, err := w.keeper().Settle(t.Context(), w.remote, "b", "a", learn.ResolutionSupersede)
	w.must(err)
	if list[0].Status != record.MemoryActive || list[1].Status != record.MemorySuperseded || list[1].SupersededBy != "b" {
		t.Errorf("a remote reader settled that as %+v, %+v", list[0].MemoryRecord, list[1].MemoryRecord)
	}
	if m, err := w.mem.Get(w.local, "a"); err != nil || m.SupersededBy != "p" {
		t.Errorf("a local reader sees %+v, %v", m, err)
	}
}

func fieldOf(err error) string {
	if f, ok := err.(*fault.Error); ok {
		return f.Field
	}
	return ""
}

func TestMEM61_ARunIsUndone(t *testing.T) {
	w := openKeeper(t)
	w.add(extracted("faded", "I collect stamps of Norway."))
	w.now = w.now.Add(100 * day)
	w.fact("old", "I live in Leeds.")
	w.fact("new", "I moved to York.")
	w.fact("a", "I have 25 days of leave.")
	w.fact("b", "I have 28 days of leave.")
	w.fact("s1", "My sister is called Anna.")
	w.fact("s2", "My sister's name is Anna.")
	w.say("m1", "I have 25 days of leave.")
	ids := []string{"faded", "old", "new", "a", "b", "s1", "s2"}
	before := w.look(ids)
	dry, err := w.keeper().Run(t.Context(), learn.UpkeepRequest{DryRun: true})
	w.must(err)
	if !slices.EqualFunc(before, w.look(ids), sameState) || dry.RunID != "" {
		t.Fatal("a dry run has written something")
	}
	rep := w.run()
	if len(dry.Changes) != len(rep.Changes) || len(rep.Changes) < 8 {
		t.Fatalf("a dry run says\n%+v\nand the run\n%+v", dry.Changes, rep.Changes)
	}
	for i := range rep.Changes {
		if a, b := dry.Changes[i], rep.Changes[i]; a.Kind != b.Kind || a.ID != b.ID || a.With != b.With || a.Why != b.Why {
			t.Errorf("a dry run says %+v, and the run %+v", a, b)
		}
	}
	for _, state := range w.look(ids) {
		if state.Status == "active" && state.ID != "new" && state.ID != "s1" {
			t.Errorf("%s is %s after the run", state.ID, state.Status)
		}
	}
	if _, err := w.keeper().Undo(t.Context(), "another"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("%v", err)
	}
	undone, err := w.keeper().Undo(t.Context(), rep.RunID)
	w.must(err)
	if after := w.look(ids); !slices.EqualFunc(before, after, sameState) {
		t.Errorf("before\n%+v\nafter\n%+v", before, after)
	}
	if len(undone.Changes) < 8 || len(w.conflicts(w.local)) != 0 {
		t.Errorf("%+v, %+v", undone.Changes, w.conflicts(w.local))
	}
	if _, err := w.keeper().Undo(t.Context(), rep.RunID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("undone twice: %v", err)
	}
	again := w.run()
	for _, c := range again.Changes {
		if c.Kind != record.LearnedEvidence && c.Kind != record.LearnedDecayed {
			t.Errorf("done again: %+v", c)
		}
	}
	if _, err := w.keeper().Run(t.Context(), learn.UpkeepRequest{Steps: []string{"evidence", "sorcery"}}); fieldOf(err) != "steps[1]" {
		t.Errorf("%v", err)
	}
}

func TestMEM61_WhatWasChangedSinceStays(t *testing.T) {
	w := openKeeper(t)
	w.fact("old", "I live in Leeds.")
	w.fact("new", "I moved to York.")
	rep := w.run()
	_, err := w.mem.Retract(t.Context(), w.local, "old", nil)
	w.must(err)
	_, err = w.keeper().Undo(t.Context(), rep.RunID)
	w.must(err)
	if got := w.statuses("old", "new"); !slices.Equal(got, []string{"retracted", "active"}) {
		t.Errorf("%q", got)
	}
}

// look is what runs may change of memories.
func (w *keeperWorld) look(ids []string) (list []record.MemoryRecord) {
	for _, id := range ids {
		m := w.get(id).MemoryRecord
		m.Version, m.UpdatedAt = 0, time.Time{}
		list = append(list, m)
	}
	return list
}

func sameState(a, b record.MemoryRecord) bool {
	at := func(t *time.Time) time.Time {
		if t == nil {
			return time.Time{}
		}
		return t.UTC()
	}
	return a.ID == b.ID && a.Status == b.Status && a.Confidence == b.Confidence && a.ConfidenceAt.Equal(b.ConfidenceAt) &&
		slices.Equal(a.Evidence, b.Evidence) && a.EvidenceCount == b.EvidenceCount && at(a.EvidenceUpTo).Equal(at(b.EvidenceUpTo)) &&
		at(a.LastEvidenceAt).Equal(at(b.LastEvidenceAt)) && at(a.ValidTo).Equal(at(b.ValidTo)) &&
		slices.Equal(a.Supersedes, b.Supersedes) && a.SupersededBy == b.SupersededBy && a.MergedInto == b.MergedInto &&
		slices.Equal(a.Contradicts, b.Contradicts) && a.Private == b.Private
}

func TestMEM5_NothingIsKnownOfAPairThatIsDeleted(t *testing.T) {
	w := openKeeper(t)
	w.fact("a", "I have 25 days of leave.")
	w.fact("b", "I have 28 days of leave.")
	w.run()
	w.must(w.mem.Delete(t.Context(), w.local, "b", true, nil))
	if list := w.conflicts(w.local); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	w.must(w.db.View(t.Context(), func(tx *kv.Tx) error {
		problems, err := learn.CheckPairs(tx)
		if len(problems) > 0 {
			t.Errorf("%q", problems)
		}
		return err
	}))
	n := 0
	w.must(w.db.View(t.Context(), func(tx *kv.Tx) error {
		for _, name := range []string{"learn-pair", "learn-pair-of"} {
			for range kv.NewCollection[map[string]any](name).All(tx, "") {
				n++
			}
		}
		return nil
	}))
	if n != 0 {
		t.Errorf("%d records of pairs are left", n)
	}
}

func TestMEM5_PairsOfALostMemoryAreMended(t *testing.T) {
	w := openKeeper(t)
	w.fact("a", "I have 25 days of leave.")
	w.fact("b", "I have 28 days of leave.")
	w.run()
	check := func() (problems []string) {
		w.must(w.db.View(t.Context(), func(tx *kv.Tx) (err error) {
			problems, err = learn.CheckPairs(tx)
			return err
		}))
		return problems
	}
	w.must(w.db.Update(t.Context(), func(tx *kv.Tx) error { return memory.Records.Delete(tx, "b") }))
	if len(check()) != 1 {
		t.Fatalf("%q", check())
	}
	w.must(w.db.Update(t.Context(), learn.MendPairs))
	if problems := check(); len(problems) != 0 {
		t.Errorf("%q", problems)
	}
}

// TestMEM61_WhatComesIntoSightIsLookedAt runs upkeep over more facts of one subject than are compared with each one: where some of
// these go, others come into sight, and those are not left for the next run. A dry run says so too.
func TestMEM61_WhatComesIntoSightIsLookedAt(t *testing.T) {
	things, places := []string{"kettle", "boat", "lamp"}, []string{"Anna", "York"}
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := openKeeper(t)
			rng := rand.New(rand.NewPCG(1, seed))
			for i := range 150 {
				text := fmt.Sprintf("The %s of %s costs %d euros", things[rng.IntN(3)], places[rng.IntN(2)], 10+i)
				w.fact(fmt.Sprintf("f%03d", i), text+[]string{".", " now."}[rng.IntN(10)/9])
			}
			dry, err := w.keeper().Run(t.Context(), learn.UpkeepRequest{DryRun: true})
			w.must(err)
			rep := w.run()
			if len(rep.Changes) < 10 || len(dry.Changes) != len(rep.Changes) {
				t.Errorf("%d changes, and a dry run says %d", len(rep.Changes), len(dry.Changes))
			}
			if again := w.run(); len(again.Changes) != 0 || again.Queued != rep.Queued {
				t.Errorf("of %d a second run has done %d: %+v", len(rep.Changes), len(again.Changes), again.Changes[:min(3, len(again.Changes))])
			}
		})
	}
}

// TestPRIV6_PrivateFactsStandInNobodysSight: as many private facts as are looked at, nearer and newer than what a public one is about,
// change nothing of it.
func TestPRIV6_PrivateFactsStandInNobodysSight(t *testing.T) {
	w := openKeeper(t)
	old, now := "My rent is %d euros.", "My rent is %d euros now."
	w.fact("old", fmt.Sprintf(old, 500))
	w.fact("new", fmt.Sprintf(now, 600))
	for i := range 40 {
		for _, form := range []string{old, "For the flat by the river, with the garage and the garden, my rent is %d euros."} {
			w.add(memory.Draft{Statement: fmt.Sprintf(form, 501+i), Private: true})
		}
	}
	w.run()
	if got := w.get("old"); got.Status != record.MemorySuperseded || got.SupersededBy != "new" {
		t.Errorf("%+v", got)
	}
}

// TestMEM94_UpkeepRetiresOnlyWhatIsOver: of what holds nothing is retired, whoever said it and in whatever words of change;
// what cannot be told waits; the same said again makes a fact surer.
func TestMEM94_UpkeepRetiresOnlyWhatIsOver(t *testing.T) {
	w := openKeeper(t)
	for id, statement := range map[string]string{
		"lamp1": "I bought a lamp for the hall.", "cheese1": "Karin eats cheese.", "home1": "I live in Hamburg.",
		"meat1": "I eat meat.", "work1": "I work for Siemens.", "leave1": "I have 25 days of leave.",
	} {
		w.fact(id, statement)
	}
	for id, statement := range map[string]string{
		"lamp2": "I bought a new lamp for the study.", "cheese2": "Julia no longer eats cheese.", "home2": "I moved to Hamburg.",
		"meat2": "I no longer eat meat.", "work2": "I now work for Bosch.", "leave2": "I now have 28 days of leave.",
	} {
		w.fact(id, statement)
	}
	rep := w.run()
	for _, id := range []string{"lamp1", "lamp2", "cheese1", "cheese2", "home1", "home2", "meat1", "meat2", "work2", "leave2"} {
		if m := w.get(id); m.Status != record.MemoryActive {
			t.Errorf("%s is %s", id, m.Status)
		}
	}
	for old, now := range map[string]string{"work1": "work2", "leave1": "leave2"} {
		if m := w.get(old); m.Status != record.MemorySuperseded || m.SupersededBy != now {
			t.Errorf("%s is %s by %q", old, m.Status, m.SupersededBy)
		}
	}
	if m := w.get("home1"); m.EvidenceCount != 1 {
		t.Errorf("%q has %d sources", m.Statement, m.EvidenceCount)
	}
	if rep.Queued == 0 {
		t.Error("nothing waits for a decision")
	}
}
