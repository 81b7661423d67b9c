package entities_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities"
)

func index(names ...string) *entities.NameIndex {
	x := entities.NewNameIndex()
	for i, n := range names {
		x.Put(entities.NameRecord{ID: fmt.Sprintf("%02d", i), Changed: time.Unix(int64(i), 0)}, strings.Split(n, "|")...)
	}
	return x
}

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
		if diff := gocmp.Diff(c.want, titles(x.Complete(c.typed, nil, 9))); diff != "" {
			t.Errorf("%q:\n%s", c.typed, diff)
		}
	}
	if got := titles(x.Complete("", nil, 3)); !slices.Equal(got, []string{"Straße", "東京メモ", "Zürich"}) {
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
		hits := index(c.name).Complete(c.typed, nil, 1)
		if len(hits) != 1 {
			t.Errorf("%q is not found by %q", c.name, c.typed)
		} else if diff := gocmp.Diff(c.want, hits[0].Match); diff != "" {
			t.Errorf("%q by %q:\n%s", c.name, c.typed, diff)
		}
	}
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
