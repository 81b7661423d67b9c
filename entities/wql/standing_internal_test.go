package wql

import (
	"fmt"
	"slices"
	"testing"
)

// TestPRIV13_ResultsThatAreUsedAreBounded: what has no room is named by its types.
func TestPRIV13_ResultsThatAreUsedAreBounded(t *testing.T) {
	out := &outcome{used: standing{types: []string{"Hut"}}, typesOf: []string{"Task", "Person"}}
	for i := range 400 {
		out.used.ids = append(out.used.ids, fmt.Sprint(i))
	}
	var s standing
	s.all(out)
	s.all(out)
	if len(s.ids) != 800 || !slices.Equal(s.types, []string{"Hut"}) {
		t.Errorf("%d entities, types %q", len(s.ids), s.types)
	}
	s.all(out)
	if len(s.ids) != maxStanding || !slices.Equal(s.types, []string{"Hut", "Task", "Person"}) {
		t.Errorf("%d entities, types %q", len(s.ids), s.types)
	}
	s.all(out)
	if len(s.ids) != maxStanding || len(out.used.ids) != 400 {
		t.Errorf("%d entities of %d", len(s.ids), len(out.used.ids))
	}
}
