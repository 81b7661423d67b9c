package text_test

import (
	"testing"

	"github.com/ctxd/ctxd/entities/text"
)

// TestPERF25_PatternsAreCompiledWhenAskedFor: one that can't be compiled harms nobody who does not use it.
func TestPERF25_PatternsAreCompiledWhenAskedFor(t *testing.T) {
	digits, broken := text.Pattern(`\d+`), text.Pattern(`(`)
	if first := digits(); !first.MatchString("a1") || digits() != first {
		t.Error("compiled each time")
	}
	defer func() {
		if recover() == nil {
			t.Error("what is no pattern was compiled")
		}
	}()
	broken()
}
