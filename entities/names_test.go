package entities_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities"
)

func index(names ...string) *entities.NameIndex {
	x := entities.NewNameIndex()
	for i, n := range names {
		x.Put(fmt.Sprintf("%02d", i), "", time.Unix(int64(i), 0), strings.Split(n, "|")...)
	}
	return x
}

func all(string, string) bool { return true }

func titles(hits []entities.Hit) []string {
	out := []string{}
	for _, h := range hits {
		out = append(out, h.Name)
	}
	return out
}

func TestCompletionTiers(t *testing.T) {
	x := index("Project Alpha", "Alpha Project", "My pro tips", "improvement", "Parrot", "Alias Holder|Prologue", "project beta", "Zürich", "東京メモ", "Straße")
	for _, c := range []struct {
		typed string
		want  []string
	}{
		{"pro", []string{"project beta", "Project Alpha", "Prologue", "My pro tips", "Alpha Project", "improvement", "Parrot"}},
		{"PROJECT A", []string{"Project Alpha", "project beta"}},
		{"zür", []string{"Zürich"}},
		{"ZU\u0308R", []string{"Zürich"}},
		{"京", []string{"東京メモ"}},
		{"strasse", []string{"Straße"}},
		{"prjct", []string{"project beta", "Alpha Project", "Project Alpha"}},
		{"qqq", []string{}},
		{"pt", []string{}},
	} {
		if diff := gocmp.Diff(c.want, titles(x.Complete(c.typed, 9, all))); diff != "" {
			t.Errorf("%q:\n%s", c.typed, diff)
		}
	}
	if got := titles(x.Complete("", 3, all)); !slices.Equal(got, []string{"Straße", "東京メモ", "Zürich"}) {
		t.Errorf("nothing typed: %v", got)
	}
}

func TestCompletionRangesAreUTF16(t *testing.T) {
	for _, c := range []struct {
		name, typed string
		want        [][2]int
	}{
		{"Project", "pro", [][2]int{{0, 3}}},
		{"𝄞 Project", "pro", [][2]int{{3, 6}}},
		{"Alpha Project", "pro", [][2]int{{6, 9}}},
		{"Straße", "strass", [][2]int{{0, 5}}},
		{"Cafe\u0301 X", "café", [][2]int{{0, 5}}},
		{"improve", "pro", [][2]int{{2, 5}}},
		{"parrot", "pro", [][2]int{{0, 1}, {2, 3}, {4, 5}}},
		{"İstanbul", "stan", [][2]int{{1, 5}}},
		{"x", "", [][2]int{}},
	} {
		hits := index(c.name).Complete(c.typed, 1, all)
		if len(hits) != 1 {
			t.Errorf("%q is not found by %q", c.name, c.typed)
		} else if diff := gocmp.Diff(c.want, hits[0].Match); diff != "" {
			t.Errorf("%q by %q:\n%s", c.name, c.typed, diff)
		}
	}
}

// TestNamesAgainstAPlainModel changes an index at random and compares what it
// finds with a look at every name.
func TestNamesAgainstAPlainModel(t *testing.T) {
	word := rapid.SampledFrom([]string{"alpha", "Alp", "be ta", "Ünï", "日本", "al-pha", "a", ""})
	rapid.Check(t, func(t *rapid.T) {
		x, model := entities.NewNameIndex(), map[string]string{}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			id := rapid.SampledFrom([]string{"1", "2", "3", "4", "5"}).Draw(t, "id")
			if rapid.IntRange(0, 3).Draw(t, "op") == 0 {
				x.Delete(id)
				delete(model, id)
				continue
			}
			name := strings.TrimSpace(word.Draw(t, "a")+" "+word.Draw(t, "b")) + "."
			x.Put(id, "", time.Unix(1, 0), name)
			model[id] = name
		}
		typed := word.Draw(t, "typed")
		fold := entities.Fold(typed)
		var want []string
		for id, name := range model {
			if strings.HasPrefix(entities.Fold(name), fold) {
				want = append(want, id)
			}
		}
		slices.SortFunc(want, func(a, b string) int {
			return cmp.Or(entities.CompareNatural(model[a], model[b]), strings.Compare(a, b))
		})
		got := []string{}
		for _, h := range x.Complete(typed, len(want), all) {
			got = append(got, h.ID)
		}
		if !slices.Equal(got, append([]string{}, want...)) {
			t.Fatalf("%q finds %v of %v, want %v", typed, got, model, want)
		}
		if x.HasPrefix(fold) != (len(want) > 0) {
			t.Fatalf("HasPrefix(%q) is wrong for %v", fold, model)
		}
		for id, name := range model {
			if !slices.Contains(x.Exact(entities.Fold(name)), id) {
				t.Fatalf("%q is not found exactly", name)
			}
		}
	})
}

func TestWQL4_NaturalOrder(t *testing.T) {
	want := []string{"", "10", "item 2", "Item 9", "item 9", "Item 10", "item 010b", "Item 99999999999999999999999", "Zebra", "zebra", "Äpfel"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, entities.CompareNatural)
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFold(t *testing.T) {
	for _, c := range [][2]string{{"ABC", "abc"}, {"Straße", "STRASSE"}, {"é", "E\u0301"}, {"Aé", "aÉ"}, {"ΣΑΣ", "σας"}} {
		if entities.Fold(c[0]) != entities.Fold(c[1]) {
			t.Errorf("%q and %q fold to %q and %q", c[0], c[1], entities.Fold(c[0]), entities.Fold(c[1]))
		}
	}
}
