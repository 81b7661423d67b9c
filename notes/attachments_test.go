package notes_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// loaded returns what a store has of a vault v with these files.
func loaded(t *testing.T, paths ...string) (*kv.Store, notes.Attachments) {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	err = db.Update(t.Context(), func(tx *kv.Tx) error {
		for _, p := range paths {
			if err := notes.PutAttachment(tx, "v", notes.Attachment{Path: p}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return db, load(t, db)
}

func load(t *testing.T, db *kv.Store) (set notes.Attachments) {
	t.Helper()
	err := db.View(t.Context(), func(tx *kv.Tx) (err error) {
		set, err = notes.LoadAttachments(tx)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestSRCH33_LinksFindFiles from the folder of the note, from the root, by the tail of a
// path and by name.
func TestSRCH33_LinksFindFiles(t *testing.T) {
	_, set := loaded(t, "pic.png", "A/pic.png", "A/B/deep.pdf", "Long folder/same.mp3", "Z/same.mp3", "Über/Größe.JPG")
	for _, tc := range []struct{ folder, target, want string }{
		{"", "pic.png", "pic.png"},
		{"A", "pic.png", "A/pic.png"},
		{"A", "/pic.png", "pic.png"},
		{"A", "../pic.png", "pic.png"},
		{"A/B", "pic.png", "pic.png"},
		{"", "./pic.png", "pic.png"},
		{"X", "./pic.png", ""},
		{"X", "../X/pic.png", ""},
		{"X", "deep.pdf", "A/B/deep.pdf"},
		{"X", "b/DEEP.pdf", "A/B/deep.pdf"},
		{"X", "C/deep.pdf", ""},
		{"X", "eep.pdf", ""},
		{"X", "same.mp3", "Z/same.mp3"},
		{"X", " gr\u00f6SSe.jpg ", "Über/Größe.JPG"},
		{"X", "deep", ""},
		{"X", "", ""},
		{"X", "..", ""},
	} {
		if got := set.Find("v", tc.folder, tc.target, nil); got != tc.want {
			t.Errorf("in %q, %q finds %q, want %q", tc.folder, tc.target, got, tc.want)
		}
		if got := set.Find("w", tc.folder, tc.target, nil); got != "" {
			t.Errorf("another vault has %q", got)
		}
	}
	public := func(_, p string) bool { return !strings.HasPrefix(p, "A/") }
	if got := set.Find("v", "A", "pic.png", public); got != "pic.png" {
		t.Errorf("without what lies in A, it finds %q", got)
	}
	if got := set.Count("v", public); got != 4 {
		t.Errorf("%d files without those in A", got)
	}
}

// TestSRCH33_ASetFollowsItsStore: with each commit it is what a new one would be.
func TestSRCH33_ASetFollowsItsStore(t *testing.T) {
	db, set := loaded(t, "a.png", "A.png", "x/a.png")
	db.OnCommit(func(cs *kv.ChangeSet) { set.Take(cs) })
	for _, step := range []struct {
		put, gone string
		want      []string
	}{
		{"y/b.pdf", "", []string{"A.png", "a.png", "x/a.png", "y/b.pdf"}},
		{"", "A.png", []string{"a.png", "x/a.png", "y/b.pdf"}},
		{"a.png", "y/b.pdf", []string{"a.png", "x/a.png"}},
		{"", "a.png", []string{"x/a.png"}},
		{"", "x/a.png", nil},
	} {
		err := db.Update(t.Context(), func(tx *kv.Tx) error {
			if step.put != "" {
				if err := notes.PutAttachment(tx, "v", notes.Attachment{Path: step.put}); err != nil {
					return err
				}
			}
			return notes.DeleteAttachment(tx, "v", step.gone)
		})
		if err != nil {
			t.Fatal(err)
		}
		anew := load(t, db)
		for name, s := range map[string]notes.Attachments{"kept": set, "loaded": anew} {
			got := s.Paths("v")
			slices.Sort(got)
			if !slices.Equal(got, step.want) {
				t.Errorf("%s: %q, want %q", name, got, step.want)
			}
			wantA := ""
			if slices.Contains(step.want, "a.png") || slices.Contains(step.want, "A.png") {
				wantA = step.want[slices.IndexFunc(step.want, func(p string) bool { return strings.EqualFold(p, "a.png") })]
			} else if slices.Contains(step.want, "x/a.png") {
				wantA = "x/a.png"
			}
			if got := s.Find("v", "", "a.png", nil); got != wantA {
				t.Errorf("%s: a.png is %q, want %q", name, got, wantA)
			}
		}
	}
}

// TestSRCH33_FilesThatOnlyLetterCaseTellsApart are all kept: when the first of them goes,
// another is found.
func TestSRCH33_FilesThatOnlyLetterCaseTellsApart(t *testing.T) {
	_, set := loaded(t, "a/Pic.png", "A/pic.png", "a/pic.png", "b/other.png")
	if got := set.Find("v", "", "a/pic.png", nil); got != "A/pic.png" {
		t.Fatalf("found is %q", got)
	}
	db, _ := loaded(t, "a/Pic.png", "A/pic.png", "a/pic.png", "b/other.png")
	set = load(t, db)
	db.OnCommit(func(cs *kv.ChangeSet) { set.Take(cs) })
	for _, step := range []struct{ gone, want string }{
		{"A/pic.png", "a/Pic.png"}, {"a/pic.png", "a/Pic.png"}, {"a/Pic.png", ""},
	} {
		err := db.Update(t.Context(), func(tx *kv.Tx) error { return notes.DeleteAttachment(tx, "v", step.gone) })
		if err != nil {
			t.Fatal(err)
		}
		if got := set.Find("v", "", "a/pic.png", nil); got != step.want {
			t.Errorf("without %s found is %q, want %q", step.gone, got, step.want)
		}
	}
	if got := set.Find("v", "", "other.png", nil); got != "b/other.png" {
		t.Errorf("found is %q", got)
	}
}
