package memory

import (
	"context"
	"fmt"
	"testing"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// TestREF2_NumbersOutliveADamagedStore: what the loss of transactions leaves is mended, so that no number
// and no handle is given to a second memory, and all that is there is found.
func TestREF2_NumbersOutliveADamagedStore(t *testing.T) {
	for name, lose := range map[string]func(tx *kv.Tx, first, last *Record, c *StoredContext) error{
		"handle": func(tx *kv.Tx, m, _ *Record, _ *StoredContext) error { return handleOwners.Delete(tx, m.Handle) },
		"handle, and another has it": func(tx *kv.Tx, a, b *Record, _ *StoredContext) error {
			return handleOwners.Put(tx, a.Handle, &handleOwner{Kind: KindMemory, ID: b.ID})
		},
		"memory":  func(tx *kv.Tx, m, _ *Record, _ *StoredContext) error { return Records.Delete(tx, m.ID) },
		"context": func(tx *kv.Tx, _, _ *Record, c *StoredContext) error { return StoredContexts.Delete(tx, c.ID) },
		"handle of a context, and a memory has it": func(tx *kv.Tx, m, _ *Record, c *StoredContext) error {
			return handleOwners.Put(tx, c.Handle, &handleOwner{Kind: KindMemory, ID: m.ID})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, v := storeToDamage(t)
			first, last, c := s.byID["m1"], s.byID["m3"], s.contexts["c"]
			s.inUpdate(t, func(tx *kv.Tx) error { return lose(tx, first, last, c) })
			if list := s.problems(t); len(list) == 0 {
				t.Fatal("nothing is missing, so the test shows nothing")
			}
			s.inUpdate(t, s.mend)
			again, err := Open(s.db, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range again.problems(t) {
				t.Error(p)
			}
			seen := make(map[int64]string)
			for id, m := range again.byID {
				seen[m.Number] = id
			}
			added, err := again.Add(t.Context(), v, []Draft{{ID: "m4", Statement: "I ride a bicycle"}})
			if err != nil {
				t.Fatal(err)
			}
			if n := added[0].Memory.Number; n != 4 || seen[n] != "" {
				t.Errorf("the number %d, which %q has", n, seen[n])
			}
		})
	}
}

func storeToDamage(t *testing.T) (*Store, *audience.View) {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	ents, err := entities.Open(db, entities.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := notes.Open(db, ents, notes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v := audience.Open(db, audience.Stores{Entities: ents, Notes: list}).View(audience.Local)
	s, err := Open(db, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.PutContext(t.Context(), v, ContextDraft{ID: "c", Name: "Cycling"}, nil); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		d := Draft{ID: fmt.Sprintf("m%d", i+1), Statement: fmt.Sprintf("I have %d bicycles", i+2), Contexts: []string{"c"}}
		if _, err := s.Add(t.Context(), v, []Draft{d}); err != nil {
			t.Fatal(err)
		}
	}
	said := "I have no bicycle"
	if _, err := s.Update(t.Context(), v, Patch{ID: "m1", Statement: &said}, nil); err != nil {
		t.Fatal(err)
	}
	return s, v
}

func (s *Store) inUpdate(t *testing.T, fn func(tx *kv.Tx) error) {
	t.Helper()
	if err := s.db.Update(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}

func (s *Store) problems(t *testing.T) (list []string) {
	t.Helper()
	err := s.db.View(context.Background(), func(tx *kv.Tx) (err error) {
		list, err = Check(tx)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
