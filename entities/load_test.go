package entities_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
)

// TestLinksOfLoadedEntities opens a store over entities that are there, gives it a
// resolver at once or after another write, and looks at what links lead to.
func TestLinksOfLoadedEntities(t *testing.T) {
	for _, written := range []bool{false, true} {
		t.Run(fmt.Sprint("written first: ", written), func(t *testing.T) {
			before, db := open(t, kv.InMemory, entities.Options{})
			mustType(t, before, person)
			for _, e := range []entities.Entity{
				{ID: "link", Fields: entities.Values{"team": "[[Team]]"}},
				{ID: "list", Fields: entities.Values{"reports": []string{"x", "[[Team]]"}}},
				{ID: "made", NoteID: "private-note"},
				{ID: "none", Fields: entities.Values{"team": "x", "level": 3.0}},
			} {
				e.Type, e.Name = "Person", "P "+e.ID
				if _, err := before.Put(ctx, e, nil); err != nil {
					t.Fatal(err)
				}
			}
			s, err := entities.Open(db, entities.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]entities.Values{
				"link": {"team": "team-id"}, "list": {"reports": []string{"x", "team-id"}}, "made": {}, "none": {"team": "x", "level": 3.0},
			}
			if written {
				if _, err := s.Put(ctx, entities.Entity{ID: "late", Type: "Person", Name: "Late", Fields: entities.Values{"team": "[[Team]]"}}, nil); err != nil {
					t.Fatal(err)
				}
				want["late"] = entities.Values{"team": "team-id"}
			}
			s.SetResolver(entities.Resolver{
				Resolve: func(link, _ string) (string, string) {
					if link != "Team" {
						return "", ""
					}
					return "team-note", "team-id"
				},
				Keys:    func(link string) []string { return []string{link} },
				Private: func(id string) bool { return id == "private-note" },
			})
			for id, fields := range want {
				e := s.Get(id)
				if diff := cmp.Diff(fields, e.Fields); diff != "" || e.Private != (id == "made") {
					t.Errorf("%s is %+v\n%s", id, e, diff)
				}
			}
		})
	}
}
