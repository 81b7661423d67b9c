package names_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities/names"
)

func index(all ...string) *names.Index {
	x := names.New()
	for i, n := range all {
		x.Put(names.Record{ID: fmt.Sprintf("%02d", i), Changed: time.Unix(int64(i), 0)}, strings.Split(n, "|")...)
	}
	return x
}

func titles(hits []names.Hit) []string {
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
		if diff := gocmp.Diff(c.want, titles(x.Complete(c.typed, nil, 9, false))); diff != "" {
			t.Errorf("%q:\n%s", c.typed, diff)
		}
	}
	if got := titles(x.Complete("", nil, 3, false)); !slices.Equal(got, []string{"Straße", "東京メモ", "Zürich"}) {
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
		hits := index(c.name).Complete(c.typed, nil, 1, false)
		if len(hits) != 1 {
			t.Errorf("%q is not found by %q", c.name, c.typed)
		} else if diff := gocmp.Diff(c.want, hits[0].Match); diff != "" {
			t.Errorf("%q by %q:\n%s", c.name, c.typed, diff)
		}
	}
}
