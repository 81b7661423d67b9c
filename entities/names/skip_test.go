package names_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities/names"
)

// TestPRIV6_SkippedNamesDoNotExist compares what is found when some records are private,
// or skipped, with what an index finds that has never had them.
func TestPRIV6_SkippedNamesDoNotExist(t *testing.T) {
	words := []string{"alpha", "Alphabet", "alphabetical order", "be", "ta", "Ünï", "日本語", "al-pha", "meeting notes", "mtg"}
	word := rapid.SampledFrom(words)
	rapid.Check(t, func(t *rapid.T) {
		all, rest := names.New(), names.New()
		skipped := make(map[string]bool)
		for i := range rapid.IntRange(0, 300).Draw(t, "records") {
			r := names.Record{ID: fmt.Sprintf("id-%d", i*7919%307), Kind: []string{"p", "q"}[i%2], Changed: time.Unix(int64(i*31%17), 0), Hidden: i%13 == 5}
			r.Private = rapid.IntRange(0, 2).Draw(t, "private") == 0
			text := []string{word.Draw(t, "a") + " " + word.Draw(t, "b"), word.Draw(t, "alias")}
			all.Put(r, text...)
			skipped[r.ID] = r.Private
			if !r.Private {
				rest.Put(r, text...)
			}
		}
		skip := func(id string) bool { return skipped[id] }
		for range 8 {
			typed := word.Draw(t, "typed")
			typed = typed[:rapid.IntRange(0, len(typed)).Draw(t, "length")]
			kinds := rapid.SampledFrom([][]string{nil, {"q"}}).Draw(t, "kinds")
			limit := rapid.IntRange(1, 20).Draw(t, "limit")
			if diff := gocmp.Diff(rest.Complete(typed, kinds, limit, false), all.Complete(typed, kinds, limit, true)); diff != "" {
				t.Fatalf("%q (%d of %v), + with private records:\n%s", typed, limit, kinds, diff)
			}
			whole, beginning := rest.Match(typed, nil)
			if w, b := all.Match(typed, skip); w != whole || b != beginning {
				t.Fatalf("%q matches %v %v, not %v %v", typed, w, b, whole, beginning)
			}
			if a, b := all.Exact(typed, skip), rest.Exact(typed, nil); !slices.Equal(a, b) {
				t.Fatalf("%q are %v, not %v", typed, a, b)
			}
			handle := names.Handle(word.Draw(t, "a")+" "+word.Draw(t, "b"), "q")
			if a, b := all.Handled(handle, skip), rest.Handled(handle, nil); !slices.Equal(a, b) {
				t.Fatalf("%q are %v, not %v", handle, a, b)
			}
		}
	})
}

// TestPRIV6_SkippedNamesEndNoSearch has more names that are private than the last tier
// looks at in vain.
func TestPRIV6_SkippedNamesEndNoSearch(t *testing.T) {
	x := names.New()
	x.Put(names.Record{ID: "public", Changed: time.Unix(1, 0)}, "a1b2c")
	for i := range 21_000 {
		x.Put(names.Record{ID: fmt.Sprint("secret-", i), Changed: time.Unix(2, 0), Private: true}, "cba 21")
	}
	if hits := x.Complete("abc", nil, 8, true); len(hits) != 1 || hits[0].ID != "public" {
		t.Errorf("found %v", hits)
	}
	if hits := x.Complete("abc", nil, 8, false); len(hits) != 0 {
		t.Errorf("found %v, so the names are too few for this test", hits)
	}
}
