package record_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ctxd/ctxd/entities/record"
)

// TestPRIV13_EntitiesThatAreTooManyAreNamedByTheirTypes, but for those whose ids are to be kept.
func TestPRIV13_EntitiesThatAreTooManyAreNamedByTheirTypes(t *testing.T) {
	var all record.StandsOn
	for i := range 20 * record.MaxStanding {
		all.Join(record.StandsOn{Entities: []string{fmt.Sprint(i % (record.MaxStanding + 5))}, Types: []string{"Task"}})
		if len(all.Entities) > 5*record.MaxStanding {
			t.Fatalf("%d entities are kept", len(all.Entities))
		}
	}
	var on record.StandsOn
	on.All(all)
	if len(on.Entities) != record.MaxStanding+5 {
		t.Fatalf("%d entities", len(on.Entities))
	}
	on.Bound(func(id string) string {
		switch id {
		case "1003":
			return ""
		case "1004":
			return "Task"
		}
		return "Hut"
	})
	if len(on.Entities) != record.MaxStanding+1 || on.Entities[record.MaxStanding] != "1003" || !slices.Equal(on.Types, []string{"Task", "Hut"}) {
		t.Errorf("%d entities and the types %q", len(on.Entities), on.Types)
	}
	on.Bound(func(string) string { return "" })
	few := record.StandsOn{Entities: []string{"a"}}
	few.Bound(nil)
	if len(few.Entities) != 1 || few.Types != nil {
		t.Error("a few are named by their types")
	}
}
