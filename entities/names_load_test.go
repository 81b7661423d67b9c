package entities_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities"
)

// TestNamesLoadedAtOnce loads records into an index at once and enters them into
// another one by one, changes both alike, and compares all that they find.
func TestNamesLoadedAtOnce(t *testing.T) {
	words := []string{"alpha", "Alpha", "alphabet", "alphabetical order", "be", "ta", "Ünï", "日本語", "al-pha", "a", "", "zzzzzzzz", "zzzzzzzz\x00", "Σας"}
	word := rapid.SampledFrom(words)
	names := rapid.Custom(func(t *rapid.T) []string {
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return strings.TrimSpace(strings.Join(rapid.SliceOfN(word, 1, 4).Draw(t, "words"), " "))
		}), 1, 3).Draw(t, "names")
	})
	rapid.Check(t, func(t *rapid.T) {
		one := entities.NewNameIndex()
		batches := []*entities.NameBatch{{}}
		ids := rapid.IntRange(0, 60).Draw(t, "records")
		for i := range ids {
			id, changed := fmt.Sprintf("id-%02d", i*37%61), time.Unix(int64(i%5), 0)
			kind, list := rapid.SampledFrom([]string{"", "person"}).Draw(t, "kind"), names.Draw(t, "names")
			record := entities.NameRecord{ID: id, Kind: kind, Changed: changed, Hidden: i%11 == 3}
			one.Put(record, list...)
			var folded []entities.Name
			for _, name := range list {
				folded = append(folded, entities.Name{Text: name, Fold: entities.Fold(name)})
			}
			if i%7 == 6 {
				batches = append(batches, new(entities.NameBatch))
			}
			batches[len(batches)-1].Add(record, folded)
		}
		loaded := entities.LoadNames(batches)
		compareIndexes(t, one, loaded, words)
		for i := range rapid.IntRange(0, 20).Draw(t, "changes") {
			id, list := fmt.Sprintf("id-%02d", rapid.IntRange(0, 70).Draw(t, "id")), names.Draw(t, "names")
			for _, x := range []*entities.NameIndex{one, loaded} {
				if i%3 == 0 {
					x.Delete(id)
				} else {
					x.Put(entities.NameRecord{ID: id, Changed: time.Unix(9, 0)}, list...)
				}
			}
		}
		compareIndexes(t, one, loaded, words)
	})
}

func compareIndexes(t *rapid.T, a, b *entities.NameIndex, typed []string) {
	t.Helper()
	for _, text := range append(typed, "al", "alphabet ", "日", "zzzz", "alpha be") {
		for _, limit := range []int{3, 1000} {
			for _, kinds := range [][]string{nil, {"person"}, {"person", ""}, {"no such"}} {
				if diff := gocmp.Diff(a.Complete(text, kinds, limit), b.Complete(text, kinds, limit)); diff != "" {
					t.Fatalf("%q finds differently:\n%s", text, diff)
				}
			}
		}
		fold := entities.Fold(text)
		if diff := gocmp.Diff(a.Exact(fold), b.Exact(fold)); diff != "" {
			t.Fatalf("exactly %q differs:\n%s", fold, diff)
		}
		wholeA, beginsA := a.Match(fold)
		wholeB, beginsB := b.Match(fold)
		if wholeA != wholeB || beginsA != beginsB {
			t.Fatalf("%q matches %v %v and %v %v", fold, wholeA, beginsA, wholeB, beginsB)
		}
	}
}

// TestManyNames makes an index large enough that its lists are split, and takes it
// apart again.
func TestManyNames(t *testing.T) {
	x := entities.NewNameIndex()
	const n = 2000
	for i := range n {
		x.Put(entities.NameRecord{ID: fmt.Sprintf("id-%d", i*7919%n), Changed: time.Unix(1, 0)}, fmt.Sprintf("Name number %d", i*7919%n))
	}
	for i := range n {
		if ids := x.Exact(fmt.Sprintf("name number %d", i)); len(ids) != 1 || ids[0] != fmt.Sprintf("id-%d", i) {
			t.Fatalf("%d is found as %v", i, ids)
		}
	}
	for i, hit := range x.Complete("number 19", nil, 112) {
		// 19, 190 to 199 and 1900 to 1999; after those, names that only hold the letters.
		if strings.HasPrefix(hit.Name, "Name number 19") != (i < 111) {
			t.Errorf("place %d is %q", i, hit.Name)
		}
	}
	for i := range n {
		x.Delete(fmt.Sprintf("id-%d", i*104729%n))
	}
	if hits := x.Complete("", nil, n); len(hits) != 0 || x.HasPrefix("") {
		t.Errorf("%d names are left", len(hits))
	}
}
