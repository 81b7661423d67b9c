package wql

import (
	"slices"
	"testing"

	"github.com/ctxd/ctxd/entities/wql/syntax"
)

// A function that is declared here alone would be one that nobody learns of.
func TestWQL3_FunctionsAreThoseThatAreShown(t *testing.T) {
	shown := make([]string, 0, len(syntax.Functions))
	for _, f := range syntax.Functions {
		shown = append(shown, f.Name)
	}
	slices.Sort(shown)
	if !slices.Equal(shown, functionNames) {
		t.Errorf("the functions are %v, shown are %v", functionNames, shown)
	}
}
