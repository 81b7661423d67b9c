package notes_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// TestREL7_TextsAreReadBeforeTheirTurn has another writer come while a text is read: it
// does not wait for that.
func TestREL7_TextsAreReadBeforeTheirTurn(t *testing.T) {
	const (
		label = "---\ntype: Person\naliases: [\"[Ada][a]\"]\n---\n# Ada\n\n[a]: a.md\n"
		plain = "# Ada\n"
	)
	for name, write := range map[string]func(s *notes.Store) error{
		"put":     func(s *notes.Store) error { return second(s.Put(ctx, notes.Draft{ID: "n", Body: label}, nil)) },
		"putMany": func(s *notes.Store) error { return second(s.PutMany(ctx, []notes.Draft{{ID: "n", Body: label}})) },
		"text":    func(s *notes.Store) error { return second(s.Patch(ctx, notes.Patch{ID: "n", Body: ptr(plain)}, nil)) },
		"title":   func(s *notes.Store) error { return second(s.Patch(ctx, notes.Patch{ID: "n", Title: ptr("x")}, nil)) },
		"archive": func(s *notes.Store) error { return second(s.Archive(ctx, "n", nil)) },
		"restore": func(s *notes.Store) error { return second(s.Restore(ctx, "archived", nil)) },
	} {
		t.Run(name, func(t *testing.T) {
			s, _, db := open(t, kv.InMemory)
			put(t, s, notes.Draft{ID: "n", Body: label})
			put(t, s, notes.Draft{ID: "archived", Body: label})
			if _, err := s.Archive(ctx, "archived", nil); err != nil {
				t.Fatal(err)
			}
			readings := 0
			notes.OnReading(func() {
				readings++
				written := make(chan error, 1)
				go func() { written <- db.Update(ctx, func(*kv.Tx) error { return nil }) }()
				select {
				case err := <-written:
					if err != nil {
						t.Error(err)
					}
				case <-time.After(20 * time.Second): // only when it fails
					t.Error("others wait while a text is read")
				}
			})
			defer notes.OnReading(func() {})
			if err := write(s); err != nil || readings == 0 {
				t.Errorf("%d texts were read, error %v", readings, err)
			}
		})
	}
}

// TestPatch_TextChangesMeanwhile changes the text of a note each time that it has been read
// for a patch: the patch keeps the newest text, and comes to an end.
func TestPatch_TextChangesMeanwhile(t *testing.T) {
	for changes := range notes.Readings + 1 {
		s, _, _ := open(t, kv.InMemory)
		put(t, s, notes.Draft{ID: "n", Body: "#none"})
		done, nested := 0, false
		notes.OnReading(func() {
			if nested || done == changes {
				return
			}
			nested = true
			put(t, s, notes.Draft{ID: "n", Body: fmt.Sprintf("#change%d", done)})
			nested = false
			done++
		})
		want := "#none"
		if changes > 0 {
			want = fmt.Sprintf("#change%d", changes-1)
		}
		n, err := s.Patch(ctx, notes.Patch{ID: "n", Title: ptr("patched")}, nil)
		notes.OnReading(func() {})
		if err != nil {
			t.Fatal(err)
		}
		if n.Title != "patched" || n.Body != want || len(n.Tags) != 1 || "#"+n.Tags[0] != want || done != changes {
			t.Errorf("after %d of %d changes: %q, tags %v, titled %q", done, changes, n.Body, n.Tags, n.Title)
		}
	}
}
