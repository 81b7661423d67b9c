package audience_test

import (
	"errors"
	"testing"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/notes"
)

// TestPRIV6_ATitleOfSeveralNotes: that several notes have a title which names a private
// record is not told either, and candidates are those that the reader sees, as it sees them.
func TestPRIV6_ATitleOfSeveralNotes(t *testing.T) {
	w := newMasking(t)
	for _, d := range []notes.Draft{
		{ID: "about1", Title: "About [[Canary Plan]]", Path: "a/About.md"},
		{ID: "about2", Title: "About [[Canary Plan]]", Path: "b/About.md"},
		{ID: "twin1", Title: "Twin", Path: "a/Twin.md"},
		{ID: "twin2", Title: "Twin", Path: "b/Twin.md"},
		{ID: "hidden", Title: "Twin", Path: "Private/Twin.md", Private: true},
		{ID: "vault1", Title: "On [[Canary Plan]]", Path: "same/Same.md", Vault: "V"},
		{ID: "vault2", Title: "Same", Path: "same/Same.md", Vault: "W"},
		{ID: "vault3", Title: "Canary", Path: "same/Same.md", Vault: "X", Private: true},
	} {
		w.put(t, d)
	}
	byTitle := func(v *audience.View, title string) string { return oneOf(v.NoteByTitle(title)) }
	byPath := func(v *audience.View, p string) string { return oneOf(v.NoteByPath(p)) }
	for _, c := range []struct {
		find          func(*audience.View, string) string
		asked         string
		local, remote string
	}{
		{byTitle, "About [[Canary Plan]]", "about1 About [[Canary Plan]], about2 About [[Canary Plan]]", "not_found"},
		{byTitle, "Twin", "twin1 Twin, twin2 Twin, hidden Twin", "twin1 (private), twin2 (private)"},
		{byPath, "same/Same.md", "vault1 On [[Canary Plan]], vault2 Same, vault3 Canary", "vault1 On (private), vault2 Same"},
	} {
		for v, want := range map[*audience.View]string{w.local: c.local, w.remote: c.remote} {
			if got := c.find(v, c.asked); got != want {
				t.Errorf("%s asks for %q: %s, want %s", v.Reader(), c.asked, got, want)
			}
		}
	}
}

// oneOf says which note was found, or which were candidates.
func oneOf(n *notes.Note, err error) string {
	if err == nil {
		return n.ID
	}
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Conflict {
		return fault.KindOf(err).String()
	}
	out := ""
	for i, c := range f.Candidates {
		if i > 0 {
			out += ", "
		}
		out += c.ID + " " + c.Title
	}
	return out
}
