package audience_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// body is the text of a note as a remote reader is shown it.
func (s *stored) body(t testing.TB, n *notes.Note) string {
	t.Helper()
	shown, err := s.remote.Body(t.Context(), n, audience.MarksOf(n.Body))
	must(t, err)
	return shown.Body
}

// file writes a file of a vault, or deletes it.
func (s *stored) file(t testing.TB, id, path string, there bool) {
	t.Helper()
	must(t, s.db.Update(t.Context(), func(tx *kv.Tx) error {
		if there {
			_, err := s.notes.PutTx(tx, notes.Draft{ID: id, Path: path, Vault: "v", Body: "x"}, nil, nil)
			return err
		}
		return s.notes.DeleteTx(tx, id)
	}))
}

// TestPRIV8_MeaningsTellWhetherATextHolds changes what is private, and what is called how,
// at random: while the number of the meanings is the same, each text is shown the same.
func TestPRIV8_MeaningsTellWhetherATextHolds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := openRooms(t, notes.Options{})
		defer w.db.Close()
		_, _, err := w.ents.PutType(t.Context(), entities.Type{
			Name: "P", Fields: []entities.Field{{Name: "f", Type: record.Text}},
		}, nil, false)
		must(t, err)
		name := func(what string) string { return rapid.SampledFrom(called).Draw(rt, what) }
		var texts []*notes.Note
		for i := range 6 {
			body := fmt.Sprintf(rapid.SampledFrom(ways).Draw(rt, "way"), name("whom"))
			n, err := w.notes.Put(t.Context(), notes.Draft{ID: fmt.Sprint("text", i), Body: body}, nil)
			must(t, err)
			texts = append(texts, n)
		}
		shown, meanings := make([]string, len(texts)), make([]uint64, len(texts))
		for i, n := range texts {
			meanings[i], shown[i] = w.remote.Meanings(), w.body(t, n)
		}
		for range rapid.IntRange(1, 20).Draw(rt, "commits") {
			id := fmt.Sprint("file", rapid.IntRange(0, 1).Draw(rt, "which"))
			switch rapid.IntRange(0, 3).Draw(rt, "of") {
			case 0:
				if w.notes.Get(id) == nil {
					w.file(t, id, id+"/"+name("file")+".md", true)
				} else {
					w.file(t, id, "", false)
				}
			default:
				changePrivacy(t, rt, w.ents, w.notes, name)
			}
			for i, n := range texts {
				now, at := w.body(t, n), w.remote.Meanings()
				if at == meanings[i] && now != shown[i] {
					rt.Fatalf("%q was shown as %q and is as %q, at the same meanings", n.Body, shown[i], now)
				}
				meanings[i], shown[i] = at, now
			}
		}
	})
}

// TestPRIV8_MeaningsChangeWithWhatALinkMeans has one change of each kind after which a text
// is shown otherwise, and some after which it is not.
func TestPRIV8_MeaningsChangeWithWhatALinkMeans(t *testing.T) {
	const hidden = "see (private)"
	link := "see [[Canary]]"
	put := func(d notes.Draft) func(*testing.T, *stored) {
		return func(t *testing.T, w *stored) {
			t.Helper()
			_, err := w.notes.Put(t.Context(), d, nil)
			must(t, err)
		}
	}
	secret := notes.Draft{ID: "n", Title: "Canary", Private: true}
	for name, c := range map[string]struct {
		before, change func(*testing.T, *stored)
		was, is        string
		kept           bool
	}{
		"a note becomes private": {
			before: put(notes.Draft{ID: "n", Title: "Canary"}), change: put(secret), was: link, is: hidden,
		},
		"a note becomes public": {
			before: put(secret), change: put(notes.Draft{ID: "n", Title: "Canary"}), was: hidden, is: link,
		},
		"a private note is called so": {
			before: put(notes.Draft{ID: "n", Title: "Other", Private: true}), change: put(secret), was: link, is: hidden,
		},
		"a private note is called otherwise": {
			before: put(secret), change: put(notes.Draft{ID: "n", Title: "Other", Private: true}), was: hidden, is: hidden,
		},
		"a private note is deleted": {
			before: put(secret), was: hidden, is: hidden,
			change: func(t *testing.T, w *stored) {
				t.Helper()
				_, err := w.notes.Delete(t.Context(), "n", nil)
				must(t, err)
			},
		},
		"a private note moves": {
			before: put(notes.Draft{ID: "n", Title: "Other", Private: true, Path: "Other.md"}),
			change: put(notes.Draft{ID: "n", Title: "Other", Private: true, Path: "Canary.md"}), was: link, is: hidden,
		},
		"an entity becomes private": {
			was: link, is: hidden,
			before: func(t *testing.T, w *stored) {
				t.Helper()
				_, err := w.ents.Put(t.Context(), entities.Entity{ID: "e", Type: "P", Name: "Canary"}, nil)
				must(t, err)
			},
			change: func(t *testing.T, w *stored) {
				t.Helper()
				_, err := w.ents.Put(t.Context(), entities.Entity{ID: "e", Type: "P", Name: "Canary", Private: true}, nil)
				must(t, err)
			},
		},
		"a public file of the name is deleted": {
			was: link, is: hidden,
			before: func(t *testing.T, w *stored) {
				t.Helper()
				w.file(t, "file", "Canary.md", true)
				put(secret)(t, w)
			},
			change: func(t *testing.T, w *stored) {
				t.Helper()
				w.file(t, "file", "", false)
			},
		},
		"a public file of the name comes": {
			before: put(secret), was: hidden, is: link,
			change: func(t *testing.T, w *stored) {
				t.Helper()
				w.file(t, "file", "Canary.md", true)
			},
		},
		"another text": {
			before: func(t *testing.T, w *stored) {
				t.Helper()
				put(secret)(t, w)
				put(notes.Draft{ID: "m", Title: "M", Body: "a"})(t, w)
			},
			change: put(notes.Draft{ID: "m", Title: "M", Body: "b"}), was: hidden, is: hidden, kept: true,
		},
		"another text of a private note": {
			before: put(secret), change: put(notes.Draft{ID: "n", Title: "Canary", Private: true, Body: "b"}),
			was: hidden, is: hidden, kept: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := openRooms(t, notes.Options{})
			_, _, err := w.ents.PutType(t.Context(), entities.Type{Name: "P"}, nil, false)
			must(t, err)
			put(notes.Draft{ID: "secret", Title: "Secret", Private: true})(t, w)
			text, err := w.notes.Put(t.Context(), notes.Draft{ID: "text", Title: "Text", Body: link}, nil)
			must(t, err)
			c.before(t, w)
			meanings, was := w.remote.Meanings(), w.body(t, text)
			c.change(t, w)
			is := w.body(t, text)
			if was != c.was || is != c.is {
				t.Errorf("shown as %q, then as %q, should be %q, then %q", was, is, c.was, c.is)
			}
			if kept := w.remote.Meanings() == meanings; kept != c.kept {
				t.Errorf("the meanings are the same: %v, want %v", kept, c.kept)
			}
		})
	}
	w := openRooms(t, notes.Options{})
	put(secret)(t, w)
	if w.local.Meanings() != 0 {
		t.Error("a local reader is shown all: nothing changes that")
	}
}
