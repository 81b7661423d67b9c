package gather_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/notes"
)

// TestMEM74_ThePersonalityOfAPrompt: the active one, unless the caller leaves it out; for a remote reader without what
// names a private note.
func TestMEM74_ThePersonalityOfAPrompt(t *testing.T) {
	w := newWorld(t)
	w.mustNote(t, notes.Draft{ID: "s", Title: "Secret Plan", Private: true})
	w.mustNote(t, notes.Draft{ID: "o", Title: "Open"})
	var active *prompt.Personality
	g := gather.Open(w.db, w.rooms, gather.Options{
		Now: func() time.Time { return w.now }, Personality: func() *prompt.Personality { return active },
	})
	w.gather = g
	before := w.assemble(t, gather.Params{MentionedNoteIDs: []string{"o"}}).System
	active = &prompt.Personality{
		ID: "a", Name: "Ada", Role: "keeper of [[Secret Plan]]", Background: "See [[Secret Plan]].", Expertise: []string{"[[Secret Plan]]"},
		Traits: []string{"[[Secret Plan]]"}, Instructions: "Never open [[Secret Plan]] before [[Open]].",
	}
	local := w.assemble(t, gather.Params{Audience: gather.Local}).System
	if !strings.HasPrefix(local, "## Personality\nYou are Ada, ") || strings.Count(local, "Secret Plan") != 5 {
		t.Errorf("%s", local)
	}
	for _, format := range []string{gather.Markdown, gather.XML} {
		remote := w.assemble(t, gather.Params{Audience: gather.Remote, Format: format}).System
		if strings.Contains(remote, "Secret") || !strings.Contains(remote, "[[Open]]") {
			t.Errorf("%s", remote)
		}
	}
	without := false
	if got := w.assemble(t, gather.Params{MentionedNoteIDs: []string{"o"}, Personality: &without}).System; got != before {
		t.Errorf("left out: %q, want %q", got, before)
	}
	active = nil
	if got := w.assemble(t, gather.Params{MentionedNoteIDs: []string{"o"}}).System; got != before {
		t.Errorf("none is active: %q, want %q", got, before)
	}
}
