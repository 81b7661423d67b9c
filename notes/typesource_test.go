package notes_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

func fieldNames(t *entities.Type) []string {
	if t == nil {
		return nil
	}
	names := []string{}
	for _, f := range t.Fields {
		names = append(names, f.Name)
	}
	return names
}

func publicType(s *notes.Store, ents *entities.Store, name string) *entities.Type {
	if t := ents.Type(name); t != nil {
		return s.PublicType(t)
	}
	return nil
}

// TestPRIV4_TypesOfPrivateNotes has types made from public and from private notes:
// what private ones alone have given does not exist for the public, before and after
// a restart, whatever becomes of the notes.
func TestPRIV4_TypesOfPrivateNotes(t *testing.T) {
	dir := t.TempDir()
	s, ents, db := open(t, dir)
	put(t, s, notes.Draft{ID: "hidden", Body: "---\ntype: Person\nsalary: 5\nrole: a\nprivate: true\n---\n"})
	put(t, s, notes.Draft{ID: "alone", Body: "---\ntype: Affair\nwith: Ann\nprivate: true\n---\n"})
	want := func(when string, typeName string, version int, fields ...string) {
		t.Helper()
		public := publicType(s, ents, typeName)
		if version == 0 {
			if public != nil {
				t.Errorf("%s, %s: %+v", when, typeName, public)
			}
			return
		}
		if diff := cmp.Diff(fields, fieldNames(public)); diff != "" || public.Version != version || !public.Inferred {
			t.Errorf("%s, %s: %+v\n%s", when, typeName, public, diff)
		}
	}
	want("private notes alone", "Person", 0)
	want("private notes alone", "Affair", 0)
	put(t, s, notes.Draft{ID: "open", Body: "---\ntype: person\ncity: x\nrole: b\n---\n"})
	want("a public note", "PERSON", 1, "city", "role")
	put(t, s, notes.Draft{ID: "more", Body: "---\ntype: Person\nage: 7\nsalary:\n---\n"})
	want("a second one", "Person", 2, "city", "role", "age")
	if diff := cmp.Diff([]string{"salary", "role", "city", "age"}, fieldNames(ents.Type("Person"))); diff != "" {
		t.Error(diff)
	}
	put(t, s, notes.Draft{ID: "open", Body: "---\ntype: Person\ncity: x\nrole: b\nprivate: true\n---\n"})
	want("it becomes private", "Person", 2, "age")
	if _, err := s.Delete(ctx, "hidden", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Delete(ctx, "alone", nil); err != nil {
		t.Fatal(err)
	}
	want("private notes are gone", "Person", 2, "age")
	want("private notes are gone", "Affair", 0)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s, ents, _ = open(t, dir)
	want("a restart", "Person", 2, "age")
	want("a restart", "Affair", 0)
	if _, err := ents.Put(ctx, entities.Entity{ID: "own", Type: "Affair", Name: "Public now", Fields: entities.Values{"with": "Bob"}}, nil); err != nil {
		t.Fatal(err)
	}
	want("a client's own entity", "Affair", 1, "with")
	if _, _, err := ents.PutType(ctx, entities.Type{Name: "Person", Fields: []entities.Field{{Name: "salary", Type: record.Number}}}, nil, true); err != nil {
		t.Fatal(err)
	}
	if declared := publicType(s, ents, "Person"); declared == nil || declared.Inferred || len(declared.Fields) != 1 {
		t.Errorf("somebody declared it: %+v", declared)
	}
	if publicType(s, ents, "Nothing") != nil {
		t.Error("a type that nobody has made")
	}
}

// TestPRIV4_TypesWithoutASource opens a store in which nothing says who gave the
// fields of a type, as older ones are.
func TestPRIV4_TypesWithoutASource(t *testing.T) {
	s, ents, _ := open(t, kv.InMemory)
	grown := entities.Type{Name: "Old", Inferred: true, Fields: []entities.Field{{Name: "a", Type: record.Text}, {Name: "b", Type: record.Text}}}
	if _, _, err := ents.PutType(ctx, grown, nil, true); err != nil {
		t.Fatal(err)
	}
	for _, e := range []entities.Entity{
		{Type: "Old", Name: "Hidden", Private: true, Fields: entities.Values{"a": "x"}},
		{Type: "Old", Name: "Open", Fields: entities.Values{"b": "x"}},
	} {
		if _, err := ents.Put(ctx, e, nil); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"b"}, fieldNames(publicType(s, ents, "Old"))); diff != "" {
		t.Error(diff)
	}
}
