package outbound_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/outbound"
)

// TestPRIV11_WhatAGateLetsThrough: each question and document masked; what was asked in place of a question only where it
// names something private, cut between characters; nothing of what is kept here, and nothing without a Gate.
func TestPRIV11_WhatAGateLetsThrough(t *testing.T) {
	gate := outbound.Gate(func(text string) string { return strings.ReplaceAll(text, "[[Secret]]", "(private)") })
	texts := []string{"of Secret", "of [[Secret]]"}
	ctx := t.Context()
	asking := outbound.Asking(ctx, "What of [[Secret]]? "+strings.Repeat("ü", 20_000))
	if got, ok := gate.Pass(asking, texts); !ok || !slices.Equal(got, []string{"of Secret", "of (private)"}) {
		t.Errorf("documents: %q %v", got, ok)
	}
	got, ok := gate.Questions(asking, texts)
	for _, q := range got {
		if !ok || !strings.HasPrefix(q, "What of (private)? ü") || !utf8.ValidString(q) || len(q) > 16<<10 {
			t.Errorf("a question: %.60q, %d bytes", q, len(q))
		}
	}
	if got, ok := gate.Questions(outbound.Asking(ctx, "What of it?"), texts[:1]); !ok || got[0] != "of Secret" {
		t.Errorf("one that names nothing private: %q %v", got, ok)
	}
	for name, kept := range map[string]outbound.Gate{"kept here": gate, "without a gate": nil} {
		in := ctx
		if kept != nil {
			in = outbound.KeepHere(ctx)
		}
		_, passed := kept.Pass(in, texts)
		if _, asked := kept.Questions(in, texts); passed || asked {
			t.Errorf("%s: it leaves", name)
		}
	}
}
