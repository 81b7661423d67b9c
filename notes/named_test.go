package notes_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// TestSRCH35_NamesWhereIdsBelong has names in the frontmatter of a file and in a record of
// a client, which notes have and entities without a note.
func TestSRCH35_NamesWhereIdsBelong(t *testing.T) {
	s, ents, _ := open(t, kv.InMemory)
	for _, typ := range []entities.Type{
		{Name: "Team"},
		{Name: "Person", Fields: []entities.Field{
			{Name: "team", Type: record.EntityRef, TargetType: "Team"}, {Name: "page", Type: record.NoteRef},
		}},
	} {
		if _, _, err := ents.PutType(ctx, typ, nil, false); err != nil {
			t.Fatal(err)
		}
	}
	file := put(t, s, notes.Draft{Vault: "v", Path: "Ann.md", Body: "---\ntype: Person\nteam: \"Core\"\npage: Core\n---\n"})
	if _, err := ents.Put(ctx, entities.Entity{ID: "bob", Type: "Person", Name: "Bob", Fields: entities.Values{
		"team": "Core", "page": "Core",
	}}, nil); err != nil {
		t.Fatal(err)
	}
	shows := func(what, ann, annPage, bob, bobPage string) {
		t.Helper()
		got := []any{
			ents.Get(file.EntityID).Fields["team"], ents.Get(file.EntityID).Fields["page"],
			ents.Get("bob").Fields["team"], ents.Get("bob").Fields["page"],
		}
		if diff := cmp.Diff([]any{ann, annPage, bob, bobPage}, got); diff != "" {
			t.Errorf("%s:\n%s", what, diff)
		}
	}
	shows("nothing", "[[Core]]", "[[Core]]", "Core", "Core")
	if _, err := ents.Put(ctx, entities.Entity{ID: "core", Type: "Team", Name: "Core"}, nil); err != nil {
		t.Fatal(err)
	}
	shows("an entity without a note", "core", "[[Core]]", "core", "Core")
	other := put(t, s, notes.Draft{Vault: "w", Path: "Core.md", Body: "---\ntype: Team\n---\n"})
	shows("a note of another vault", "core", "[[Core]]", other.EntityID, other.ID)
	here := put(t, s, notes.Draft{Vault: "v", Path: "Core.md", Body: "---\ntype: Team\n---\n"})
	shows("a note of the vault too", here.EntityID, here.ID, "core", "Core")
	page := put(t, s, notes.Draft{ID: "Core", Title: "By id"})
	shows("a note of that id", here.EntityID, here.ID, "core", page.ID)
	if _, err := s.Delete(ctx, page.ID, nil); err != nil {
		t.Fatal(err)
	}
	shows("and without it", here.EntityID, here.ID, "core", "Core")
}
