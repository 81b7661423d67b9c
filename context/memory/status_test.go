package memory_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

func TestMEM2_Statuses(t *testing.T) {
	w := open(t, memory.Limits{})
	ctx := t.Context()
	act := map[string]func(id string) error{
		"archive": func(id string) error { _, err := w.mem.Archive(ctx, w.local, id, nil); return err },
		"restore": func(id string) error { _, err := w.mem.Restore(ctx, w.local, id, 0, nil); return err },
		"retract": func(id string) error { _, err := w.mem.Retract(ctx, w.local, id, nil); return err },
		"contest": func(id string) error {
			_, err := w.mem.Update(ctx, w.local, memory.Patch{ID: id, Status: ptr(record.MemoryContested)}, nil)
			return err
		},
		"doubt": func(id string) error {
			_, err := w.mem.Update(ctx, w.local, memory.Patch{ID: id, Confidence: ptr(0.2)}, nil)
			return err
		},
		"trust": func(id string) error {
			_, err := w.mem.Update(ctx, w.local, memory.Patch{ID: id, Confidence: ptr(0.9)}, nil)
			return err
		},
		"supersede": func(id string) error {
			_, err := w.mem.Add(ctx, w.local, []memory.Draft{{Statement: "what holds now, says " + w.newID(), Supersedes: []string{id}}})
			return err
		},
	}
	for _, c := range []struct {
		path string // what is done
		want string // the status, or "1002" and the field
	}{
		{"archive", record.MemoryArchived},
		{"archive restore", record.MemoryActive},
		{"contest", record.MemoryContested},
		{"contest archive restore", record.MemoryActive},
		{"contest contest", "1002 status"},
		{"doubt", record.MemoryDeprecated},
		{"doubt trust", record.MemoryActive},
		{"doubt archive restore", record.MemoryDeprecated},
		{"doubt contest", "1002 status"},
		{"doubt supersede", "1002 supersedes[0]"},
		{"supersede", record.MemorySuperseded},
		{"contest supersede", record.MemorySuperseded},
		{"supersede supersede", "1002 supersedes[0]"},
		{"supersede archive", "1002 "},
		{"retract", record.MemoryRetracted},
		{"archive retract", record.MemoryRetracted},
		{"supersede retract", record.MemoryRetracted},
		{"retract retract", "1002 "},
		{"retract restore", "1002 "},
		{"retract trust", "1002 "},
		{"restore", "1002 "},
		{"archive archive", "1002 "},
	} {
		id := w.say("fact about " + c.path).ID
		var err error
		for step := range strings.FieldsSeq(c.path) {
			if err = act[step](id); err != nil {
				break
			}
		}
		if field, refusal := strings.CutPrefix(c.want, "1002 "); refusal {
			refused(t, err, fault.Conflict, field)
			continue
		}
		must(t, err)
		if m := w.get(id); m.Status != c.want {
			t.Errorf("%s: %s, want %s", c.path, m.Status, c.want)
		}
	}
	w.sound()
}

func TestMEM2_WhatIsFound(t *testing.T) {
	w := open(t, memory.Limits{})
	ctx := t.Context()
	for _, s := range []string{"active", "archived", "retracted", "superseded"} {
		w.add(memory.Draft{ID: s, Statement: "the " + s + " one", Handle: "my-" + s})
	}
	_, err := w.mem.Archive(ctx, w.local, "archived", nil)
	must(t, err)
	_, err = w.mem.Retract(ctx, w.local, "retracted", nil)
	must(t, err)
	now := w.add(memory.Draft{Statement: "newer", Supersedes: []string{"superseded"}})
	list, _, _, err := w.mem.List(ctx, w.local, memory.Filter{}, nil, 1e6)
	must(t, err)
	var found []string
	for _, m := range list {
		found = append(found, m.ID)
	}
	slices.Sort(found)
	if want := []string{"active", now.ID}; !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
	for _, ref := range []string{"archived", "my-archived", "@my-archived", "2", "#2", "claim_2", "@claim_2", "retracted"} {
		w.get(ref)
	}
	for _, ref := range []string{"my-retracted", "3", "99", "", "unknown"} {
		_, err := w.mem.Get(w.local, ref)
		refused(t, err, fault.NotFound, "")
	}
	old := w.get("superseded")
	if old.SupersededBy != now.ID || old.ValidTo == nil || old.Status != record.MemorySuperseded {
		t.Errorf("%+v", old.MemoryRecord)
	}
}

func TestMEM3_VersionsAreKept(t *testing.T) {
	w := open(t, memory.Limits{})
	ctx := t.Context()
	m := w.say("I live in Bonn")
	w.pass(time.Hour)
	_, err := w.mem.Update(ctx, w.local, memory.Patch{ID: m.ID, Statement: ptr("I live in Graz")}, ptr(2))
	refused(t, err, fault.Conflict, "ifVersion")
	now, err := w.mem.Update(ctx, w.local, memory.Patch{ID: m.ID, Statement: ptr("I live in Graz")}, ptr(1))
	must(t, err)
	if now.Version != 2 || now.Handle != m.Handle || now.Number != m.Number || !now.UpdatedAt.After(m.UpdatedAt) {
		t.Errorf("%+v", now)
	}
	_, err = w.mem.Update(ctx, w.local, memory.Patch{ID: m.ID, Pinned: ptr(true)}, nil)
	must(t, err)
	list, err := w.mem.Versions(ctx, w.local, m.ID)
	must(t, err)
	if len(list) != 1 || list[0].Version != 1 || list[0].Statement != "I live in Bonn" || !list[0].UpdatedAt.Equal(m.UpdatedAt) {
		t.Errorf("versions %+v", list)
	}
	back, err := w.mem.Restore(ctx, w.local, m.ID, 1, nil)
	must(t, err)
	if back.Statement != "I live in Bonn" || back.Version != 4 || !back.Pinned {
		t.Errorf("%+v", back.MemoryRecord)
	}
	_, err = w.mem.Restore(ctx, w.local, m.ID, 7, nil)
	refused(t, err, fault.NotFound, "version")
	w.sound()
}

func TestMEM4_CountingChangesNoMemory(t *testing.T) {
	w := open(t, memory.Limits{})
	m := w.say("I like tea")
	seq := w.db.Seq()
	n, err := w.mem.Use(t.Context(), w.local, []string{m.ID, "unknown", m.ID})
	must(t, err)
	if n != 1 || w.db.Seq() != seq+1 {
		t.Errorf("counted %d", n)
	}
	now := w.get(m.ID)
	if now.Version != m.Version || !now.UpdatedAt.Equal(m.UpdatedAt) || now.Use.Uses != 1 || now.Use.LastUsedAt == nil {
		t.Errorf("%+v", now)
	}
}
