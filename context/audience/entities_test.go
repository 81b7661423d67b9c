package audience_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/names"
	"github.com/ctxd/ctxd/notes"
)

// TestPRIV1_EntitiesByName: of the entities with a name a reader is told of those that it
// sees, and finds none by a name that says more than it is shown.
func TestPRIV1_EntitiesByName(t *testing.T) {
	w := newMasking(t)
	_, _, err := w.ents.PutType(t.Context(), entities.Type{Name: "Q"}, nil, false)
	must(t, err)
	for _, e := range []entities.Entity{
		{ID: "p", Type: "P", Name: "Sam", Aliases: []string{"Sammy"}},
		{ID: "q", Type: "Q", Name: "sam"},
		{ID: "hidden", Type: "Q", Name: "Sammy", Private: true},
		{ID: "linked", Type: "P", Name: "About [[Canary Plan]]", Aliases: []string{"Linked"}},
		{ID: "alike", Type: "P", Name: "Canary Plan"},
		{ID: "gone", Type: "P", Name: "Gone"},
		{ID: "gone2", Type: "P", Name: "Twice"},
		{ID: "here", Type: "P", Name: "Twice"},
	} {
		_, err := w.ents.Put(t.Context(), e, nil)
		must(t, err)
	}
	for _, id := range []string{"gone", "gone2"} {
		_, err := w.ents.Archive(t.Context(), id, nil)
		must(t, err)
	}
	for _, c := range []struct{ name, typ, local, remote string }{
		{"Sam", "", "several: p Sam P, q sam Q", "several: p Sam P, q sam Q"},
		{"SAM ", "P", "p", "p"},
		{"Sam", "Q", "q", "q"},
		{"Sammy", "", "several: hidden Sammy Q, p Sam P", "p"},
		{"Sammy", "Q", "hidden", "not_found"},
		{"Canary Zoe", "", "z", "not_found"},
		{"Canaryalias", "P", "z", "not_found"},
		{"About [[Canary Plan]]", "", "linked", "not_found"},
		{"Linked", "", "linked", "linked"},
		{"Canary Plan", "", "alike", "alike"},
		{"Gone", "", "gone", "gone"},
		{"Twice", "", "here", "here"},
		{"Nobody", "", "not_found", "not_found"},
	} {
		for reader, want := range map[*audience.View]string{w.local: c.local, w.remote: c.remote} {
			got := foundByName(reader, c.name, c.typ)
			if got != want {
				t.Errorf("%s reads %q of type %q: %s, want %s", reader.Reader(), c.name, c.typ, got, want)
			}
		}
	}
}

// foundByName says what a name leads a reader to.
func foundByName(v *audience.View, name, typ string) string {
	e, err := v.EntityByName(name, typ)
	if err == nil {
		return e.ID
	}
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Conflict {
		return fault.KindOf(err).String()
	}
	var list []string
	for _, c := range f.Candidates {
		list = append(list, c.ID+" "+c.Name+" "+c.Type)
	}
	return "several: " + strings.Join(list, ", ")
}

// TestPRIV6_CompletionAfterARestart has a private note, the entity made from it, one that
// names it as its source, and public ones: after a start as before it no private name is
// offered to a remote reader, and all are to a local one.
func TestPRIV6_CompletionAfterARestart(t *testing.T) {
	dir := t.TempDir()
	for _, when := range []string{"at first", "after a restart"} {
		db, err := kv.Open(dir, kv.Options{})
		must(t, err)
		stores := openStores(t, db, notes.Options{})
		ents, ns := stores.Entities, stores.Notes
		if when == "at first" {
			_, err := ns.Put(t.Context(), notes.Draft{ID: "secret", Body: "---\ntype: P\nprivate: true\n---\n# Canary"}, nil)
			must(t, err)
			_, err = ns.Put(t.Context(), notes.Draft{ID: "open", Body: "---\ntype: P\n---\n# Can open"}, nil)
			must(t, err)
			_, err = ents.Put(t.Context(), entities.Entity{ID: "of", Type: "P", Name: "Canary two", NoteID: "secret"}, nil)
			must(t, err)
		}
		rooms := audience.Open(db, stores)
		for reader, want := range map[audience.Reader]string{
			audience.Local:  "Can open|Canary; Can open|Canary|Canary two",
			audience.Remote: "Can open; Can open",
		} {
			v := rooms.View(reader)
			got := offered(v.CompleteNotes("can", 9)) + "; " + offered(v.CompleteEntities("can", nil, 9))
			if got != want {
				t.Errorf("%s, %s: %s, want %s", when, reader, got, want)
			}
			// What the stores find is not only left out afterwards: it would take places.
			got = offered(ns.Complete("can", 9, v.Hides())) + "; " + offered(ents.Complete("can", nil, 9, v.Hides()))
			if got != want {
				t.Errorf("%s, for %s the stores find %s, want %s", when, reader, got, want)
			}
		}
		must(t, db.Close())
	}
}

// TestPRIV16_CompletionIsByTheNamesThatAreShown: what a private record is called decides neither whether a public one that names it
// is offered nor where, by another one of its names.
func TestPRIV16_CompletionIsByTheNamesThatAreShown(t *testing.T) {
	offers := func(secret, typed string, limit int) (got []string) {
		db, err := kv.Open(kv.InMemory, kv.Options{})
		must(t, err)
		defer func() { must(t, db.Close()) }()
		stores := openStores(t, db, notes.Options{})
		rooms := audience.Open(db, stores)
		_, err = stores.Notes.Put(t.Context(), notes.Draft{ID: "secret", Title: secret, Private: true}, nil)
		must(t, err)
		_, _, err = stores.Entities.PutType(t.Context(), entities.Type{Name: "P"}, nil, false)
		must(t, err)
		for id, aliases := range map[string][]string{"a": {"Of plans", "[[" + secret + "]] too"}, "b": {"A plan"}, "c": nil, "d": {"Landed"}} {
			_, err = stores.Entities.Put(t.Context(), entities.Entity{ID: id, Type: "P", Name: id + " of [[" + secret + "]]", Aliases: aliases}, nil)
			must(t, err)
			_, err = stores.Notes.Put(t.Context(), notes.Draft{ID: id, Title: id + " at [[" + secret + "]]", Aliases: aliases}, nil)
			must(t, err)
		}
		v := rooms.View(audience.Remote)
		for range 2 { // at first, and when the names are known
			for _, hits := range [][]names.Hit{v.CompleteEntities(typed, nil, limit), v.CompleteNotes(typed, limit)} {
				for _, h := range hits {
					got = append(got, h.Name)
				}
				got = append(got, "")
			}
		}
		return got
	}
	for _, typed := range []string{"an", "zan", "pla", "q", "land", ""} {
		for limit := range 4 {
			a, b := offers("Zanzibar Landing", typed, limit+1), offers("Quincy", typed, limit+1)
			slices.Sort(a) // they were written in any order
			slices.Sort(b)
			if limit == 3 && !slices.Equal(a, b) || len(a) != len(b) {
				t.Errorf("%q, %d at most: %q and %q", typed, limit+1, a, b)
			}
		}
	}
}

// offered are the names of completions, in order.
func offered(hits []names.Hit) string {
	var list []string
	for _, h := range hits {
		list = append(list, h.Name)
	}
	slices.Sort(list)
	return strings.Join(list, "|")
}

// TestPERF22_WithheldNotesAreCounted: a prompt is searched for again, for what its report
// says was withheld, only where there are private notes. Private entities are none.
func TestPERF22_WithheldNotesAreCounted(t *testing.T) {
	w := openRooms(t, notes.Options{})
	withholds := func(want bool, when string) {
		t.Helper()
		if got := w.remote.WithholdsNotes(); got != want {
			t.Errorf("%s: %t", when, got)
		}
		if w.local.WithholdsNotes() {
			t.Errorf("%s: notes are withheld from a local reader", when)
		}
	}
	_, _, err := w.ents.PutType(t.Context(), entities.Type{Name: "P"}, nil, false)
	must(t, err)
	_, err = w.ents.Put(t.Context(), entities.Entity{ID: "zoe", Type: "P", Name: "Zoe", Private: true}, nil)
	must(t, err)
	withholds(false, "a private entity")
	_, err = w.notes.Put(t.Context(), notes.Draft{ID: "n", Title: "N", Private: true}, nil)
	must(t, err)
	withholds(true, "a private note")
	_, err = w.notes.Delete(t.Context(), "n", nil)
	must(t, err)
	withholds(false, "a private note that is gone")
}
