package entities_test

import (
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
)

// TestREL1_AnEntityIsNeverChangedBeforeItWas sets the clock to any time between two
// changes of an entity: its time of change never goes back, and it is archived since
// the change that moved it there.
func TestREL1_AnEntityIsNeverChangedBeforeItWas(t *testing.T) {
	clock := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s, _ := open(t, kv.InMemory, entities.Options{Now: func() time.Time { return clock }})
	mustType(t, s, person)
	changes := []struct {
		what string
		by   func() (*entities.Entity, error)
	}{
		{"put", func() (*entities.Entity, error) {
			return s.Put(ctx, entities.Entity{ID: "a", Type: "Person", Name: "A"}, nil)
		}},
		{"patch", func() (*entities.Entity, error) { return s.Patch(ctx, entities.Patch{ID: "a", Name: ptr("B")}, nil) }},
		{"trash", func() (*entities.Entity, error) { return s.Archive(ctx, "a", nil) }},
		{"restore", func() (*entities.Entity, error) { return s.Restore(ctx, "a", nil) }},
	}
	last, created, version := time.Time{}, clock, 0
	for _, at := range []time.Time{
		clock, clock.AddDate(1, 0, 0), clock.AddDate(0, 0, -1), time.Unix(0, 0), clock.Add(time.Hour), clock.AddDate(2, 0, 0),
	} {
		clock = at
		want := later(clock, last)
		for _, c := range changes {
			e, err := c.by()
			if err != nil {
				t.Fatalf("%s at %v: %v", c.what, at, err)
			}
			version++
			if !e.UpdatedAt.Equal(want) || !e.CreatedAt.Equal(created) || e.Version != version {
				t.Errorf("%s at %v: changed %v, want %v; created %v, version %d", c.what, at, e.UpdatedAt, want, e.CreatedAt, e.Version)
			}
			if c.what == "trash" && (e.ArchivedAt == nil || !e.ArchivedAt.Equal(e.UpdatedAt)) {
				t.Errorf("at %v: archived since %v, want %v", at, e.ArchivedAt, e.UpdatedAt)
			}
		}
		last = want
	}
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
