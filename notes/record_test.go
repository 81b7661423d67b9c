package notes_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// sampleNotes have all that a record can hold.
func sampleNotes() []*notes.Note {
	at := time.Date(2026, 1, 31, 9, 30, 0, 123456789, time.UTC)
	body := "---\nalso: \"[[Front]]\"\n---\n# Title\n\n[[One]], ![[Two#^b|x]] and [[#Here]]\n" + strings.Repeat("text\n", 400) + "[[Last]]"
	return []*notes.Note{
		{Note: record.Note{ID: "a", Tags: []string{}, Aliases: []string{}, CreatedAt: time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), UpdatedAt: at}},
		{
			Note: record.Note{
				ID: "b", Title: "Title", Body: body, Path: "Folder/Title.md", Folder: "Folder", EntityID: "e",
				Tags: []string{"one", "日本"}, Aliases: []string{"T"}, Private: true, VaultBacked: true, Version: 300,
				CreatedAt: at, UpdatedAt: at.Add(-time.Hour), ArchivedAt: &at,
			},
			Vault: "v", Given: &notes.Given{Title: "Given", Tags: []string{"one"}, Aliases: []string{"T"}, Private: true, Archived: &at},
			Places: notes.NewLinkPlaces(markdown.Parse(body).EachLink()), Sources: notes.Sources("\x03abc\x00"),
		},
	}
}

func TestNoteRecordsRoundTrip(t *testing.T) {
	for _, n := range sampleNotes() {
		rec, err := notes.EncodeRecord(n)
		if err != nil {
			t.Fatal(err)
		}
		back, err := notes.DecodeRecord(rec)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(n, back); diff != "" {
			t.Errorf("%s comes back as another:\n%s", n.ID, diff)
		}
		want := slices.Collect(markdown.Parse(n.Body).EachLink())
		for i := range want {
			want[i].InFrontmatter = false // what is not stored
		}
		if diff := cmp.Diff(want, back.Links()); diff != "" {
			t.Errorf("its links come back as others:\n%s", diff)
		}
		for cut := range len(rec) - len(n.Body) {
			if _, err := notes.DecodeRecord(rec[:cut]); err == nil {
				t.Errorf("the first %d bytes of a head of %d are taken for a record", cut, len(rec)-len(n.Body))
			}
		}
	}
}

func TestNoteRecordsHoldNothingElse(t *testing.T) {
	for name, n := range map[string]record.Note{
		"a late time":       {UpdatedAt: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
		"an early time":     {CreatedAt: time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC)},
		"a version below 0": {Version: -1},
	} {
		if rec, err := notes.EncodeRecord(&notes.Note{Note: n}); err == nil {
			t.Errorf("%s is stored as %q", name, rec)
		}
	}
	rec, err := notes.EncodeRecord(new(notes.Note))
	if err != nil {
		t.Fatal(err)
	}
	for name, other := range map[string]string{"another format": "\x01" + rec[1:], "a flag of no meaning": rec[:1] + "\x60" + rec[2:]} {
		if _, err := notes.DecodeRecord(other); err == nil {
			t.Errorf("%s: %q is taken for a record", name, other)
		}
	}
	at := func(start, end int) notes.LinkPlaces {
		return notes.NewLinkPlaces(slices.Values([]markdown.Link{{Start: start, End: end, Line: 1}}))
	}
	for _, c := range []struct {
		body string
		at   notes.LinkPlaces
		ok   bool
	}{
		{"[[a]]", at(0, 5), true},
		{"[[a]] ", at(0, 6), false},
		{"[[a]]", at(0, 6), false},
		{"[[a]]", at(6, 6), false},
		{"[[a]]", at(1, 5), true}, // a destination that leads nowhere
		{"[[a]]", at(0, 4), false},
		{"[[]] ", at(0, 4), false},
		{"[[ ]]", at(0, 5), false},
		{"[[#]]", at(0, 5), false},
		{"[[a]]", at(0, 5)[:2], false},
		{"[[a]]", "\x80\x00\x05\x01", false}, // a longer form of 0
		{"[[a]]", "\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x05\x01", false},
	} {
		rec, err := notes.EncodeRecord(&notes.Note{Note: record.Note{Body: c.body}, Places: c.at})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := notes.DecodeRecord(rec); (err == nil) != c.ok {
			t.Errorf("a link at %q in %q is read with %v", c.at, c.body, err)
		}
	}
}

func FuzzNoteRecord(f *testing.F) {
	for _, n := range sampleNotes() {
		rec, err := notes.EncodeRecord(n)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(rec)
	}
	f.Fuzz(func(t *testing.T, rec string) {
		n, err := notes.DecodeRecord(rec)
		if err != nil {
			return
		}
		if again, err := notes.EncodeRecord(n); err != nil || again != rec {
			t.Errorf("%q is read, but would be written as %q, %v", rec, again, err)
		}
		places := 0
		for range n.Places.All() {
			places++
		}
		if links := n.Links(); len(links) != places {
			t.Errorf("%q has %d links in %d places", rec, len(links), places)
		}
	})
}

// format1 writes a note as format 1 had it.
var format1 = kv.NewCollection("note", kv.Codec[notes.Note]{
	Encode: func(n *notes.Note) (string, error) {
		var links [][3]int
		for _, l := range n.Links() {
			links = append(links, [3]int{l.Start, l.End, l.Line})
		}
		type given struct {
			Title    string     `json:"title,omitempty"`
			Tags     []string   `json:"tags,omitempty"`
			Aliases  []string   `json:"aliases,omitempty"`
			Private  bool       `json:"private,omitempty"`
			Archived *time.Time `json:"archived,omitempty"`
		}
		head, err := json.Marshal(struct {
			notes.Note
			Body  *string  `json:"body,omitempty"`
			Vault string   `json:"vault,omitempty"`
			Links [][3]int `json:"links,omitempty"`
			Given given    `json:"given"`
		}{Note: *n, Vault: n.Vault, Links: links, Given: given(n.Given.Get())})
		return string(head) + "\n" + n.Body, err
	},
	Decode: func(string) (*notes.Note, error) { return new(notes.Note), nil },
})

// TestREL13_NotesOfFormat1 writes notes as format 1 had them, brings them into
// today's and reads them.
func TestREL13_NotesOfFormat1(t *testing.T) {
	db, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	samples := sampleNotes()
	for _, n := range samples {
		n.Sources = "" // nobody knew them
	}
	mixed := &notes.Note{Note: record.Note{ID: "new", Title: "written since", Tags: []string{}, Aliases: []string{}}}
	err = db.Update(ctx, func(tx *kv.Tx) error {
		for _, n := range samples {
			if err := format1.Put(tx, n.ID, n); err != nil {
				return err
			}
		}
		return notes.Records.Put(tx, mixed.ID, mixed)
	})
	if err == nil {
		err = db.Update(ctx, notes.Upgrade)
	}
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(ctx, func(tx *kv.Tx) error {
		for _, want := range append(samples, mixed) {
			got, err := notes.Records.Get(tx, want.ID)
			if err != nil {
				return err
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s comes out as another:\n%s", want.ID, diff)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
