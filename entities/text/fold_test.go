package text_test

import (
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities/text"
)

func TestWQL4_NaturalOrder(t *testing.T) {
	want := []string{"", "10", "item 2", "Item 9", "item 9", "Item 10", "item 010b", "Item 99999999999999999999999", "Zebra", "zebra", "Äpfel"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, text.CompareNatural)
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestWQL4_ComparedAsFolded compares names with what their folds say, for letters whose
// fold changes what stands beside them too.
func TestWQL4_ComparedAsFolded(t *testing.T) {
	pieces := []string{"a", "A", "b", "Z", "[", "_", "0", "1", "9", "10", "007", " ", "é", "E\u0301", "\u0301", "ß", "Σ", "K"}
	name := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 5).Draw(t, "pieces"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := name.Draw(t, "a"), name.Draw(t, "b")
		want := text.CompareNatural(text.Fold(a), text.Fold(b))
		if want == 0 {
			want = strings.Compare(a, b)
		}
		if got := text.CompareNatural(a, b); got != want {
			t.Fatalf("%q and %q compare as %d, their folds as %d", a, b, got, want)
		}
		if got := text.CompareNatural(b, a); got != -want {
			t.Fatalf("%q and %q compare as %d, the other way round as %d", b, a, got, want)
		}
	})
}

// TestPERF6_ComparedWithoutMemory holds the way that searches order equals by.
func TestPERF6_ComparedWithoutMemory(t *testing.T) {
	allocs := testing.AllocsPerRun(100, func() { text.CompareNatural("Note Number 10", "note number 9") })
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func TestFold(t *testing.T) {
	for _, c := range [][2]string{{"ABC", "abc"}, {"Straße", "STRASSE"}, {"é", "E\u0301"}, {"Aé", "aÉ"}, {"ΣΑΣ", "σας"}} {
		if text.Fold(c[0]) != text.Fold(c[1]) {
			t.Errorf("%q and %q fold to %q and %q", c[0], c[1], text.Fold(c[0]), text.Fold(c[1]))
		}
	}
}

func TestAppendIsNameBehindWhatIsThere(t *testing.T) {
	for _, s := range []string{"", "abc", "ABC", "Aé", "é", "ΣΑΣ"} {
		if got := string(text.AppendFold([]byte("x/"), s)); got != "x/"+text.Fold(s) {
			t.Errorf("Append(x/, %q) = %q", s, got)
		}
	}
}
