package memory_test

import (
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// revise changes one memory as the daemon does.
func (w *world) revise(id string, silent bool, fn func(m *memory.Record, now time.Time)) {
	w.Helper()
	must(w, w.mem.Revise(w.Context(), func(tx *kv.Tx) ([]string, error) {
		_, _, err := w.mem.ReviseTx(tx, id, silent, func(m *memory.Record, now time.Time) error { fn(m, now); return nil })
		return nil, err
	}))
}

func TestMEM56_ASilentChangeMakesNoVersion(t *testing.T) {
	w := open(t, memory.Limits{})
	m := w.say("I prefer mornings")
	w.pass(time.Hour)
	w.revise(m.ID, true, func(m *memory.Record, now time.Time) { m.Confidence, m.ConfidenceAt = 0.2, now })
	if now := w.get(m.ID); now.Confidence != 0.2 || now.Version != 1 || !now.UpdatedAt.Equal(m.UpdatedAt) || !now.ConfidenceAt.Equal(w.clock()) {
		t.Errorf("after a silent change: %+v", now.MemoryRecord)
	}
	w.revise(m.ID, false, func(m *memory.Record, now time.Time) { m.Tier, m.TierSince = record.TierPatterns, now })
	now := w.get(m.ID)
	if now.Tier != record.TierPatterns || now.Version != 2 || !now.UpdatedAt.Equal(w.clock()) {
		t.Errorf("after a change: %+v", now.MemoryRecord)
	}
	if _, err := w.mem.Add(t.Context(), w.local, []memory.Draft{{Statement: m.Statement}}); err != nil {
		t.Error(err)
	} else if got := w.mem.Stats(w.local).Total; got != 2 {
		t.Errorf("%d memories: what is said in another tier is no duplicate", got)
	}
	err := w.mem.Revise(t.Context(), func(tx *kv.Tx) ([]string, error) {
		_, _, err := w.mem.ReviseTx(tx, "none", false, func(*memory.Record, time.Time) error { return nil })
		return nil, err
	})
	refused(t, err, fault.NotFound, "")
	w.sound()
}

func TestMEM7_WhatStandsForAPrivateMemoryIsPrivate(t *testing.T) {
	w := open(t, memory.Limits{})
	note, err := w.notes.Put(t.Context(), notes.Draft{Title: "Plan"}, nil)
	must(t, err)
	lost, won := w.add(memory.Draft{Statement: "we begin in May", Private: true}), w.say("we begin in May 2026")
	w.revise(lost.ID, false, func(m *memory.Record, _ time.Time) { m.Status, m.MergedInto = record.MemoryMerged, won.ID })
	if !w.get(won.ID).Private {
		t.Error("what a private memory was merged into is public")
	}
	former, holds := w.add(memory.Draft{Statement: "I live in Bern", Source: record.MemorySource{NoteID: note.ID}}), w.say("I live in Rome")
	_, err = w.notes.Patch(t.Context(), notes.Patch{ID: note.ID, Private: ptr(true)}, nil)
	must(t, err)
	w.revise(former.ID, false, func(m *memory.Record, _ time.Time) { m.Status, m.SupersededBy = record.MemorySuperseded, holds.ID })
	if !w.get(holds.ID).Private {
		t.Error("what supersedes a memory of a private note is public")
	}
	other := w.say("I live in Oslo")
	w.revise(other.ID, true, func(m *memory.Record, _ time.Time) { m.Supersedes = []string{"gone", former.ID} })
	if m := w.get(other.ID); !m.Private || m.Version != 2 {
		t.Errorf("private %v, version %d: to become private is a version", m.Private, m.Version)
	}
	open := w.say("I live in Turin")
	w.revise(open.ID, true, func(m *memory.Record, _ time.Time) { m.Supersedes = []string{"gone"} })
	if w.get(open.ID).Private {
		t.Error("a memory is private for nothing")
	}
}

func TestMEM4_AnOutcomeChangesNoMemory(t *testing.T) {
	w := open(t, memory.Limits{})
	m := w.say("water the plants")
	if m.Use.Score != 0.5 {
		t.Errorf("score %v at the start", m.Use.Score)
	}
	seq := w.db.Seq()
	must(t, w.mem.Revise(t.Context(), func(tx *kv.Tx) ([]string, error) {
		return nil, w.mem.CountTx(tx, m.ID, func(u *memory.Use) { memory.ApplyOutcome(u, record.OutcomeFailed) })
	}))
	now := w.get(m.ID)
	if now.Version != 1 || now.Use.Failed != 1 || now.Use.Score != 0.2 || now.Use.Wilson != 0 || now.Use.LastOutcome != "failed" || w.db.Seq() != seq+1 {
		t.Errorf("counted: version %d, %+v", now.Version, now.Use)
	}
	if u := w.mem.Counters(m.ID); u.Failed != 1 || w.mem.Counters("none") != (memory.Use{}) {
		t.Errorf("counters %+v", u)
	}
	err := w.mem.Revise(t.Context(), func(tx *kv.Tx) ([]string, error) {
		return nil, w.mem.CountTx(tx, "none", func(*memory.Use) {})
	})
	refused(t, err, fault.NotFound, "")
	must(t, w.db.View(t.Context(), func(tx *kv.Tx) error {
		_, u, err := w.mem.FindTx(tx, w.local, m.ID)
		if u.Failed != 1 {
			t.Errorf("found with %+v", u)
		}
		return err
	}))
}
