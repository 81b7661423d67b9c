package gather_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

func (w *world) mustType(t *testing.T, typ entities.Type) {
	t.Helper()
	if _, _, err := w.ents.PutType(ctx, typ, nil, true); err != nil {
		t.Fatal(err)
	}
}

func (w *world) mustPut(t *testing.T, e entities.Entity) {
	t.Helper()
	if _, err := w.ents.Put(ctx, e, nil); err != nil {
		t.Fatal(err)
	}
}

func TestCTX34_AggregatesDoNotTell(t *testing.T) {
	w := newWorld(t)
	w.mustType(t, entities.Type{Name: "P", Fields: []entities.Field{
		{Name: "pay", Type: record.Number},
		{Name: "boss", Type: record.EntityRef},
		{Name: "top", Type: record.Computed, Query: "SELECT MAX(p.pay) FROM P p"},
		{Name: "count", Type: record.Computed, Query: "SELECT COUNT(*) FROM P"},
		{Name: "chief", Type: record.Computed, Query: "SELECT MAX(p.boss.name) FROM P p"},
	}})
	w.mustPut(t, entities.Entity{ID: "a", Type: "P", Name: "Ann", Fields: entities.Values{"pay": 10.0, "boss": "z"}})
	w.mustPut(t, entities.Entity{ID: "z", Type: "P", Name: "Zoe Secret", Private: true, Fields: entities.Values{"pay": 99.0}})
	for audience, want := range map[string][]string{
		gather.Remote: {"  top: 10\n", "  count: 1\n", "  boss: (private)\n"}, gather.Local: {"  top: 99\n", "  count: 2\n", "  chief: Zoe Secret\n"},
	} {
		res := w.assemble(t, gather.Params{MentionedEntityIDs: []string{"a"}, Audience: audience})
		for _, line := range want {
			if !strings.Contains(res.System, line) {
				t.Errorf("%s: no %q in\n%s", audience, line, res.System)
			}
		}
		if audience == gather.Remote && (strings.Contains(res.System, "Zoe") || strings.Contains(res.System, "99")) {
			t.Errorf("a remote model sees\n%s", res.System)
		}
	}
}

func TestCTX34_AnEntityIsAsPrivateAsItsNote(t *testing.T) {
	w := newWorld(t)
	w.mustType(t, entities.Type{Name: "P"})
	n, err := w.notes.Put(ctx, notes.Draft{ID: "n", Title: "Zoe", Private: true, Body: "---\ntype: P\n---\n"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	no, yes := false, true
	if _, err := w.ents.Patch(ctx, entities.Patch{ID: n.EntityID, Private: &no}, nil); err != nil {
		t.Fatal(err)
	}
	shown := func() bool {
		return strings.Contains(w.assemble(t, gather.Params{MentionedEntityIDs: []string{n.EntityID}}).System, "Zoe")
	}
	if shown() {
		t.Error("the note is private, so its entity is")
	}
	if _, err := w.notes.Patch(ctx, notes.Patch{ID: "n", Private: &no}, nil); err != nil {
		t.Fatal(err)
	}
	if !shown() {
		t.Error("neither is private any more")
	}
	if _, err := w.ents.Patch(ctx, entities.Patch{ID: n.EntityID, Private: &yes}, nil); err != nil {
		t.Fatal(err)
	}
	body := "---\ntype: P\n---\nnew text"
	if _, err := w.notes.Patch(ctx, notes.Patch{ID: "n", Body: &body}, nil); err != nil {
		t.Fatal(err)
	}
	if shown() {
		t.Error("a new text takes back what a client said of the entity")
	}
	for text, want := range map[string]bool{
		"private: true": true, "private: no": false, "private: 1": true, "private: y": true, "private: [true]": true, "private: 0": false,
		"private:": false, "a: [\nprivate: true": true, "a: [\nprivate: false": true, "title: x": false,
	} {
		n, err := w.notes.Put(ctx, notes.Draft{ID: "flag", Body: "---\n" + text + "\n---\n"}, nil)
		if err != nil || n.Private != want {
			t.Errorf("%q makes a note private: %v, %v", text, n.Private, err)
		}
	}
}

// TestCTX34_PrivateOutlivesTheNote deletes private notes: what is made of one and
// what belongs to one stays private, archived and when it is restored.
func TestCTX34_PrivateOutlivesTheNote(t *testing.T) {
	w := newWorld(t)
	w.mustType(t, entities.Type{Name: "P", Fields: []entities.Field{{Name: "f", Type: record.Text}, {Name: "to", Type: record.EntityRef}}})
	made, err := w.notes.Put(ctx, notes.Draft{ID: "n", Title: "Canary Zoe", Body: "---\ntype: P\nprivate: true\nf: the canary\n---\n"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.mustNote(t, notes.Draft{ID: "m", Title: "M", Private: true})
	w.mustPut(t, entities.Entity{ID: "of-m", Type: "P", Name: "Canary Yan", NoteID: "m"})
	w.mustPut(t, entities.Entity{ID: "a", Type: "P", Name: "Ann", Fields: entities.Values{"to": made.EntityID}})
	look := func(when string) {
		t.Helper()
		raw, err := json.Marshal(w.assemble(t, gather.Params{MentionedEntityIDs: []string{made.EntityID, "of-m", "a"}}))
		if err != nil {
			t.Fatal(err)
		}
		if found := canaries.FindAllString(string(raw), -1); len(found) > 0 {
			t.Errorf("%s: %q in %s", when, found, raw)
		}
	}
	for _, id := range []string{"n", "m"} {
		if _, err := w.notes.Delete(ctx, id, nil); err != nil {
			t.Fatal(err)
		}
	}
	look("deleted")
	if _, err := w.ents.Restore(ctx, made.EntityID, nil); err != nil {
		t.Fatal(err)
	}
	look("restored")
}

// TestATypeChangeReachesTheGraph: a text becomes a reference, and what it
// refers to becomes private.
func TestATypeChangeReachesTheGraph(t *testing.T) {
	w := newWorld(t)
	w.mustType(t, entities.Type{Name: "P", Fields: []entities.Field{{Name: "boss", Type: record.Text}}})
	w.mustPut(t, entities.Entity{ID: "a", Type: "P", Name: "Ann", Fields: entities.Values{"boss": "b"}})
	w.mustPut(t, entities.Entity{ID: "b", Type: "P", Name: "Bob"})
	w.mustType(t, entities.Type{Name: "P", Fields: []entities.Field{{Name: "boss", Type: record.EntityRef}}})
	p := gather.Params{MentionedEntityIDs: []string{"a"}}
	if !strings.Contains(w.assemble(t, p).System, "boss: @Bob [id:b]") {
		t.Error("the text is a reference now")
	}
	w.mustPut(t, entities.Entity{ID: "b", Type: "P", Name: "Bob", Private: true})
	if strings.Contains(w.assemble(t, p).System, "Bob") {
		t.Error("a block from before shows a private name")
	}
	w.mustType(t, entities.Type{Name: "P", Fields: []entities.Field{{Name: "Boss", Type: record.EntityRef}}})
	if _, err := w.ents.Patch(ctx, entities.Patch{ID: "a", Fields: entities.Values{"boss": nil}}, nil); err != nil || len(w.ents.Get("a").Fields) != 0 {
		t.Errorf("a field in another spelling can be emptied: %v, %v", w.ents.Get("a").Fields, err)
	}
}

// TestLinksOfANewNoteCountFromItsPlace: the references of a note and what they
// mean come into the store together.
func TestLinksOfANewNoteCountFromItsPlace(t *testing.T) {
	w := newWorld(t)
	w.mustType(t, entities.Type{Name: "P", Fields: []entities.Field{{Name: "team", Type: record.EntityRef}}})
	for _, d := range []notes.Draft{
		{ID: "x", Path: "A/Eng.md", Body: "---\ntype: P\n---\n"},
		{ID: "y", Path: "B/Eng.md", Body: "---\ntype: P\n---\n"},
		{ID: "al", Path: "B/Al.md", Body: "---\ntype: P\nteam: '[[Eng]]'\n---\n"},
		{ID: "bo", Path: "B/Bo.md", Body: "---\ntype: P\nteam: '[[./Eng]]'\n---\n"},
	} {
		if _, err := w.notes.Put(ctx, d, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"al", "bo"} {
		if got, want := w.ents.Get(w.notes.Get(id).EntityID).Fields["team"], w.notes.Get("y").EntityID; got != want {
			t.Errorf("%s is in team %v, want %s", id, got, want)
		}
	}
}

// TestCTX34_TheEntityOfANoteStaysItsOwn writes to the entity of a private note: it is
// not taken from the note, by which it is private.
func TestCTX34_TheEntityOfANoteStaysItsOwn(t *testing.T) {
	w := newWorld(t)
	w.mustType(t, entities.Type{Name: "P", Fields: []entities.Field{{Name: "f", Type: record.Text}}})
	made, err := w.notes.Put(ctx, notes.Draft{ID: "n", Title: "Canary Zoe", Body: "---\ntype: P\nprivate: true\nf: the canary\n---\n"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.mustNote(t, notes.Draft{ID: "m", Title: "M", Private: true})
	w.mustPut(t, entities.Entity{ID: "of-m", Type: "P", Name: "Yan", NoteID: "m"})
	for range 2 {
		e, err := w.ents.Put(ctx, entities.Entity{ID: made.EntityID, Type: "P", Name: "Canary Zoe", Fields: entities.Values{"f": "a canary"}}, nil)
		if err != nil || e.NoteID != "n" || !e.Private || e.Fields["f"] != "a canary" {
			t.Errorf("%+v, %v", e, err)
		}
	}
	other, none := "m", ""
	if _, err := w.ents.Put(ctx, entities.Entity{ID: made.EntityID, Type: "P", Name: "Zoe", NoteID: other}, nil); fault.KindOf(err) != fault.Conflict {
		t.Errorf("put with another note: %v", err)
	}
	for _, to := range []*string{&other, &none} {
		if _, err := w.ents.Patch(ctx, entities.Patch{ID: made.EntityID, NoteID: to}, nil); fault.KindOf(err) != fault.Conflict {
			t.Errorf("patch to note %q: %v", *to, err)
		}
	}
	raw, err := json.Marshal(w.assemble(t, gather.Params{MentionedEntityIDs: []string{made.EntityID}}))
	if err != nil {
		t.Fatal(err)
	}
	if found := canaries.FindAllString(string(raw), -1); len(found) > 0 {
		t.Errorf("%q in %s", found, raw)
	}
	// One that only belongs to a note can be given to another, or to none; it stays as
	// private as the first was (PRIV-4).
	for _, to := range []*string{&none, &other} {
		if e, err := w.ents.Patch(ctx, entities.Patch{ID: "of-m", NoteID: to}, nil); err != nil || e.NoteID != *to || !e.Private {
			t.Errorf("%+v, %v", e, err)
		}
	}
}
