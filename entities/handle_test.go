package entities_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/names"
)

// TestREF4_HandlesFollowTheNames compares the index with the handles of all
// entities while they change.
func TestREF4_HandlesFollowTheNames(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, _ := open(t, kv.InMemory, entities.Options{})
		for _, typ := range []string{"P", "Q"} {
			if _, _, err := s.PutType(ctx, entities.Type{Name: typ}, nil, false); err != nil {
				rt.Fatal(err)
			}
		}
		name := rapid.SampledFrom([]string{"Ann", "ann", "Bob", "The Bob", "Bob Smith", "若葉"})
		for range rapid.IntRange(1, 15).Draw(rt, "steps") {
			id := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "id")
			switch rapid.IntRange(0, 4).Draw(rt, "op") {
			case 0:
				_, _ = s.Delete(ctx, id, nil)
			case 1:
				_, _ = s.Archive(ctx, id, nil)
			case 2:
				s.Handled("x_entity", nil) // which makes the index, at any time
			default:
				e := entities.Entity{ID: id, Type: rapid.SampledFrom([]string{"P", "Q"}).Draw(rt, "type"), Name: name.Draw(rt, "name")}
				if old := s.Get(id); old != nil && old.Type != e.Type {
					continue
				}
				if _, err := s.Put(ctx, e, nil); err != nil {
					rt.Fatal(err)
				}
			}
		}
		want := make(map[string][]string)
		for _, live := range []bool{true, false} {
			for _, id := range []string{"a", "b", "c"} {
				e := s.Get(id)
				if e == nil || e.Live() != live {
					continue
				}
				handle := names.Handle(e.Name, e.Type)
				if !live && len(want[handle]) > 0 && s.Get(want[handle][0]).Live() {
					continue
				}
				want[handle] = append(want[handle], id)
			}
		}
		for handle, ids := range want {
			var got []string
			for _, e := range s.Handled(strings.ToUpper(handle), nil) {
				got = append(got, e.ID)
			}
			if !slices.Equal(got, ids) {
				rt.Fatalf("%s means %v, want %v", handle, got, ids)
			}
		}
		if got := s.Handled("nobody_p_entity", nil); got != nil {
			rt.Fatalf("nobody is %v", got)
		}
	})
}
