package notes_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// TestArchive_OneTimeForNoteAndEntity: the note, its entity and what says when that was
// changed have one time, however far the clock goes on meanwhile.
func TestArchive_OneTimeForNoteAndEntity(t *testing.T) {
	db, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	clock := func() time.Time { now = now.Add(time.Second); return now }
	n := 0
	id := func() string { n++; return fmt.Sprintf("id-%d", n) }
	ents, err := entities.Open(db, entities.Options{NewID: id, Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	s, err := notes.Open(db, ents, notes.Options{NewID: id, Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	made := put(t, s, notes.Draft{Body: "---\ntype: Person\n---\n# Ada"})
	archived, err := s.Archive(ctx, made.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := ents.Get(archived.EntityID)
	if archived.ArchivedAt == nil || e.ArchivedAt == nil || !e.ArchivedAt.Equal(*archived.ArchivedAt) ||
		!e.UpdatedAt.Equal(*e.ArchivedAt) {
		t.Errorf("the note is archived at %v, its entity archived at %v and changed at %v",
			archived.ArchivedAt, e.ArchivedAt, e.UpdatedAt)
	}
}
