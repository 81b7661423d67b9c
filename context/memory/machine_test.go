package memory_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/kvtest"
	"github.com/ctxd/ctxd/entities/record"
)

// openMachine opens the rooms of a machine that shares its store, under a name.
func openMachine(t *testing.T, l *kvtest.Log, name string) *world {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{Log: l.Machine()})
	must(t, err)
	w := openOver(t, db, memory.Options{Machine: func() string { return name }})
	w.prefix = name
	return w
}

// twoMachines are two machines that share a store.
func twoMachines(t *testing.T) (desk, laptop *world) {
	t.Helper()
	l := kvtest.NewLog(kv.Position{})
	return openMachine(t, l, "desk"), openMachine(t, l, "laptop")
}

// written fails unless every machine says that a memory was written on one of them, in all its versions, the latest first.
func written(t *testing.T, id string, on []string, machines ...*world) {
	t.Helper()
	for i, w := range machines {
		must(t, w.db.CatchUp(t.Context()))
		got := []string{w.get(id).Source.Machine}
		former, err := w.mem.Versions(t.Context(), w.local, id)
		must(t, err)
		for _, v := range former {
			got = append(got, v.Source.Machine)
		}
		if fmt.Sprint(got) != fmt.Sprint(on) {
			t.Errorf("machine %d says that the versions were written on %q, want %q", i, got, on)
		}
	}
}

// TestSYNC3_AMemorySaysOnWhichMachineItWasWritten: each machine knows it of all memories, whoever claims something else.
func TestSYNC3_AMemorySaysOnWhichMachineItWasWritten(t *testing.T) {
	desk, laptop := twoMachines(t)
	tea := desk.add(memory.Draft{Statement: "I drink tea", Source: record.MemorySource{Kind: "user", Client: "notes", Machine: "forged"}})
	if tea.Source.Machine != "desk" || tea.Source.Client != "notes" {
		t.Errorf("added: %+v", tea.Source)
	}
	written(t, tea.ID, []string{"desk"}, desk, laptop)
	bicycle := laptop.say("I ride a bicycle")
	written(t, bicycle.ID, []string{"laptop"}, desk, laptop)

	// The next version is of who writes it. The former one keeps what it said.
	_, err := laptop.mem.Update(t.Context(), laptop.local, memory.Patch{
		ID: tea.ID, Statement: ptr("I drink coffee"), Source: &record.MemorySource{Kind: "user", Machine: "forged"},
	}, nil)
	must(t, err)
	written(t, tea.ID, []string{"laptop", "desk"}, desk, laptop)
	_, err = desk.mem.Update(t.Context(), desk.local, memory.Patch{ID: tea.ID, Tags: &[]string{"drinks"}}, nil)
	must(t, err)
	written(t, tea.ID, []string{"desk", "laptop", "desk"}, desk, laptop)
	_, err = laptop.mem.Restore(t.Context(), laptop.local, tea.ID, 1, nil)
	must(t, err)
	written(t, tea.ID, []string{"laptop", "desk", "laptop", "desk"}, desk, laptop)

	// The same again is of who said it first, and what ends a memory does not write it.
	list, err := desk.mem.Add(t.Context(), desk.local, []memory.Draft{{Statement: "I ride a bicycle!"}})
	must(t, err)
	if !list[0].Duplicate {
		t.Fatalf("%+v is no duplicate", list[0].Memory)
	}
	car := desk.add(memory.Draft{Statement: "I drive a car", Supersedes: []string{bicycle.ID}})
	written(t, bicycle.ID, []string{"laptop"}, desk, laptop)
	written(t, car.ID, []string{"desk"}, desk, laptop)
	for _, w := range []*world{desk, laptop} {
		w.sound()
	}
}

// TestSYNC3_WhatADaemonDoesByItselfWritesNothing: a memory that it archives, promotes or makes private stays that of
// the machine where somebody wrote it.
func TestSYNC3_WhatADaemonDoesByItselfWritesNothing(t *testing.T) {
	desk, laptop := twoMachines(t)
	fleeting := laptop.add(memory.Draft{Statement: "I am at the dentist", Tier: record.TierWorking})
	useful := laptop.add(memory.Draft{Statement: "The pump needs a gasket", Tier: record.TierWorking, Pinned: true})
	must(t, desk.db.CatchUp(t.Context()))
	desk.pass(25 * time.Hour)
	if n, err := desk.mem.Expire(t.Context()); err != nil || n != 1 {
		t.Fatalf("archived %d: %v", n, err)
	}
	for _, silent := range []bool{false, true} {
		must(t, desk.mem.Revise(t.Context(), func(tx *kv.Tx) ([]string, error) {
			_, _, err := desk.mem.ReviseTx(tx, useful.ID, silent, func(m *memory.Record, _ time.Time) error {
				m.Tier, m.Confidence = record.TierHistory, m.Confidence-0.1
				return nil
			})
			return nil, err
		}))
	}
	written(t, fleeting.ID, []string{"laptop"}, desk, laptop)
	written(t, useful.ID, []string{"laptop", "laptop"}, desk, laptop) // the first change is of its quality
	if m := laptop.get(fleeting.ID); m.Status != record.MemoryArchived || m.Version != 2 {
		t.Errorf("it is %s, version %d", m.Status, m.Version)
	}
	if m := laptop.get(useful.ID); m.Tier != record.TierHistory || m.Version != 2 {
		t.Errorf("it is of %s, version %d", m.Tier, m.Version)
	}
	_, err := desk.mem.Archive(t.Context(), desk.local, useful.ID, nil) // somebody asks for it there
	must(t, err)
	written(t, useful.ID, []string{"desk", "laptop", "laptop"}, desk, laptop)
}

// TestSYNC3_AStoreOfOneMachineNamesNone: nothing is stored of it, and no version is kept for it.
func TestSYNC3_AStoreOfOneMachineNamesNone(t *testing.T) {
	w := open(t, memory.Limits{})
	m := w.add(memory.Draft{Statement: "I drink tea", Source: record.MemorySource{Kind: "user", Machine: "forged"}})
	_, err := w.mem.Update(t.Context(), w.local, memory.Patch{ID: m.ID, Tags: &[]string{"drinks"}}, nil)
	must(t, err)
	written(t, m.ID, []string{""}, w)
}

// TestPRIV1_NoMachineIsNamedToARemoteReader, by whatever way he reads a memory.
func TestPRIV1_NoMachineIsNamedToARemoteReader(t *testing.T) {
	desk, laptop := twoMachines(t)
	m := desk.add(memory.Draft{Statement: "My name is Alex", Kind: record.MemoryIdentity, Pinned: true})
	must(t, laptop.db.CatchUp(t.Context()))
	_, err := laptop.mem.Update(t.Context(), laptop.remote, memory.Patch{ID: m.ID, Statement: ptr("My name is Kim")}, nil)
	must(t, err)
	written(t, m.ID, []string{"laptop", "desk"}, desk, laptop) // the local reader is told
	for reader, v := range map[string]struct {
		*world
		names int
	}{"local": {laptop, 7}, "remote": {laptop, 0}} {
		view := v.local
		if reader == "remote" {
			view = v.remote
		}
		got, err := v.mem.Get(view, m.ID)
		must(t, err)
		page, _, _, err := v.mem.List(t.Context(), view, memory.Filter{}, nil, 10)
		must(t, err)
		former, err := v.mem.Versions(t.Context(), view, m.ID)
		must(t, err)
		stats := v.mem.Stats(view)
		said := []record.MemorySource{got.Source, former[0].Source, stats.OldestUnused.Source, v.mem.Seen(view, []string{m.ID})[0].Source}
		for _, list := range [][]*record.Memory{page, v.mem.Shown(view, []string{m.ID}), v.mem.Profile(view, 10)} {
			for _, m := range list {
				said = append(said, m.Source)
			}
		}
		names := 0
		for _, s := range said {
			if s.Machine != "" {
				names++
			}
		}
		if names != v.names || len(said) != 7 {
			t.Errorf("a %s reader is told the machine %d times: %+v", reader, names, said)
		}
	}
}
