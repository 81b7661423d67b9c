package memory

import (
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// TestREL14_NoStatementIsFoldedInACommit adds, changes and deletes memories: what they say is worked out before.
func TestREL14_NoStatementIsFoldedInACommit(t *testing.T) {
	db, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	s, err := Open(db, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ents, err := entities.Open(db, entities.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ns, err := notes.Open(db, ents, notes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v := audience.Open(db, audience.Stores{Entities: ents, Notes: ns}).View(audience.Local)
	folds := 0
	onFold = func() { folds++ }
	defer func() { onFold = func() {} }()
	said := func(what string) string { return what + strings.Repeat("[", 7_000) }
	drafts := []Draft{
		{ID: "a", Statement: said("a"), Summary: "a", Tier: record.TierHistory}, {ID: "b", Statement: said("b"), Summary: "b", Tier: record.TierHistory},
	}
	if _, err := s.Add(t.Context(), v, drafts); err != nil {
		t.Fatal(err)
	}
	statement := said("c")
	if _, err := s.Update(t.Context(), v, Patch{ID: "a", Statement: &statement}, nil); err != nil {
		t.Fatal(err)
	}
	if again, err := s.Add(t.Context(), v, drafts[1:]); err != nil || !again[0].Duplicate {
		t.Errorf("%v, %v: not the same memory", again, err)
	}
	if ids := s.taken.Said(NewTierStatement(&record.MemoryRecord{Statement: statement})); len(ids) != 1 || ids[0] != "a" {
		t.Errorf("%q say it", ids)
	}
	if ids := s.taken.Said(NewTierStatement(&record.MemoryRecord{Statement: said("a")})); len(ids) != 0 {
		t.Errorf("%q say it still", ids)
	}
	if folds > 0 {
		t.Errorf("%d statements are folded in a commit", folds)
	}
}
