package notes_test

import (
	"sync"
	"testing"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

const privatePerson = "---\ntype: Person\nprivate: true\n---\n# Ann"

// TestPRIV4_EntitiesOutliveTheirSource deletes private notes and has clients write what
// was made from them in every way that there is: it stays private, after a restart too.
func TestPRIV4_EntitiesOutliveTheirSource(t *testing.T) {
	for name, write := range map[string]func(s *notes.Store, ents *entities.Store, id string) error{
		"nothing": func(*notes.Store, *entities.Store, string) error { return nil },
		"a restore": func(_ *notes.Store, ents *entities.Store, id string) error {
			_, err := ents.Restore(ctx, id, nil)
			return err
		},
		"a put": func(_ *notes.Store, ents *entities.Store, id string) error {
			_, err := ents.Put(ctx, entities.Entity{ID: id, Type: "Person", Name: "Ann"}, nil)
			return err
		},
		"a putMany": func(_ *notes.Store, ents *entities.Store, id string) error {
			_, err := ents.PutMany(ctx, []entities.Entity{{ID: id, Type: "Person", Name: "Ann"}})
			return err
		},
		"a patch": func(_ *notes.Store, ents *entities.Store, id string) error {
			_, err := ents.Patch(ctx, entities.Patch{ID: id, Private: ptr(false)}, nil)
			return err
		},
		"no note": func(_ *notes.Store, ents *entities.Store, id string) error {
			_, err := ents.Patch(ctx, entities.Patch{ID: id, NoteID: ptr("")}, nil)
			return err
		},
		"other note": func(_ *notes.Store, ents *entities.Store, id string) error {
			_, err := ents.Patch(ctx, entities.Patch{ID: id, NoteID: ptr("public")}, nil)
			return err
		},
		"other put": func(_ *notes.Store, ents *entities.Store, id string) error {
			_, err := ents.Put(ctx, entities.Entity{ID: id, Type: "Person", Name: "Ann", NoteID: "public"}, nil)
			return err
		},
		"another one": func(s *notes.Store, _ *entities.Store, _ string) error {
			_, err := s.Put(ctx, notes.Draft{ID: "n", Body: "public"}, nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, ents, db := open(t, dir)
			put(t, s, notes.Draft{ID: "public", Body: "x"})
			id := put(t, s, notes.Draft{ID: "n", Body: privatePerson}).EntityID
			if _, err := ents.Put(ctx, entities.Entity{ID: "named", Type: "Person", Name: "Bob", NoteID: "n"}, nil); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Delete(ctx, "n", nil); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				for _, id := range []string{id, "named"} {
					if err := write(s, ents, id); err != nil {
						t.Fatal(err)
					}
					if e := ents.Get(id); !e.Private {
						t.Errorf("%+v", e)
					}
					if from, ok := ents.Inherited(id); from != "n" || !ok {
						t.Errorf("%s is private because of %q, %v", id, from, ok)
					}
				}
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				s, ents, db = open(t, dir)
			}
			if _, err := ents.Delete(ctx, "named", nil); err != nil {
				t.Fatal(err)
			}
			if e, err := ents.Put(ctx, entities.Entity{ID: "named", Type: "Person", Name: "Another"}, nil); err != nil || e.Private {
				t.Errorf("another entity of that id: %+v, %v", e, err)
			}
		})
	}
}

// TestPRIV4_ANoteIsTakenAway takes a private note away from entities that clients gave
// it to.
func TestPRIV4_ANoteIsTakenAway(t *testing.T) {
	for name, take := range map[string]func(ents *entities.Store) error{
		"patch": func(ents *entities.Store) error {
			_, err := ents.Patch(ctx, entities.Patch{ID: "e", NoteID: ptr("")}, nil)
			return err
		},
		"another note": func(ents *entities.Store) error {
			_, err := ents.Patch(ctx, entities.Patch{ID: "e", NoteID: ptr("public")}, nil)
			return err
		},
		"put": func(ents *entities.Store) error {
			_, err := ents.Put(ctx, entities.Entity{ID: "e", Type: "T", Name: "E"}, nil)
			return err
		},
		"putMany": func(ents *entities.Store) error {
			_, err := ents.PutMany(ctx, []entities.Entity{{ID: "e", Type: "T", Name: "E", NoteID: "public"}})
			return err
		},
		"private false": func(ents *entities.Store) error {
			_, err := ents.Patch(ctx, entities.Patch{ID: "e", NoteID: ptr(""), Private: ptr(false)}, nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, ents, _ := open(t, kv.InMemory)
			put(t, s, notes.Draft{ID: "n", Body: "x", Private: true})
			put(t, s, notes.Draft{ID: "public", Body: "x"})
			if _, _, err := ents.PutType(ctx, entities.Type{Name: "T"}, nil, false); err != nil {
				t.Fatal(err)
			}
			for id, note := range map[string]string{"e": "n", "open": "public"} {
				if _, err := ents.Put(ctx, entities.Entity{ID: id, Type: "T", Name: id, NoteID: note}, nil); err != nil {
					t.Fatal(err)
				}
			}
			if err := take(ents); err != nil {
				t.Fatal(err)
			}
			if !ents.Get("e").Private || ents.Get("open").Private {
				t.Errorf("%+v, %+v", ents.Get("e"), ents.Get("open"))
			}
			if e, err := ents.Patch(ctx, entities.Patch{ID: "open", NoteID: ptr("")}, nil); err != nil || e.Private {
				t.Errorf("a public note taken away: %+v, %v", e, err)
			}
		})
	}
}

// TestPRIV4_NamedAsItIsDeleted has one client give a private note to an entity while
// another deletes the note. Whoever comes first, the entity is private.
func TestPRIV4_NamedAsItIsDeleted(t *testing.T) {
	s, ents, _ := open(t, t.TempDir())
	if _, _, err := ents.PutType(ctx, entities.Type{Name: "T"}, nil, false); err != nil {
		t.Fatal(err)
	}
	put(t, s, notes.Draft{ID: "before", Body: "x", Private: true})
	if _, err := s.Delete(ctx, "before", nil); err != nil {
		t.Fatal(err)
	}
	if e, err := ents.Put(ctx, entities.Entity{ID: "late", Type: "T", Name: "E", NoteID: "before"}, nil); err != nil || !e.Private {
		t.Errorf("the deletion comes first: %+v, %v", e, err)
	}
	for range 50 {
		put(t, s, notes.Draft{ID: "n", Body: "x"})
		var clients sync.WaitGroup
		var named, hidden error
		clients.Go(func() { _, named = ents.Put(ctx, entities.Entity{ID: "e", Type: "T", Name: "E", NoteID: "n"}, nil) })
		clients.Go(func() {
			_, hidden = s.Patch(ctx, notes.Patch{ID: "n", Private: ptr(true)}, nil)
			if hidden == nil {
				_, hidden = s.Delete(ctx, "n", nil)
			}
		})
		clients.Wait()
		if named != nil || hidden != nil {
			t.Fatal(named, hidden)
		}
		if e := ents.Get("e"); !e.Private {
			t.Fatalf("%+v", e)
		}
		if _, err := ents.Delete(ctx, "e", nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ents.Patch(ctx, entities.Patch{ID: "e", NoteID: ptr("n")}, nil); fault.KindOf(err) != fault.NotFound {
		t.Errorf("%v", err)
	}
}

// TestPRIV4_NamedInOneTransaction names a note, makes it private and deletes it before
// anything of it is committed.
func TestPRIV4_NamedInOneTransaction(t *testing.T) {
	s, ents, db := open(t, kv.InMemory)
	if _, _, err := ents.PutType(ctx, entities.Type{Name: "T"}, nil, false); err != nil {
		t.Fatal(err)
	}
	err := db.Update(ctx, func(tx *kv.Tx) error {
		if _, err := s.PutTx(tx, notes.Draft{ID: "n", Body: "x"}, nil, nil); err != nil {
			return err
		}
		if _, err := ents.PutTx(tx, entities.Entity{ID: "e", Type: "T", Name: "E", NoteID: "n"}, entities.PutOptions{}); err != nil {
			return err
		}
		if _, err := s.PutTx(tx, notes.Draft{ID: "n", Body: "x", Private: true}, nil, nil); err != nil {
			return err
		}
		return s.DeleteTx(tx, "n")
	})
	if e := ents.Get("e"); err != nil || !e.Private {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestPRIV4_TheNoteBecomesAnother makes a private note public and takes its type away in
// one step: the entity still says what the note said when it was private.
func TestPRIV4_TheNoteBecomesAnother(t *testing.T) {
	s, ents, _ := open(t, kv.InMemory)
	id := put(t, s, notes.Draft{ID: "n", Body: privatePerson}).EntityID
	put(t, s, notes.Draft{ID: "n", Body: "public"})
	if e, err := ents.Restore(ctx, id, nil); err != nil || !e.Private || s.Get("n").Private {
		t.Errorf("%+v, %v", e, err)
	}
	put(t, s, notes.Draft{ID: "n", Body: "---\ntype: Person\n---\npublic"})
	if e := ents.Get(id); e.Private {
		t.Errorf("the note describes it again: %+v", e)
	}
	put(t, s, notes.Draft{ID: "n", Body: privatePerson})
	if e := ents.Get(id); !e.Private {
		t.Errorf("and is private: %+v", e)
	}
}
