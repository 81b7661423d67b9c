package protocol_test

import (
	"slices"
	"testing"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// TestMEM80_FeaturesAreOfMethods: what a setting switches off is there, and so is what it leaves on.
func TestMEM80_FeaturesAreOfMethods(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range protocol.Features {
		if f.Setting == "" || f.About == "" || seen[f.Setting] {
			t.Errorf("%+v", f)
		}
		seen[f.Setting] = true
		needing := 0
		for _, m := range protocol.Methods {
			if slices.Contains(m.Needs(), f.Setting) {
				needing++
			}
		}
		if len(f.Methods) > 0 && needing == 0 {
			t.Errorf("no method needs %s", f.Setting)
		}
		for _, name := range f.But {
			if m := protocol.Lookup(name); m == nil || slices.Contains(m.Needs(), f.Setting) {
				t.Errorf("%s is to answer without %s", name, f.Setting)
			}
		}
	}
	for _, name := range []string{"memory.settle", "memory.conflicts", "memory.events"} {
		if got := protocol.Lookup(name).Needs(); !slices.Equal(got, []string{"memory.enabled"}) {
			t.Errorf("%s needs %v", name, got)
		}
	}
	if got := protocol.Lookup("memory.search").Needs(); !slices.Contains(got, "memory.enabled") {
		t.Errorf("%v", got)
	}
	if got := protocol.Lookup("notes.put").Needs(); got != nil {
		t.Errorf("%v", got)
	}
}
