package memory_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

func TestMEM6_TheCapArchivesWhatIsWorthLeast(t *testing.T) {
	w := open(t, memory.Limits{Bank: 3})
	ctx := t.Context()
	low := w.add(memory.Draft{Statement: "worth little", Importance: ptr(0.1)})
	pinned := w.add(memory.Draft{Statement: "worth less but pinned", Importance: ptr(0.0), Pinned: true})
	w.say("worth more")
	last := w.add(memory.Draft{Statement: "the last, worth least", Importance: ptr(0.05)})
	for id, want := range map[string]string{
		low.ID: record.MemoryArchived, pinned.ID: record.MemoryActive, last.ID: record.MemoryActive,
	} {
		if m := w.get(id); m.Status != want {
			t.Errorf("%q is %s", m.Statement, m.Status)
		}
	}
	w.add(memory.Draft{Statement: "pinned two", Pinned: true})
	w.add(memory.Draft{Statement: "pinned three", Pinned: true})
	_, err := w.mem.Add(ctx, w.local, []memory.Draft{{Statement: "no room"}})
	refused(t, err, fault.Limit, "tier")
	w.add(memory.Draft{Statement: "room elsewhere", Tier: record.TierHistory})
}

func TestMEM6_TiersHaveTheirTime(t *testing.T) {
	w := open(t, memory.Limits{})
	ctx := t.Context()
	working := w.add(memory.Draft{Statement: "of today", Tier: record.TierWorking})
	history := w.add(memory.Draft{Statement: "of the month", Tier: record.TierHistory})
	ever := w.add(memory.Draft{Statement: "for ever", Tier: record.TierPatterns})
	at := func(id string) string { return w.get(id).Status }
	expire := func(want int) {
		t.Helper()
		if n, err := w.mem.Expire(ctx); err != nil || n != want {
			t.Errorf("%d expired, %v; want %d", n, err, want)
		}
	}
	w.pass(24*time.Hour - time.Second)
	expire(0)
	w.pass(time.Second)
	expire(1)
	if at(working.ID) != record.MemoryArchived || at(history.ID) != record.MemoryActive {
		t.Errorf("working %s, history %s", at(working.ID), at(history.ID))
	}
	_, err := w.mem.Restore(ctx, w.local, working.ID, 0, nil)
	must(t, err)
	expire(0)
	w.pass(30 * 24 * time.Hour)
	expire(2)
	if at(ever.ID) != record.MemoryActive {
		t.Errorf("a pattern is %s", at(ever.ID))
	}
}

// TestMEM6_WhatIsWrittenByAClockInThePastStays once the clock is right again: it lives from when the memory before it
// was written. One of a clock in the future makes none live longer.
func TestMEM6_WhatIsWrittenByAClockInThePastStays(t *testing.T) {
	const day = 24 * time.Hour
	for _, tc := range []struct {
		name string
		off  time.Duration // by which the clock is wrong while the memory is written
	}{{"in the past", -50 * 365 * day}, {"in the future", 50 * 365 * day}} {
		t.Run(tc.name, func(t *testing.T) {
			w := open(t, memory.Limits{})
			working := func(said string) string {
				return w.add(memory.Draft{Statement: said, Tier: record.TierWorking}).ID
			}
			expire := func(want int) {
				t.Helper()
				if n, err := w.mem.Expire(t.Context()); err != nil || n != want {
					t.Errorf("%d are archived, %v; want %d", n, err, want)
				}
			}
			w.say("before")
			w.pass(2*time.Hour + tc.off)
			wrong := working("while the clock was wrong")
			w.pass(-tc.off)
			expire(0)
			w.pass(20 * time.Hour) // a day but two hours
			right := working("when it was right again")
			expire(0)
			w.pass(3 * time.Hour)
			if tc.off < 0 {
				expire(1) // the wrong one: a day after the one before it
			}
			expire(0)
			w.pass(21 * time.Hour)
			expire(1)
			if got := w.get(right).Status; got != record.MemoryArchived {
				t.Errorf("what was written by the right clock is %s after a day", got)
			}
			if got := w.get(wrong).Status; got == record.MemoryArchived != (tc.off < 0) {
				t.Errorf("what was written by the wrong clock is %s", got)
			}
		})
	}
}

// What was written before a clock is set back stays, and its times are in their order.
func TestMEM6_AClockThatJumpsBackArchivesNothing(t *testing.T) {
	w := open(t, memory.Limits{})
	ctx := t.Context()
	today := w.add(memory.Draft{Statement: "of today", Tier: record.TierWorking})
	held := w.add(memory.Draft{Statement: "it holds from now on", ValidFrom: ptr(w.clock())})
	ended := w.add(memory.Draft{Statement: "of this month", Tier: record.TierHistory})
	for _, back := range []time.Duration{time.Second, 48 * time.Hour, 50 * 365 * 24 * time.Hour} {
		w.pass(-back)
		added := w.add(memory.Draft{Statement: fmt.Sprint("written ", back, " earlier"), Tier: record.TierWorking})
		if n, err := w.mem.Expire(ctx); err != nil || n != 0 {
			t.Errorf("%v back: %d are archived, %v", back, n, err)
		}
		if got := w.get(added.ID); got.Status != record.MemoryActive || got.Version != 1 {
			t.Errorf("%v back: what was just written is %s", back, got.Status)
		}
	}
	gone, err := w.mem.Archive(ctx, w.local, ended.ID, nil)
	must(t, err)
	if gone.ArchivedAt.Before(ended.UpdatedAt) || gone.UpdatedAt.Before(ended.UpdatedAt) {
		t.Errorf("archived at %v, changed at %v, before that at %v", gone.ArchivedAt, gone.UpdatedAt, ended.UpdatedAt)
	}
	w.add(memory.Draft{Statement: "it holds no more", Supersedes: []string{held.ID}})
	was := w.get(held.ID)
	if was.Status != record.MemorySuperseded || was.ValidTo.Before(*was.ValidFrom) {
		t.Errorf("%s, held from %v to %v", was.Status, was.ValidFrom, was.ValidTo)
	}
	_, err = w.mem.Update(ctx, w.local, memory.Patch{ID: held.ID, Tags: &[]string{"past"}}, nil)
	must(t, err) // valid from and to are still in their order
	if got := w.get(today.ID); got.Status != record.MemoryActive {
		t.Errorf("the first is %s", got.Status)
	}
}

func TestREL8_ExpiringEndsWithItsContext(t *testing.T) {
	w := open(t, memory.Limits{})
	w.say("of today")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.mem.Expire(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("memories were looked at: %v", err)
	}
}
