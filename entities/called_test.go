package entities_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// noNotes is a resolver over no notes.
var noNotes = entities.Resolver{
	Resolve: func(string, string) (string, string) { return "", "" },
	Keys:    func(link string) []string { return []string{entities.Fold(link)} },
}

// resolving opens a store over no notes, with the types Person and Team.
func resolving(t *testing.T) (*entities.Store, *kv.Store) {
	t.Helper()
	s, db := open(t, kv.InMemory, entities.Options{})
	s.SetResolver(noNotes)
	mustType(t, s, person)
	mustType(t, s, entities.Type{Name: "Team", Fields: []entities.Field{{Name: "lead", Type: record.EntityRef}}})
	return s, db
}

// TestSRCH35_NamesOfEntitiesWithoutANote follows a name in a reference while entities that
// have it come, are renamed, are archived and go.
func TestSRCH35_NamesOfEntitiesWithoutANote(t *testing.T) {
	s, _ := resolving(t)
	put := func(e entities.Entity) {
		t.Helper()
		if _, err := s.Put(ctx, e, nil); err != nil {
			t.Fatal(err)
		}
	}
	shows := func(what, bare string, list ...string) {
		t.Helper()
		f := s.Get("a").Fields
		if diff := cmp.Diff(entities.Values{"team": bare, "reports": list}, f); diff != "" {
			t.Errorf("%s:\n%s", what, diff)
		}
	}
	put(entities.Entity{ID: "a", Type: "Person", Name: "Ann", Fields: entities.Values{
		"team": "Core", "reports": []string{"[[Bob Bee]]", "b2"},
	}})
	shows("alone", "Core", "[[Bob Bee]]", "b2")
	put(entities.Entity{ID: "p", Type: "Person", Name: "core"})
	shows("one of another type", "Core", "[[Bob Bee]]", "b2")
	put(entities.Entity{ID: "t1", Type: "Team", Name: "Kernel", Aliases: []string{"CORE", "Core"}})
	shows("an alias", "t1", "[[Bob Bee]]", "b2")
	put(entities.Entity{ID: "t2", Type: "Team", Name: "core", Private: true})
	shows("a private name changes nothing", "t1", "[[Bob Bee]]", "b2")
	put(entities.Entity{ID: "t2", Type: "Team", Name: "core"})
	shows("a name before an alias", "t2", "[[Bob Bee]]", "b2")
	put(entities.Entity{ID: "t3", Type: "Team", Name: "Core"})
	shows("two of the name", "Core", "[[Bob Bee]]", "b2")
	if _, err := s.Archive(ctx, "t3", nil); err != nil {
		t.Fatal(err)
	}
	shows("one is archived", "t2", "[[Bob Bee]]", "b2")
	put(entities.Entity{ID: "t2", Type: "Team", Name: "Other"})
	put(entities.Entity{ID: "t1", Type: "Team", Name: "Kernel"})
	shows("the one archived", "t3", "[[Bob Bee]]", "b2")
	if _, err := s.Delete(ctx, "t3", nil); err != nil {
		t.Fatal(err)
	}
	shows("it is gone", "Core", "[[Bob Bee]]", "b2")
	put(entities.Entity{ID: "Core", Type: "Team", Name: "By id"})
	put(entities.Entity{ID: "t1", Type: "Team", Name: "Core"})
	shows("an id is no name", "Core", "[[Bob Bee]]", "b2")
	put(entities.Entity{ID: "b", Type: "Person", Name: "Bob Bee", Aliases: []string{"B2"}})
	shows("a list", "Core", "b", "b")
	if _, err := s.Delete(ctx, "Core", nil); err != nil {
		t.Fatal(err)
	}
	shows("the id is free", "t1", "b", "b")
	team := person
	team.Fields = slices.Clone(person.Fields)
	team.Fields[8] = entities.Field{Name: "team", Type: record.Text}
	mustType(t, s, team)
	shows("no reference any more", "Core", "b", "b")
	put(entities.Entity{ID: "c", Type: "Person", Name: "Cy", Fields: entities.Values{"team": "Ops"}})
	mustType(t, s, person)
	shows("a reference again", "t1", "b", "b")
	put(entities.Entity{ID: "t4", Type: "Team", Name: "Ops"})
	if got := s.Get("c").Fields["team"]; got != "t4" {
		t.Errorf("what was written as a text leads to %v", got)
	}
}

// TestSRCH35_NamesOfWhatIsPrivateByItsNote opens a store in which one of two entities of a
// name is private, which is known once its note is.
func TestSRCH35_NamesOfWhatIsPrivateByItsNote(t *testing.T) {
	s, db := resolving(t)
	for _, e := range []entities.Entity{
		{ID: "a", Type: "Person", Name: "Ann", Fields: entities.Values{"team": "[[Core]]"}},
		{ID: "t1", Type: "Team", Name: "Core", NoteID: "private-note"},
		{ID: "t2", Type: "Team", Name: "Core"},
	} {
		if _, err := s.Put(ctx, e, nil); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.Get("a").Fields["team"]; got != "[[Core]]" {
		t.Errorf("among two it leads to %v", got)
	}
	again, err := entities.Open(db, entities.Options{})
	if err != nil {
		t.Fatal(err)
	}
	resolve := noNotes
	resolve.Private = func(id string) bool { return id == "private-note" }
	again.SetResolver(resolve)
	if got := again.Get("a").Fields["team"]; got != "t2" {
		t.Errorf("beside a private one it leads to %v", got)
	}
}

// TestSRCH35_NamesInFilesAreTheirVaults has an entity that is made from a file: only the notes know
// from where it can be named.
func TestSRCH35_NamesInFilesAreTheirVaults(t *testing.T) {
	s, db := resolving(t)
	err := db.Update(ctx, func(tx *kv.Tx) error {
		_, err := s.PutTx(tx, entities.Entity{ID: "f", Type: "Team", Name: "Core", NoteID: "n"},
			entities.PutOptions{FromNote: true, VaultBacked: true})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.Put(ctx, entities.Entity{Type: "Person", Name: "Ann", Fields: entities.Values{"team": "Core"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if e.Fields["team"] != "Core" {
		t.Errorf("it leads to %v", e.Fields["team"])
	}
}

// calledIn is what called finds, by going through all entities.
func calledIn(all []*entities.Entity, name, typeName string) string {
	var ranked [8][]string
	for _, e := range all {
		if entities.Fold(e.Type) != entities.Fold(typeName) {
			continue
		}
		rank := 0
		if !e.Live() {
			rank += 4
		}
		if e.Private {
			rank += 2
		}
		switch key := entities.Fold(name); {
		case entities.Fold(e.Name) == key:
		case slices.ContainsFunc(e.Aliases, func(a string) bool { return entities.Fold(a) == key }):
			rank++
		default:
			continue
		}
		ranked[rank] = append(ranked[rank], e.ID)
	}
	for _, ids := range ranked {
		if len(ids) > 0 {
			if len(ids) == 1 {
				return ids[0]
			}
			return ""
		}
	}
	return ""
}

// TestSRCH35_NamesResolveAsIfAllWereLookedAt changes entities and types at random: after each
// commit every reference leads where a look at all entities says, for views of changes and
// after another start too.
func TestSRCH35_NamesResolveAsIfAllWereLookedAt(t *testing.T) {
	texts := []string{"Core", "core", "Ops", "x1", "x2", "[[Core]]", "[[Two Words]]", "[[ops]]"}
	called := []string{"Core", "Ops", "OPS", "Two Words", "x1"}
	rapid.Check(t, func(r *rapid.T) {
		db, err := kv.Open(kv.InMemory, kv.Options{})
		if err != nil {
			r.Fatal(err)
		}
		defer db.Close()
		s, err := entities.Open(db, entities.Options{})
		if err != nil {
			r.Fatal(err)
		}
		s.SetResolver(noNotes)
		told := make(map[string]*entities.Entity)
		db.OnCommit(func(cs *kv.ChangeSet) {
			for _, ch := range cs.Changes {
				if _, e, ok := entities.EntityRecords.Of(ch); ok {
					told[ch.ID] = e
				}
			}
		})
		declare := func(isRef bool) {
			kind := record.Text
			if isRef {
				kind = record.EntityRef
			}
			fields := []entities.Field{{Name: "one", Type: kind}, {Name: "more", Type: record.EntityRefList, TargetType: "B"}}
			if isRef {
				fields[0].TargetType = "A"
			}
			for _, name := range []string{"A", "B"} {
				if _, _, err := s.PutType(ctx, entities.Type{Name: name, Fields: fields}, nil, false); err != nil {
					r.Fatal(err)
				}
			}
		}
		isRef := true
		declare(isRef)
		written := make(map[string]entities.Values)
		for range rapid.IntRange(1, 25).Draw(r, "steps") {
			id := rapid.SampledFrom([]string{"x1", "x2", "x3", "Ops"}).Draw(r, "id")
			switch what := rapid.IntRange(0, 9).Draw(r, "what"); {
			case what < 6:
				var list []entities.Entity
				for range rapid.IntRange(1, 3).Draw(r, "many") {
					e := entities.Entity{
						ID: id, Type: rapid.SampledFrom([]string{"A", "B"}).Draw(r, "type"),
						Name:    rapid.SampledFrom(called).Draw(r, "name"),
						Aliases: rapid.SliceOfN(rapid.SampledFrom(called), 0, 2).Draw(r, "aliases"),
						Private: rapid.Bool().Draw(r, "private"),
						Fields:  entities.Values{"one": rapid.SampledFrom(texts).Draw(r, "one")},
					}
					if more := rapid.SliceOfN(rapid.SampledFrom(texts), 0, 3).Draw(r, "more"); len(more) > 0 {
						e.Fields["more"] = more
					}
					if have := s.Get(id); have != nil {
						e.Type = have.Type
					}
					if !slices.ContainsFunc(list, func(o entities.Entity) bool { return o.ID == id }) {
						list = append(list, e)
						written[id] = e.Fields
					}
					id = rapid.SampledFrom([]string{"x1", "x2", "x3", "Ops"}).Draw(r, "id")
				}
				err = db.Update(ctx, func(tx *kv.Tx) error {
					for _, e := range list {
						if _, err := s.PutTx(tx, e, entities.PutOptions{}); err != nil {
							return err
						}
					}
					return nil
				})
			case what == 6 && s.Get(id) != nil:
				_, err = s.Archive(ctx, id, nil)
			case what == 7 && s.Get(id) != nil:
				_, err = s.Delete(ctx, id, nil)
				delete(written, id)
			case what == 8:
				isRef = !isRef
				declare(isRef)
			}
			if err != nil {
				r.Fatal(err)
			}
			again, err := entities.Open(db, entities.Options{})
			if err != nil {
				r.Fatal(err)
			}
			again.SetResolver(noNotes)
			all := slices.Collect(s.All())
			want := func(text, typeName string) string {
				target, isLink := record.LinkTarget(text)
				if !isLink && s.Get(text) != nil {
					return text
				}
				if !isLink {
					target = text
				}
				if id := calledIn(all, target, typeName); id != "" {
					return id
				}
				return text
			}
			for _, id := range slices.Sorted(maps.Keys(written)) {
				fields := entities.Values{"one": written[id]["one"]}
				if isRef {
					fields["one"] = want(written[id]["one"].(string), "A")
				}
				if more, ok := written[id]["more"].([]string); ok {
					list := make([]string, len(more))
					for i, text := range more {
						list[i] = want(text, "B")
					}
					fields["more"] = list
				}
				for which, e := range map[string]*entities.Entity{"now": s.Get(id), "told": told[id], "again": again.Get(id)} {
					if diff := cmp.Diff(fields, e.Fields); diff != "" {
						r.Fatalf("%s, %s:\n%s", id, which, diff)
					}
				}
			}
		}
	})
}
