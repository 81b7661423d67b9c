package notes_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// TestPRIV8_NamesKeepWhatTheyReferTo: a name that has lost its marks, and no other, has
// a source.
func TestPRIV8_NamesKeepWhatTheyReferTo(t *testing.T) {
	store, _, _ := open(t, kv.InMemory)
	targets := func(n *notes.Note, text string) (list []string) {
		for _, r := range n.SourceOf(text) {
			list = append(list, text[r.Start:r.End]+" > "+r.Target)
		}
		return slices.Compact(list)
	}
	for _, tc := range []struct {
		name, body, text string
		want             []string
	}{
		{"a title without links", "# Plain *title*", "Plain title", nil},
		{"a title with all its marks", "---\ntitle: On [[P]]\n---\n", "On [[P]]", nil},
		{"a mention", "# On @P", "On @P", nil},
		{"a heading", "# On [[P|*l*]] and [m](Q.md)", "On *l* and m", []string{"*l* > P", "m > Q.md"}},
		{"one of two lines", "On *[[P]]*\n  [m][r]\n===\n\n[r]: <Q R>", "On P m", []string{"P > P", "m > Q R"}},
		{"code in a heading", "# On `x [[P]]` y", "On x [[P]] y", []string{"x [[P]] > P", "[[P]] > P"}},
		{"an alias", "---\naliases: ['[[P#h]]', plain]\n---\n", "P", []string{"P > P"}},
		{"a tag", "---\ntags: ['[[P]]']\n---\n", "P", []string{"P > P"}},
		{"aliases of one text", "---\naliases: 'a [x, y](P), b'\n---\n", "y](P)", []string{"y](P) > P"}},
		{"a title that is cut", "---\ntitle: '" + strings.Repeat("x", 508) + " [[P]]'\n---\n", strings.Repeat("x", 508) + " [[P", []string{"[[P > P"}},
	} {
		n, err := store.Put(t.Context(), notes.Draft{ID: "n", Body: tc.body}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, targets(n, tc.text)); diff != "" {
			t.Errorf("%s: %q\n%s", tc.name, n.Title, diff)
		}
		if tc.want == nil && n.Sources != "" {
			t.Errorf("%s: %q is kept", tc.name, n.Sources)
		}
	}
}

// TestREL13_SourcesOfOlderRecords are read when the store is upgraded.
func TestREL13_SourcesOfOlderRecords(t *testing.T) {
	store, ents, db := open(t, kv.InMemory)
	body := "---\ntype: P\nabout: x [l][r]\n---\n# On [[Q]]\n\n[r]: R.md"
	n, err := store.Put(t.Context(), notes.Draft{ID: "n", Body: body}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := n.Sources
	if want == "" || ents.Get(n.EntityID).Sources != string(want) || len(n.SourceOf("x [l][r]")) == 0 {
		t.Fatalf("%q, of the entity %q", want, ents.Get(n.EntityID).Sources)
	}
	err = db.Update(t.Context(), func(tx *kv.Tx) error {
		older, made := *n, *ents.Get(n.EntityID)
		older.Sources, made.Sources = "", ""
		if err := notes.Records.Put(tx, n.ID, &older); err != nil {
			return err
		}
		if err := entities.EntityRecords.Put(tx, made.ID, &made); err != nil {
			return err
		}
		return notes.UpgradeSources(tx)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := store.Get("n"); got.Sources != want || ents.Get(n.EntityID).Sources != string(want) {
		t.Errorf("%q, of the entity %q", got.Sources, ents.Get(n.EntityID).Sources)
	}
}

// TestPRIV8_AnEntityKeepsItsSource when a client writes it.
func TestPRIV8_AnEntityKeepsItsSource(t *testing.T) {
	store, ents, _ := open(t, kv.InMemory)
	n, err := store.Put(t.Context(), notes.Draft{ID: "n", Body: "---\ntype: P\n---\n# On [[Q]]"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := *ents.Get(n.EntityID)
	e.Sources = ""
	written, err := ents.Put(t.Context(), e, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(notes.SourceOf(written, "On Q")) == 0 {
		t.Error("it is lost")
	}
}
