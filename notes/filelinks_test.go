package notes_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// TestSRCH34_MarkdownLinksLeadToNotes by a path from the folder of the note, or else as
// wikilinks find a file; never by a title or an alias.
func TestSRCH34_MarkdownLinksLeadToNotes(t *testing.T) {
	s, _, _ := open(t, kv.InMemory)
	for i, p := range []string{"Zebra.md", "A/Zebra.md", "A/B/Two words.md", "A/a#b.md"} {
		put(t, s, notes.Draft{ID: fmt.Sprint(i), Path: p, Vault: "v", Title: "T " + p, Aliases: []string{"Alias.md"}})
	}
	for link, want := range map[string]string{
		"Zebra.md":               "A/Zebra.md", // beside the note first
		"zebra.MD#Goals":         "A/Zebra.md",
		"../Zebra.md":            "Zebra.md",
		"/Zebra.md":              "Zebra.md",
		"./Zebra.md":             "A/Zebra.md",
		"B/Two%20words.md":       "A/B/Two words.md",
		"A/B/Two%20words.md#^b1": "A/B/Two words.md", // from the root
		"Two%20words.md":         "A/B/Two words.md", // by its file name
		"a%23b.md":               "A/a#b.md",
		"../B/Two%20words.md":    "",
		"Quokka.md":              "",
		"Alias.md":               "",
		"T%20Zebra.md":           "",
	} {
		for _, body := range []string{"see [x](" + link + ")", "see [x][y]\n\n[y]: " + link} {
			put(t, s, notes.Draft{ID: "from", Path: "A/From.md", Vault: "v", Body: body})
			resolved, unresolved := s.Outgoing("from")
			if len(resolved)+len(unresolved) != 1 {
				t.Fatalf("%q has the links %+v, %+v", body, resolved, unresolved)
			}
			got := ""
			if len(resolved) == 1 {
				got = resolved[0].Path
			}
			if got != want {
				t.Errorf("%q leads to %q, want %q", body, got, want)
			}
			if l := append(resolved, unresolved...)[0]; !l.Markdown {
				t.Errorf("%+v is no Markdown link", l)
			}
			counts := notes.LinkCounts{Links: 1, Markdown: 1}
			if want == "" {
				counts.Unresolved = 1
			}
			if got := s.LinkCount("v", nil); got != counts {
				t.Errorf("%q counts as %+v, want %+v", body, got, counts)
			}
		}
	}
}

// TestSRCH34_MarkdownLinksFollowTheirTargets when these are renamed, come and go.
func TestSRCH34_MarkdownLinksFollowTheirTargets(t *testing.T) {
	s, _, _ := open(t, kv.InMemory)
	put(t, s, notes.Draft{ID: "from", Path: "A/From.md", Vault: "v", Body: "[[Far]]\n[x](Zebra.md#Goals)\n[y](Zebra.md)\n"})
	check := func(when, want string) {
		t.Helper()
		var from []string
		if diff := cmp.Diff([]string{want, want}, s.Targets("from")[1:]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
		for _, b := range s.Incoming(want) {
			from = append(from, b.ID)
			if b.Line != 2 || b.Count != 2 {
				t.Errorf("%s: backlink %+v", when, b)
			}
		}
		if want != "" && len(from) != 1 {
			t.Errorf("%s: linked from %q", when, from)
		}
	}
	check("without a target", "")
	if got := s.Unresolved("v", nil); len(got) != 2 || got[0].Target != "Zebra.md" || got[0].Count != 2 {
		t.Errorf("unresolved: %+v", got)
	}
	put(t, s, notes.Draft{ID: "far", Path: "B/Zebra.md", Vault: "v"})
	check("one in another folder", "far")
	put(t, s, notes.Draft{ID: "near", Path: "A/Zebra.md", Vault: "v"})
	check("one beside it", "near")
	put(t, s, notes.Draft{ID: "near", Path: "A/Horse.md", Vault: "v"})
	check("renamed", "far")
	put(t, s, notes.Draft{ID: "far", Path: "B/Horse.md", Vault: "v"})
	check("both renamed", "")
}

// TestSRCH34_MarkdownLinksToCanvases lead to the note that one is, and follow its name.
func TestSRCH34_MarkdownLinksToCanvases(t *testing.T) {
	s, _, _ := open(t, kv.InMemory)
	put(t, s, notes.Draft{ID: "from", Path: "A/From.md", Vault: "v", Body: "[x](Board.canvas) ![](Tasks.base)"})
	check := func(when, board string, unresolved int) {
		t.Helper()
		if diff := cmp.Diff([]string{board, ""}, s.Targets("from")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
		want := notes.LinkCounts{Links: 2, Markdown: 2, Unresolved: unresolved}
		if got := s.LinkCount("v", nil); got != want {
			t.Errorf("%s: %+v, want %+v", when, got, want)
		}
		if got := s.Unresolved("v", nil); len(got) != unresolved {
			t.Errorf("%s: unresolved %+v", when, got)
		}
	}
	check("without one", "", 2)
	put(t, s, notes.Draft{ID: "board", Path: "B/Board.canvas", Vault: "v", Title: "Board"})
	check("with one", "board", 1)
	if back := s.Incoming("board"); len(back) != 1 || back[0].ID != "from" {
		t.Errorf("backlinks %+v", back)
	}
	put(t, s, notes.Draft{ID: "board", Path: "B/Plan.canvas", Vault: "v", Title: "Board"})
	check("renamed", "", 2)
	put(t, s, notes.Draft{ID: "board", Path: "A/Board.canvas", Vault: "v", Title: "Board"})
	check("named as before", "board", 1)
}

// TestSRCH34_PossibleLinks count where a file lies at their path: else nobody can tell
// them from what is no path.
func TestSRCH34_PossibleLinks(t *testing.T) {
	s, _, db := open(t, kv.InMemory)
	put(t, s, notes.Draft{ID: "from", Path: "A/From.md", Vault: "v", Body: "[x](Zebra)\n[y](scripts/run) [z](example.org/a.png)"})
	check := func(when string, want notes.LinkCounts, targets ...string) {
		t.Helper()
		if got := s.LinkCount("v", nil); got != want {
			t.Errorf("%s: %+v, want %+v", when, got, want)
		}
		resolved, unresolved := s.Outgoing("from")
		var got []string
		for _, l := range resolved {
			got = append(got, l.Path)
		}
		if !slices.Equal(got, targets) || len(unresolved)+len(s.Unresolved("v", nil)) != 0 {
			t.Errorf("%s: links to %q, want %q; without a target %+v", when, got, targets, unresolved)
		}
	}
	check("nothing is there", notes.LinkCounts{})
	put(t, s, notes.Draft{ID: "zebra", Path: "B/Zebra.md", Vault: "v", Private: true})
	check("a note", notes.LinkCounts{Links: 1, Markdown: 1}, "B/Zebra.md")
	if got := s.LinkCount("v", func(n *notes.Note) bool { return !n.Private }); got != (notes.LinkCounts{}) {
		t.Errorf("for who may not know of the note it is one: %+v", got)
	}
	err := db.Update(t.Context(), func(tx *kv.Tx) error {
		return errors.Join(notes.PutAttachment(tx, "v", notes.Attachment{Path: "A/scripts/run"}), notes.PutAttachment(tx, "v", notes.Attachment{Path: "A/example.org/a.png"}))
	})
	if err != nil {
		t.Fatal(err)
	}
	check("files too", notes.LinkCounts{Links: 3, Markdown: 3}, "B/Zebra.md", "A/scripts/run", "A/example.org/a.png")
	put(t, s, notes.Draft{ID: "zebra", Path: "B/Horse.md", Vault: "v", Title: "Zebra"})
	check("the note is renamed", notes.LinkCounts{Links: 2, Markdown: 2}, "A/scripts/run", "A/example.org/a.png")
}

// TestREL13_MarkdownLinksOfOlderRecords are found when the store is upgraded.
func TestREL13_MarkdownLinksOfOlderRecords(t *testing.T) {
	s, _, db := open(t, kv.InMemory)
	n := put(t, s, notes.Draft{ID: "n", Body: "[[A]] [x](B.md) [[C]] [z](https://example.org)\n\n[y]: D.png"})
	put(t, s, notes.Draft{ID: "b", Path: "B.md"})
	want := n.Places
	err := db.Update(t.Context(), func(tx *kv.Tx) error {
		older := *n
		older.Places = older.Places[:3] // of the first link
		if err := notes.Records.Put(tx, n.ID, &older); err != nil {
			return err
		}
		return notes.UpgradeLinks(tx)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Get("n").Places; got != want || len(s.Get("n").Links()) != 4 {
		t.Errorf("the places are %x, want %x", got, want)
	}
	if diff := cmp.Diff([]string{"", "b", "", ""}, s.Targets("n")); diff != "" {
		t.Error(diff)
	}
}
