package entities_test

import (
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
)

// TestOfTypeIsAlwaysInOrder changes entities and compares the list of a type,
// which is merged from an older one, with one that is sorted anew.
func TestOfTypeIsAlwaysInOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, _ := open(t, kv.InMemory, entities.Options{})
		if _, _, err := s.PutType(ctx, entities.Type{Name: "P"}, nil, false); err != nil {
			rt.Fatal(err)
		}
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			id := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"}).Draw(rt, "id")
			switch rapid.IntRange(0, 6).Draw(rt, "op") {
			case 0:
				_, _ = s.Delete(ctx, id, nil)
			case 1:
				_, _ = s.Archive(ctx, id, nil)
			case 2:
				_, _ = s.Restore(ctx, id, nil)
			case 3, 4:
				name := rapid.SampledFrom([]string{"Item 9", "Item 10", "item 9", "Ä", "z"}).Draw(rt, "name")
				if _, err := s.Put(ctx, entities.Entity{ID: id, Type: "P", Name: name}, nil); err != nil {
					rt.Fatal(err)
				}
			default:
				got := s.OfType("p")
				var want []*entities.Entity
				for e := range s.All() {
					if e.Live() {
						want = append(want, e)
					}
				}
				slices.SortFunc(want, entities.CompareEntities)
				if !slices.Equal(got, want) {
					rt.Fatalf("%v, want %v", got, want)
				}
			}
		}
	})
}

// TestOfTypeWhileOthersWrite is for the race detector, and for what is changed
// while a list is sorted.
func TestOfTypeWhileOthersWrite(t *testing.T) {
	s, _ := open(t, kv.InMemory, entities.Options{})
	if _, _, err := s.PutType(ctx, entities.Type{Name: "P"}, nil, false); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for range 200 {
				if list := s.OfType("P"); !slices.IsSortedFunc(list, entities.CompareEntities) {
					t.Error("a list is not in order")
				}
			}
		})
	}
	for i := range 200 {
		id := string(rune('a' + i%26))
		if _, err := s.Put(ctx, entities.Entity{ID: id, Type: "P", Name: string(rune('z' - i%7))}, nil); err != nil {
			t.Fatal(err)
		}
	}
	all.Wait()
	if len(s.OfType("P")) != 26 {
		t.Errorf("%d entities", len(s.OfType("P")))
	}
}
