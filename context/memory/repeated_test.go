package memory_test

import (
	"testing"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// TestMEM96_WhatIsComparedIsNotFoldedAway: statements that differ by a sign are two.
func TestMEM96_WhatIsComparedIsNotFoldedAway(t *testing.T) {
	w := open(t, memory.Limits{})
	for _, group := range [][]string{
		{"My first language is C", "My first language is C#", "My first language is C++"},
		{"Rent rose by 10", "Rent rose by 10%", "Rent rose by 10 %", "Rent rose by 10‰"},
		{"My grade is A", "My grade is A-", "My grade is A+", "My grade is A*"},
		{"The sample has 10⁶ cells", "The sample has 106 cells"},
		{"The plot is 12² large", "The plot is 122 large"},
		{"Dial *100#", "Dial *100", "Dial 100"},
		{"Use the pattern a.*", "Use the pattern a"},
		{"My age is a secret?", "My age is a secret"},
		{"The number is 5!", "The number is 5"},
		{"H₂O", "H2O"},
		{"½ cup", "1/2 cup"},
		{"The file is a/", "The file is a"},
		{"Ｃ is wide", "C is wide"},
		{"It is -5", "It is 5"},
		{"I said \"no\"", "I said no"},
	} {
		for _, s := range group {
			if list, err := w.mem.Add(t.Context(), w.local, []memory.Draft{{Statement: s}}); err != nil || list[0].Duplicate {
				t.Errorf("%q is the same as one of %q, %v", s, group, err)
			}
		}
	}
}

func TestMEM9_TheSameIsWrittenOnce(t *testing.T) {
	w := open(t, memory.Limits{})
	ctx := t.Context()
	m := w.say("I don’t eat meat.")
	for _, same := range []string{"I don’t eat meat", "i DON’T  eat\nmeat!", "I don’t eat meat…"} {
		list, err := w.mem.Add(ctx, w.local, []memory.Draft{{Statement: same}})
		must(t, err)
		if !list[0].Duplicate || list[0].Memory.ID != m.ID {
			t.Errorf("%q is another memory", same)
		}
	}
	if now := w.get(m.ID); now.Use.Mentioned != 3 || now.Version != 1 {
		t.Errorf("mentioned %d, version %d", now.Use.Mentioned, now.Version)
	}
	w.say("I eat meat")
	w.add(memory.Draft{Statement: "I don’t eat meat.", Tier: record.TierHistory})
	_, err := w.mem.Retract(ctx, w.local, m.ID, nil)
	must(t, err)
	w.say("I don’t eat meat.")

	old := w.say("I eat fish")
	list, err := w.mem.Add(ctx, w.local, []memory.Draft{{Statement: "I eat meat", Supersedes: []string{old.ID}}})
	must(t, err)
	if now := w.get(old.ID); !list[0].Duplicate || now.SupersededBy != list[0].Memory.ID {
		t.Errorf("said again, and superseded by %q", now.SupersededBy)
	}
	_, err = w.mem.Add(ctx, w.local, []memory.Draft{{Statement: "I eat meat", Supersedes: []string{list[0].Memory.ID}}})
	refused(t, err, fault.Invalid, "supersedes[0]")

	w.add(memory.Draft{Statement: "hidden one", Private: true})
	list, err = w.mem.Add(ctx, w.remote, []memory.Draft{{Statement: "hidden one"}})
	must(t, err)
	if list[0].Duplicate {
		t.Error("a remote reader learns of a private memory")
	}
	w.sound()
}

func TestMEM9_AnAddThatIsRepeated(t *testing.T) {
	w := open(t, memory.Limits{})
	w.add(memory.Draft{ID: "mine", Statement: "I own a boat"})
	list, err := w.mem.Add(t.Context(), w.local, []memory.Draft{{ID: "mine", Statement: "I own a boat"}})
	must(t, err)
	if !list[0].Duplicate || list[0].Memory.ID != "mine" {
		t.Errorf("said again, it is %+v", list[0])
	}
	_, err = w.mem.Add(t.Context(), w.local, []memory.Draft{{ID: "mine", Statement: "I own a ship"}})
	refused(t, err, fault.Conflict, "id")
}
