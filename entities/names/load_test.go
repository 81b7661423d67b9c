package names_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities/names"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/fixtures/campaign"
)

// TestNamesLoadedAtOnce loads records into an index at once and enters them into
// another one by one, changes both alike, and compares all that they find.
func TestNamesLoadedAtOnce(t *testing.T) {
	campaign.Only(t)
	words := []string{"alpha", "Alpha", "alphabet", "alphabetical order", "be", "ta", "Ünï", "日本語", "al-pha", "a", "", "zzzzzzzz", "zzzzzzzz\x00", "Σας"}
	word := rapid.SampledFrom(words)
	several := rapid.Custom(func(t *rapid.T) []string {
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return strings.TrimSpace(strings.Join(rapid.SliceOfN(word, 1, 4).Draw(t, "words"), " "))
		}), 1, 3).Draw(t, "names")
	})
	rapid.Check(t, func(t *rapid.T) {
		one := names.New()
		batches := []*names.Batch{{}}
		ids := rapid.IntRange(0, 60).Draw(t, "records")
		for i := range ids {
			id, changed := fmt.Sprintf("id-%02d", i*37%61), time.Unix(int64(i%5), 0)
			kind, list := rapid.SampledFrom([]string{"", "person"}).Draw(t, "kind"), several.Draw(t, "names")
			record := names.Record{ID: id, Kind: kind, Changed: changed, Hidden: i%11 == 3, Private: i%5 == 2}
			one.Put(record, list...)
			var folded []names.Name
			for _, name := range list {
				folded = append(folded, names.Name{Text: name, Fold: text.Fold(name)})
			}
			if i%7 == 6 {
				batches = append(batches, new(names.Batch))
			}
			batches[len(batches)-1].Add(record, folded)
		}
		loaded := names.Load(batches)
		compareIndexes(t, one, loaded, words)
		for i := range rapid.IntRange(0, 20).Draw(t, "changes") {
			id, list := fmt.Sprintf("id-%02d", rapid.IntRange(0, 70).Draw(t, "id")), several.Draw(t, "names")
			for _, x := range []*names.Index{one, loaded} {
				if i%3 == 0 {
					x.Delete(id)
				} else {
					x.Put(names.Record{ID: id, Changed: time.Unix(9, 0), Private: i%2 == 0}, list...)
				}
			}
		}
		compareIndexes(t, one, loaded, words)
	})
}

func compareIndexes(t *rapid.T, a, b *names.Index, typed []string) {
	t.Helper()
	for _, s := range append(typed, "al", "alphabet ", "日", "zzzz", "alpha be") {
		for _, limit := range []int{3, 1000} {
			for _, kinds := range [][]string{nil, {"person"}, {"person", ""}, {"no such"}} {
				for _, publicOnly := range []bool{false, true} {
					diff := gocmp.Diff(a.Complete(s, kinds, limit, publicOnly), b.Complete(s, kinds, limit, publicOnly))
					if diff != "" {
						t.Fatalf("%q finds differently (public only: %t):\n%s", s, publicOnly, diff)
					}
				}
			}
		}
		key := text.Fold(s)
		if diff := gocmp.Diff(a.Exact(key, nil), b.Exact(key, nil)); diff != "" {
			t.Fatalf("exactly %q differs:\n%s", key, diff)
		}
		wholeA, beginsA := a.Match(key, nil)
		wholeB, beginsB := b.Match(key, nil)
		if wholeA != wholeB || beginsA != beginsB {
			t.Fatalf("%q matches %v %v and %v %v", key, wholeA, beginsA, wholeB, beginsB)
		}
	}
}

// TestManyNames makes an index large enough that its lists are split, and takes it
// apart again.
func TestManyNames(t *testing.T) {
	x := names.New()
	const n = 2000
	for i := range n {
		x.Put(names.Record{ID: fmt.Sprintf("id-%d", i*7919%n), Changed: time.Unix(1, 0)}, fmt.Sprintf("Name number %d", i*7919%n))
	}
	for i := range n {
		if ids := x.Exact(fmt.Sprintf("name number %d", i), nil); len(ids) != 1 || ids[0] != fmt.Sprintf("id-%d", i) {
			t.Fatalf("%d is found as %v", i, ids)
		}
	}
	for i, hit := range x.Complete("number 19", nil, 112, false) {
		// 19, 190 to 199 and 1900 to 1999; after those, names that only hold the letters.
		if strings.HasPrefix(hit.Name, "Name number 19") != (i < 111) {
			t.Errorf("place %d is %q", i, hit.Name)
		}
	}
	for i := range n {
		x.Delete(fmt.Sprintf("id-%d", i*104729%n))
	}
	if hits := x.Complete("", nil, n, false); len(hits) != 0 || begins(x, "") {
		t.Errorf("%d names are left", len(hits))
	}
}

// begins reports whether a name begins with what was folded.
func begins(x *names.Index, fold string) bool {
	_, beginning := x.Match(fold, nil)
	return beginning
}
