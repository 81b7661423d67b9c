package tools_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/chat/tools"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// world is a store in memory with two projects, one of them a file, and two persons, one of them private.
type world struct {
	*testing.T
	db            *kv.Store
	ents          *entities.Store
	notes         *notes.Store
	local, remote *audience.View
}

func open(t *testing.T) *world {
	t.Helper()
	w := &world{T: t}
	var err error
	w.db, err = kv.Open(kv.InMemory, kv.Options{})
	w.must(err)
	t.Cleanup(func() { _ = w.db.Close() })
	w.ents, err = entities.Open(w.db, entities.Options{})
	w.must(err)
	w.notes, err = notes.Open(w.db, w.ents, notes.Options{})
	w.must(err)
	seen := audience.Open(w.db, audience.Stores{Entities: w.ents, Notes: w.notes})
	w.local, w.remote = seen.View(audience.Local), seen.View(audience.Remote)
	for _, typ := range []entities.Type{
		{Name: "Person", Fields: []entities.Field{{Name: "email", Type: record.Text}}},
		{Name: "Project", Fields: []entities.Field{
			{Name: "lead", Type: record.EntityRef, TargetType: "Person"},
			{Name: "team", Type: record.EntityRefList, TargetType: "Person"},
			{Name: "plan", Type: record.NoteRef},
			{Name: "budget", Type: record.Number},
		}},
	} {
		_, _, err := w.ents.PutType(t.Context(), typ, nil, false)
		w.must(err)
	}
	for _, e := range []entities.Entity{
		{ID: "ann", Type: "Person", Name: "Ann"},
		{ID: "bob", Type: "Person", Name: "Bob", Private: true},
		{ID: "hive", Type: "Project", Name: "Hive"},
	} {
		_, err := w.ents.Put(t.Context(), e, nil)
		w.must(err)
	}
	_, err = w.notes.Put(t.Context(), notes.Draft{ID: "roof", Title: "Roof", Body: "Tar"}, nil)
	w.must(err)
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// TestCHAT21_EveryKindIsDeclaredWhole: what the wire says of actions names each kind, and its schema and what it does
// are there.
func TestCHAT21_EveryKindIsDeclaredWhole(t *testing.T) {
	var types []string
	for _, k := range tools.ActionKinds() {
		types = append(types, k.Type)
		var schema struct {
			Properties map[string]struct{ Type, Description string }
			Required   []string
		}
		if err := json.Unmarshal(k.Schema, &schema); err != nil || len(schema.Properties) == 0 || k.About == "" {
			t.Errorf("%s: %v, %s", k.Type, err, k.Schema)
		}
		for name, p := range schema.Properties {
			if p.Type == "" || p.Description == "" {
				t.Errorf("%s: %s has no description", k.Type, name)
			}
		}
	}
	for _, on := range []reflect.Type{reflect.TypeFor[record.ChatAction](), reflect.TypeFor[record.ToolProposal]()} {
		f, _ := on.FieldByName("Type")
		if got := f.Tag.Get("enum"); got != strings.Join(types, ",") {
			t.Errorf("%s may have the types %s, and there are %s", on, got, types)
		}
	}
}

// TestCHAT21_WhatCanBeRemembered: every kind of memory that says something about the person.
func TestCHAT21_WhatCanBeRemembered(t *testing.T) {
	f, _ := reflect.TypeFor[tools.RememberArgs]().FieldByName("Kind")
	var want []string
	for _, kind := range record.MemoryKinds {
		if kind != record.MemoryTakeaway {
			want = append(want, kind)
		}
	}
	if got := f.Tag.Get("enum"); got != strings.Join(want, ",") {
		t.Errorf("the kinds are %s, want %s", got, want)
	}
}

// TestCHAT21_ArgsThatDoNotFit are refused with the arg at fault and a hint.
func TestCHAT21_ArgsThatDoNotFit(t *testing.T) {
	w := open(t)
	for _, tc := range []struct {
		typ, args string
		kind      fault.Kind
		field     string
	}{
		{"deleteAll", `{}`, fault.Invalid, "type"},
		{"createTask", `[]`, fault.Invalid, ""},
		{"createTask", `null`, fault.Invalid, ""},
		{"createTask", `{`, fault.Invalid, ""},
		{"createTask", `{}`, fault.Invalid, "title"},
		{"createTask", `{"title":null}`, fault.Invalid, "title"},
		{"createTask", `{"title":" \n"}`, fault.Invalid, "title"},
		{"createTask", `{"title":7}`, fault.Invalid, "title"},
		{"createTask", `{"title":"` + strings.Repeat("x", 2049) + `"}`, fault.Limit, "title"},
		{"createTask", `{"title":"x","details":"` + strings.Repeat("x", 8193) + `"}`, fault.Limit, "details"},
		{"createTask", `{"title":"x","due":"tomorrow"}`, fault.Invalid, "due"},
		{"createTask", `{"title":"x","due":"2026-02-30"}`, fault.Invalid, "due"},
		{"createTask", `{"title":"x","entityIds":"ann"}`, fault.Invalid, "entityIds"},
		{"createTask", `{"title":"x","entityIds":["ann",null]}`, fault.Invalid, "entityIds"},
		{"createTask", `{"title":"x","entityIds":[` + strings.Repeat(`"ann",`, 50) + `"ann"]}`, fault.Limit, "entityIds"},
		{"createTask", `{"title":"x","owner":"ann"}`, fault.Invalid, "owner"},
		{"createTask", `{"title":"x","details":"` + strings.Repeat("x", 64<<10) + `"}`, fault.Limit, "args"},
		{"assignEntity", `{"entityId":"hive","field":"lead"}`, fault.Invalid, "targetId"},
		{"assignEntity", `{"entityId":"none","field":"lead","targetId":"ann"}`, fault.NotFound, "entityId"},
		{"assignEntity", `{"entityId":"hive","field":"budget","targetId":"ann"}`, fault.Invalid, "field"},
		{"assignEntity", `{"entityId":"hive","field":"lead","targetId":"none"}`, fault.NotFound, "targetId"},
		{"assignEntity", `{"entityId":"hive","field":"lead","targetId":"hive"}`, fault.Invalid, "targetId"},
		{"assignEntity", `{"entityId":"hive","field":"lead","targetId":"bob"}`, fault.NotFound, "targetId"}, // private
		{"assignEntity", `{"entityId":"hive","field":"plan","targetId":"ann"}`, fault.NotFound, "targetId"},
	} {
		_, err := tools.PrepareAction(t.Context(), tools.ActionEnv{View: w.remote}, tools.ActionRequest{Type: tc.typ, Args: json.RawMessage(tc.args)})
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != tc.kind || f.Field != tc.field || f.Hint == "" {
			t.Errorf("%s %.80s: %#v", tc.typ, tc.args, err)
		}
	}
}

// TestCHAT21_IdsThatAreNotThere are left out of a task, with a warning for each.
func TestCHAT21_IdsThatAreNotThere(t *testing.T) {
	w := open(t)
	const args = `{"title":" Tar\n the roof ","entityIds":["ann","bob","ann","none"],"noteId":"none","due":" 2026-03-01 ","details":null}`
	for v, want := range map[*audience.View]string{
		w.local:  `{"title":"Tar the roof","due":"2026-03-01","entityIds":["ann","bob"]} 2`,
		w.remote: `{"title":"Tar the roof","due":"2026-03-01","entityIds":["ann"]} 3`,
	} {
		p, err := tools.PrepareAction(t.Context(), tools.ActionEnv{View: v}, tools.ActionRequest{Type: "createTask", Args: json.RawMessage(args)})
		w.must(err)
		if got := string(p.Args) + " " + string(rune('0'+len(p.Warnings))); got != want || !p.ForClient() {
			t.Errorf("%s: %q, want %s", v.Reader(), got, want)
		}
	}
}
