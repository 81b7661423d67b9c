package notes_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// TestWQL3_MatcherLooksAtTheEntity: MATCHES is about the words of an entity and
// of its own note, all of them, and about nothing else.
func TestWQL3_MatcherLooksAtTheEntity(t *testing.T) {
	s, ents, _ := open(t, kv.InMemory)
	if _, _, err := ents.PutType(ctx, entities.Type{Name: "Project", Fields: []entities.Field{
		{Name: "goal", Type: entities.Text},
		{Name: "tools", Type: entities.TextList},
		{Name: "status", Type: entities.Select, Options: []string{"Active"}},
		{Name: "lead", Type: entities.EntityRef},
	}}, nil, false); err != nil {
		t.Fatal(err)
	}
	put(t, s, notes.Draft{ID: "n", Title: "Kickoff", Body: "A road map for the Straße"})
	put(t, s, notes.Draft{ID: "other", Title: "Elsewhere", Body: "Alpha road map"})
	for _, e := range []entities.Entity{
		{ID: "alpha", Type: "Project", Name: "Alpha", Aliases: []string{"Première"}, NoteID: "n", Fields: entities.Values{
			"goal": "Ship the roadster", "tools": []string{"hammer", "Sickle"}, "status": "Active", "lead": "beta",
		}},
		{ID: "beta", Type: "Project", Name: "Beta"},
	} {
		if _, err := ents.Put(ctx, e, nil); err != nil {
			t.Fatal(err)
		}
	}
	for words, want := range map[string]string{
		"alpha": "alpha", "ROAD map": "alpha", "road beta": "", "première": "alpha", "strasse": "alpha", "sickle kick": "alpha", "roadst": "alpha",
		"active": "", "elsewhere": "", "the alpha": "alpha", "bet": "beta", "lpha": "",
	} {
		has, err := s.Matcher(words)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for e := range ents.All() {
			if has(e) {
				got = append(got, e.ID)
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %v, want %q", words, got, want)
		}
	}
	if _, err := s.Matcher("?! …"); fault.KindOf(err) != fault.Invalid {
		t.Errorf("no word: %v", err)
	}
}
