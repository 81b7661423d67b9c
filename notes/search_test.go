package notes_test

import (
	"testing"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// TestSearchLooksAtEveryName finds notes by words of titles, aliases and texts,
// whatever their case and script, one after the other: what is left of one must not
// be found in the next.
func TestSearchLooksAtEveryName(t *testing.T) {
	s, _, _ := open(t, kv.InMemory)
	put(t, s, notes.Draft{ID: "a", Title: "Long Title Of A Note", Aliases: []string{"ÜBER Bienen", "Hive"}, Body: "A long text about Weighing and Zwetschken"})
	put(t, s, notes.Draft{ID: "b", Title: "B", Body: "Short"})
	put(t, s, notes.Draft{ID: "c", Title: "Ünï", Body: "日本 and STRASSE"})
	for query, want := range map[string]string{
		"title": "a", "über": "a", "hive": "a", "ZWETSCHKEN": "a", "weigh": "a", "short": "b", "ÜNÏ": "c", "straße": "c", "日": "c", "nothing": "",
	} {
		found, err := s.Search(ctx, query, 10, notes.SearchFilter{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range found {
			got += f.Note.ID
		}
		if got != want {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
}
