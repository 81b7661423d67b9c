package memory_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// TestREF5_AMemoryGetsAnotherHandle, and is found by those that it had.
func TestREF5_AMemoryGetsAnotherHandle(t *testing.T) {
	w := open(t, memory.Limits{})
	ctx := t.Context()
	m := w.add(memory.Draft{Statement: "I prefer mornings", Handle: "mornings"})
	w.add(memory.Draft{Statement: "I live in Faro", Handle: "home"})
	w.pass(1e9)
	got, err := w.mem.Rename(ctx, w.local, m.ID, "Early_Bird")
	must(t, err)
	if got.Handle != "early_bird" || !slices.Equal(got.Aliases, []string{"mornings"}) || got.Version != 2 || !got.UpdatedAt.After(m.UpdatedAt) {
		t.Errorf("%+v", got)
	}
	for _, ref := range []string{"early_bird", "@MORNINGS", "1"} {
		if w.get(ref).ID != m.ID {
			t.Errorf("%q leads elsewhere", ref)
		}
	}
	w.sound()

	same, err := w.mem.Rename(ctx, w.local, m.ID, "EARLY_bird")
	must(t, err)
	if same.Version != 2 {
		t.Errorf("version %d, and nothing was changed", same.Version)
	}
	back, err := w.mem.Rename(ctx, w.local, m.ID, "mornings")
	must(t, err)
	if back.Handle != "mornings" || !slices.Equal(back.Aliases, []string{"early_bird"}) {
		t.Errorf("%+v", back)
	}
	for _, c := range []struct {
		id, handle string
		kind       fault.Kind
		field      string
	}{
		{m.ID, "home", fault.Conflict, "handle"},
		{m.ID, "HOME", fault.Conflict, "handle"},
		{m.ID, "ab", fault.Invalid, "handle"},
		{m.ID, "claim_7", fault.Invalid, "handle"},
		{m.ID, "mine_tag", fault.Invalid, "handle"},
		{"nobody", "fine", fault.NotFound, ""},
	} {
		_, err := w.mem.Rename(ctx, w.local, c.id, c.handle)
		refused(t, err, c.kind, c.field)
	}
	w.sound()

	// Those of a deleted memory are free.
	must(t, w.mem.Delete(ctx, w.local, m.ID, true, nil))
	w.sound()
	other := w.add(memory.Draft{Statement: "Another", Handle: "early_bird"})
	if w.get("early_bird").ID != other.ID {
		t.Error("the handle of a deleted memory leads elsewhere")
	}
}

func TestREF5_AContextGetsAnotherHandle(t *testing.T) {
	w := open(t, memory.Limits{})
	ctx := t.Context()
	c, err := w.mem.PutContext(ctx, w.local, memory.ContextDraft{Name: "Health Goals"}, nil)
	must(t, err)
	got, err := w.mem.RenameContext(ctx, w.local, c.ID, "fit")
	must(t, err)
	if got.Handle != "fit" || !slices.Equal(got.Aliases, []string{"health_goals_context"}) || got.Version != 2 {
		t.Errorf("%+v", got)
	}
	for _, ref := range []string{"@fit", "health_goals_context"} {
		found, _, _, err := w.mem.GetContext(w.local, ref)
		must(t, err)
		if found.ID != c.ID {
			t.Errorf("%q leads elsewhere", ref)
		}
	}
	w.say("taken")
	_, err = w.mem.RenameContext(ctx, w.local, c.ID, w.get("1").Handle)
	refused(t, err, fault.Conflict, "handle")
	_, err = w.mem.RenameContext(ctx, w.local, "nobody", "fine")
	refused(t, err, fault.NotFound, "")
	w.sound()
}

// TestREF5_ARecordHasAHundredFormerHandles at most.
func TestREF5_ARecordHasAHundredFormerHandles(t *testing.T) {
	w := open(t, memory.Limits{})
	m := w.say("I prefer mornings")
	for i := range refs.MaxFormerHandles {
		_, err := w.mem.Rename(t.Context(), w.local, m.ID, fmt.Sprintf("name_%d", i))
		must(t, err)
	}
	_, err := w.mem.Rename(t.Context(), w.local, m.ID, "one_more")
	refused(t, err, fault.Limit, "handle")
	_, err = w.mem.Rename(t.Context(), w.local, m.ID, "name_3")
	must(t, err)
}

// TestREF9_ARemoteReaderRenames what he sees alone, and is not told who has a handle that he does not.
func TestREF9_ARemoteReaderRenames(t *testing.T) {
	w := open(t, memory.Limits{})
	hidden := w.add(memory.Draft{Statement: "secret", Handle: "secret_plan", Private: true})
	m := w.say("I prefer mornings")
	_, err := w.mem.Rename(t.Context(), w.remote, hidden.ID, "mine")
	refused(t, err, fault.NotFound, "")
	got, err := w.mem.Rename(t.Context(), w.remote, m.ID, "secret_plan")
	must(t, err)
	if got.Handle == "secret_plan" || w.get("secret_plan").ID != hidden.ID {
		t.Errorf("%q", got.Handle)
	}
	w.sound()
}

// TestREF5_WhatIsWrongHasNoOtherHandle.
func TestREF5_WhatIsWrongHasNoOtherHandle(t *testing.T) {
	w := open(t, memory.Limits{})
	m := w.say("It was wrong")
	_, err := w.mem.Retract(t.Context(), w.local, m.ID, nil)
	must(t, err)
	_, err = w.mem.Rename(t.Context(), w.local, m.ID, "fine")
	refused(t, err, fault.Conflict, "")
	if got := w.get(m.ID); got.Status != record.MemoryRetracted || got.Handle != m.Handle {
		t.Errorf("%+v", got)
	}
}
