package notes_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

func TestRPC6_SizesOfNotesAreConfigured(t *testing.T) {
	for _, c := range []struct {
		name    string
		limits  entities.Limits
		maxBody int
		draft   notes.Draft
		field   string // at fault; "": none
	}{
		{"body by default", entities.Limits{}, 0, notes.Draft{Body: strings.Repeat("x", 4<<20+1)}, "body"},
		{"body, wider", entities.Limits{}, 5 << 20, notes.Draft{Body: strings.Repeat("x", 4<<20+1)}, ""},
		{"body, tighter", entities.Limits{}, 3, notes.Draft{Body: "four"}, "body"},
		{"title by default", entities.Limits{}, 0, notes.Draft{Title: strings.Repeat("é", 513)}, "title"},
		{"title, wider", entities.Limits{Name: 600}, 0, notes.Draft{Title: strings.Repeat("é", 513)}, ""},
		{"title, tighter", entities.Limits{Name: 5}, 0, notes.Draft{Title: "abcdef"}, "title"},
		{"alias, tighter", entities.Limits{Name: 5}, 0, notes.Draft{Aliases: []string{"abcdef"}}, "aliases"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := limited(t, c.limits, c.maxBody).Put(ctx, c.draft, nil)
			var f *fault.Error
			switch {
			case c.field == "" && err != nil:
				t.Fatal(err)
			case c.field != "" && (!errors.As(err, &f) || f.Kind != fault.Limit || f.Field != c.field):
				t.Fatalf("%v, want a limit of %s", err, c.field)
			}
		})
	}
}

// A title that is taken from the text is cut, and the entity made from the note
// has a name of the same limit.
func TestRPC6_ATitleFromTheTextIsCutToTheLimit(t *testing.T) {
	s := limited(t, entities.Limits{Name: 5}, 0)
	n := put(t, s, notes.Draft{Body: "---\ntype: Person\n---\n# Maria Lopez"})
	if n.Title != "Maria" || n.EntityID == "" {
		t.Errorf("title %q, entity %q", n.Title, n.EntityID)
	}
}

func limited(t *testing.T, limits entities.Limits, maxBody int) *notes.Store {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	ents, err := entities.Open(db, entities.Options{Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	s, err := notes.Open(db, ents, notes.Options{MaxBody: maxBody})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
