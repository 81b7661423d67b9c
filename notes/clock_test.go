package notes_test

import (
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// TestREL1_ANoteIsNeverChangedBeforeItWas sets the clock to any time between two changes
// of a note: its time of change never goes back, nor that of the entity that is made from
// it. That of a note of a vault is the time of its file, whatever the clock says.
func TestREL1_ANoteIsNeverChangedBeforeItWas(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	clock := start
	db, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	now := func() time.Time { return clock }
	ents, err := entities.Open(db, entities.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	s, err := notes.Open(db, ents, notes.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	body := "---\ntype: Person\n---\ntext "
	last := time.Time{}
	for i, at := range []time.Time{
		start, start.AddDate(1, 0, 0), start.AddDate(0, 0, -1), time.Unix(0, 0), start.Add(time.Hour), start.AddDate(2, 0, 0),
	} {
		clock, body = at, body+"more "
		if clock.After(last) {
			last = clock
		}
		n := put(t, s, notes.Draft{ID: "n", Title: "Ann", Body: body})
		if !n.UpdatedAt.Equal(last) || !n.CreatedAt.Equal(start) || n.Version != 2*i+1 {
			t.Errorf("put at %v: changed %v, want %v; created %v, version %d", at, n.UpdatedAt, last, n.CreatedAt, n.Version)
		}
		n, err := s.Patch(ctx, notes.Patch{ID: "n", Tags: &[]string{"a"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !n.UpdatedAt.Equal(last) || n.Version != 2*i+2 {
			t.Errorf("patch at %v: changed %v, want %v; version %d", at, n.UpdatedAt, last, n.Version)
		}
		if e := ents.Get(n.EntityID); e == nil || e.UpdatedAt.Before(last) || !e.CreatedAt.Equal(start) {
			t.Errorf("at %v: the entity is %+v", at, e)
		}
		file := start.Add(-time.Duration(i) * time.Hour)
		n = put(t, s, notes.Draft{ID: "v", Title: "File", Body: body, Vault: "v", Path: "f.md", ModifiedAt: file})
		if !n.UpdatedAt.Equal(file) {
			t.Errorf("a file of %v is changed %v", file, n.UpdatedAt)
		}
	}
}
