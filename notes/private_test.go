package notes_test

import (
	"context"
	"testing"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// TestCTX34_PrivateFolders has folders that the configuration calls private: by
// patterns, for notes that were there before, and whatever a client says later.
func TestCTX34_PrivateFolders(t *testing.T) {
	dir := t.TempDir()
	open := func(folders ...string) (*kv.Store, *entities.Store, *notes.Store) {
		t.Helper()
		db, err := kv.Open(dir, kv.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ents, err := entities.Open(db, entities.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := notes.Open(db, ents, notes.Options{PrivateFolders: folders})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.HideAnew(t.Context()); err != nil {
			t.Fatal(err)
		}
		return db, ents, s
	}
	ctx := context.Background()
	db, _, s := open()
	for id, p := range map[string]string{"a": "Journal/day.md", "b": "Journal/old/day.md", "c": "Open.md", "d": "Work/HR/case.md", "e": "Work/Journal.md"} {
		_, err := s.Put(ctx, notes.Draft{ID: id, Body: "---\ntype: Person\n---\n" + p, Path: p}, nil)
		if err != nil || s.Get(id).Private {
			t.Fatalf("%s: %v", p, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db, ents, s := open("/Journal/", "HR/", "# a comment", " ")
	defer db.Close()
	for id, want := range map[string]bool{"a": true, "b": true, "c": false, "d": true, "e": false} {
		n := s.Get(id)
		if n.Private != want || ents.Get(n.EntityID).Private != want {
			t.Errorf("%s: note %v, entity %v, want %v", n.Path, n.Private, ents.Get(n.EntityID).Private, want)
		}
	}
	no := false
	if n, err := s.Patch(ctx, notes.Patch{ID: "a", Private: &no}, nil); err != nil || !n.Private {
		t.Errorf("a client makes it public: %+v, %v", n, err)
	}
	if n, err := s.Put(ctx, notes.Draft{ID: "new", Body: "x", Path: "Work/HR/new.md"}, nil); err != nil || !n.Private {
		t.Errorf("a new note: %+v, %v", n, err)
	}
	away := "Elsewhere.md"
	if n, err := s.Patch(ctx, notes.Patch{ID: "new", Path: &away}, nil); err != nil || n.Private {
		t.Errorf("a note that left the folder: %+v, %v", n, err)
	}
	if n, err := s.Archive(ctx, "d", nil); err != nil || !n.Private {
		t.Errorf("an archived note: %+v, %v", n, err)
	}
}

// TestCTX34_PatternsOfPrivateFolders: what lies in a private folder stays private, whatever a later pattern says.
func TestCTX34_PatternsOfPrivateFolders(t *testing.T) {
	db, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ents, err := entities.Open(db, entities.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := notes.Open(db, ents, notes.Options{PrivateFolders: []string{
		"Journal/", "!Journal/open.md", " ./HR/\t", `Odd\ `, "*.secret.md", "!plain.secret.md",
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetFoldsCase(t.Context(), "v", false); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]bool{
		"Journal/open.md": true, "HR/a.md": true, "Work/HR/a.md": true, "Odd /a.md": true, "Odd/a.md": false,
		"a/b.secret.md": true, "a/plain.secret.md": false, "journal/a.md": false,
	} {
		if got := s.InPrivateFolder("v", p, ""); got != want {
			t.Errorf("%s is private: %v", p, got)
		}
	}
	if !s.InPrivateFolder("", "", "journal/old") {
		t.Error("a note of no vault in a private folder is public")
	}
}

func TestSRCH32_UnresolvedLinksAreListed(t *testing.T) {
	db, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ents, err := entities.Open(db, entities.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := notes.Open(db, ents, notes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for id, text := range map[string]string{
		"1": "[[nowhere]] [[NoWhere|again]] [[b]]\n[[Twin]]", "2": "[[ nowhere#part ]] [[other]]", "3": "# Twin", "4": "# Twin",
	} {
		path := map[string]string{"1": "a.md", "2": "b.md", "3": "c.md", "4": "d.md"}[id]
		if _, err := s.Put(context.Background(), notes.Draft{ID: id, Body: text, Path: path, Vault: "v"}, nil); err != nil {
			t.Fatal(err)
		}
	}
	got := s.Unresolved("v", nil)
	if len(got) != 3 || got[0].Target != "nowhere" || got[0].Count != 3 || len(got[0].From) != 2 || got[0].From[0].Count != 2 || got[0].From[0].Path != "a.md" {
		t.Errorf("%+v", got)
	}
	if len(got) == 3 && (got[1].Target != "other" || got[2].Target != "Twin" || len(got[2].Candidates) != 2 || got[2].From[0].Line != 2) {
		t.Errorf("%+v", got[1:])
	}
	if list := s.Unresolved("another", nil); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}
