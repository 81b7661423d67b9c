package notes_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// TestREL14_ManyLinksLeadWhereFewWouldLead does the same to notes of which each has many links, and to such of which none
// has: both show the same, also when they are loaded at once.
func TestREL14_ManyLinksLeadWhereFewWouldLead(t *testing.T) {
	defer notes.SetManyPlaces(notes.SetManyPlaces(0))
	forms := []int{math.MaxInt, 0, 8} // the links of none, of each, and of those with three or more
	rapid.Check(t, func(t *rapid.T) {
		var houses []house
		for range forms {
			db, err := kv.Open(kv.InMemory, kv.Options{})
			must(t, err)
			t.Cleanup(func() { db.Close() })
			houses = append(houses, newHouse(t, db))
		}
		in := func(i int) house { notes.SetManyPlaces(forms[i]); return houses[i] }
		same := func(what string) {
			plain := shownWith(in(0))
			for i := range houses[1:] {
				if diff := cmp.Diff(plain, shownWith(in(i+1))); diff != "" {
					t.Fatalf("%s, many links show another thing than few:\n%s", what, diff)
				}
			}
		}
		for range rapid.IntRange(0, 40).Draw(t, "changes") {
			changeEach(t, len(houses), in)
		}
		same("taken in one by one")
		for i := range houses {
			houses[i] = in(i).reopened(t)
		}
		same("loaded at once")
		for range rapid.IntRange(0, 10).Draw(t, "more changes") {
			changeEach(t, len(houses), in)
		}
		same("changed after that")
	})
}

// shownWith is shown, and what a rename would ask.
func shownWith(h house) map[string]any {
	out := shown(h)
	for _, vault := range []string{"", "v", "w"} {
		out["unresolved "+vault] = h.ns.Unresolved(vault, nil)
	}
	h.ns.Suppose(func(w notes.World) {
		// Linking may name others with them: what a link means that may lead elsewhere is the question.
		for n := range w.All() {
			for i, l := range n.Links() {
				out[fmt.Sprint("lead ", n.ID, i)] = w.Lead(l, n.ID)
			}
		}
	})
	return out
}

// TestREL14_ManyLinksAreReadBeforeTheirTurn writes a note with many links in every way: another writer comes whenever the
// keys of links are worked out, and does not wait for that, and none of them is entered.
func TestREL14_ManyLinksAreReadBeforeTheirTurn(t *testing.T) {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "[[n%d]] ", i)
	}
	many := b.String()
	for name, write := range map[string]func(s *notes.Store) error{
		"put":     func(s *notes.Store) error { return second(s.Put(ctx, notes.Draft{ID: "n", Body: many}, nil)) },
		"putMany": func(s *notes.Store) error { return second(s.PutMany(ctx, []notes.Draft{{ID: "n", Body: many}})) },
		"again":   func(s *notes.Store) error { return second(s.Put(ctx, notes.Draft{ID: "there", Body: many + "x"}, nil)) },
		"text": func(s *notes.Store) error {
			return second(s.Patch(ctx, notes.Patch{ID: "there", Body: ptr("x" + many)}, nil))
		},
		"title": func(s *notes.Store) error {
			return second(s.Patch(ctx, notes.Patch{ID: "there", Title: ptr("x")}, nil))
		},
		"archive": func(s *notes.Store) error { return second(s.Archive(ctx, "there", nil)) },
		"restore": func(s *notes.Store) error { return second(s.Restore(ctx, "archived", nil)) },
		"delete":  func(s *notes.Store) error { return second(s.Delete(ctx, "there", nil)) },
	} {
		t.Run(name, func(t *testing.T) {
			s, _, db := open(t, kv.InMemory)
			put(t, s, notes.Draft{ID: "there", Body: many})
			put(t, s, notes.Draft{ID: "archived", Body: many})
			if _, err := s.Archive(ctx, "archived", nil); err != nil {
				t.Fatal(err)
			}
			notes.OnLinkHashes(func() {
				written := make(chan error, 1)
				go func() { written <- db.Update(ctx, func(tx *kv.Tx) error { return other.Put(tx, "a", ptr("b")) }) }()
				select {
				case err := <-written:
					if err != nil {
						t.Error(err)
					}
				case <-time.After(20 * time.Second): // only when it fails
					t.Error("others wait while the links of a text are read")
				}
			})
			defer notes.OnLinkHashes(func() {})
			if err := write(s); err != nil {
				t.Error(err)
			}
			if n := notes.LinkEntries(s); n > 0 {
				t.Errorf("%d links were entered", n)
			}
		})
	}
}

var other = kv.NewCollection[string]("other")
