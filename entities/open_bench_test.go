package entities_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// BenchmarkOpen_References opens a store of 20,000 entities that refer to two others by id:
// that any of these may be a name must cost next to nothing.
func BenchmarkOpen_References(b *testing.B) {
	db, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	s, err := entities.Open(db, entities.Options{})
	if err != nil {
		b.Fatal(err)
	}
	if _, _, err := s.PutType(b.Context(), entities.Type{Name: "Person", Fields: []entities.Field{
		{Name: "role", Type: record.Text},
		{Name: "boss", Type: record.EntityRef, TargetType: "Person"},
		{Name: "mentor", Type: record.EntityRef, TargetType: "Person"},
	}}, nil, false); err != nil {
		b.Fatal(err)
	}
	boss := uuid.NewString()
	for i := range 20_000 {
		e := entities.Entity{Type: "Person", Name: fmt.Sprint("Person ", i), Fields: entities.Values{
			"role": "Engineer", "boss": boss, "mentor": boss,
		}}
		if _, err := s.Put(b.Context(), e, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		opened, err := entities.Open(db, entities.Options{})
		if err != nil {
			b.Fatal(err)
		}
		opened.SetResolver(entities.Resolver{
			Resolve: func(string, string) (noteID, entityID string) { return "", "" },
			Keys:    func(link string) []string { return []string{entities.Fold(link)} },
			Private: func(string) bool { return false },
		})
	}
}
