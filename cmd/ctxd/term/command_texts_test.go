package term_test

import (
	"slices"
	"testing"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/text"
)

func TestQuoted(t *testing.T) {
	for in, want := range map[string]string{
		"": "''", "Kickoff": "Kickoff", "two words": "'two words'", "it's": `'it'\''s'`, "$(rm)": "'$(rm)'", "若葉": "若葉",
	} {
		if got := term.ShellQuoted(in); got != want {
			t.Errorf("quoted(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	methods := []string{"notes.get", "notes.search", "entities.get", "context.assemble"}
	for in, want := range map[string][]string{
		"notes.serch": {"notes.search"}, "assemble": {"context.assemble"}, "nothing.like.it": nil, "Notes.Get": {"notes.get"},
	} {
		if got := text.Nearest(in, methods); !slices.Equal(got, want) {
			t.Errorf("nearest(%q) = %v, want %v", in, got, want)
		}
	}
}
