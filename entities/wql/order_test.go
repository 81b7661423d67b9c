package wql_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/wql"
)

// TestWQL4_OrderIsThatOfEntities: whether rows come from an index, a sort or
// the store's own order, names stand as entities.CompareEntities has them, and
// a page is the same as that part of the whole.
func TestWQL4_OrderIsThatOfEntities(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := open(t, wql.Options{})
		w.declare(typeOf("Thing"), typeOf("Other"))
		name := rapid.StringMatching(`[aAbßéÉ0179 ]{1,6}`).Filter(func(s string) bool { return len([]rune(s)) > 0 && s != "" })
		var list []entities.Entity
		n := rapid.IntRange(1, 30).Draw(rt, "n")
		if rapid.IntRange(0, 9).Draw(rt, "large") == 0 {
			n = 700 // more than a ranking holds
		}
		for i := range n {
			list = append(list, e("Thing", fmt.Sprintf("t%d", i), "x"+name.Draw(rt, "name"), entities.Values{"team": "one", "n": float64(i % 7)}))
		}
		w.put(list...)
		want := slices.Clone(list)
		for i := range want {
			want[i] = *w.store.Get(want[i].ID)
		}
		slices.SortFunc(want, func(a, b entities.Entity) int { return entities.CompareEntities(&a, &b) })
		offset, limit := rapid.IntRange(0, n).Draw(rt, "offset"), rapid.IntRange(1, 20).Draw(rt, "limit")
		for _, tail := range []string{"", " WHERE x.id != 'none'", " WHERE x.team = 'one'", " ORDER BY x.name", " ORDER BY x.team, name", ", Other", ", Other WHERE x.team = 'one'"} {
			text := "SELECT x FROM Thing" + tail
			r, err := w.query(fmt.Sprintf("%s LIMIT %d OFFSET %d", text, limit, offset), "")
			if err != nil {
				rt.Fatal(err)
			}
			page := want[offset:min(offset+limit, n)]
			if len(r.Rows) != len(page) || r.Total != n || r.Truncated != (offset+len(page) < n) {
				rt.Fatalf("%s: %d rows of %d, truncated %v; want %d of %d", text, len(r.Rows), r.Total, r.Truncated, len(page), n)
			}
			for i, row := range r.Rows {
				if row.ID != page[i].ID {
					rt.Fatalf("%s: row %d is %q, want %q", text, i, row.Name, page[i].Name)
				}
			}
		}
	})
}

// TestWQL4_FirstOfMany: the first rows are found among many that come in no
// order, although only a few are held.
func TestWQL4_FirstOfMany(t *testing.T) {
	w := open(t, wql.Options{})
	w.declare(typeOf("Thing"))
	const n = 3001
	list := things(n)
	byN := make([]string, n)
	for i := range list {
		at := i * 1009 % n
		list[i].Fields["n"] = float64(at)
		byN[at] = list[i].ID
	}
	w.put(list...)
	for _, offset := range []int{0, 3, 500, 2998} {
		r, err := w.query(fmt.Sprintf("SELECT t FROM Thing ORDER BY t.n LIMIT 5 OFFSET %d", offset), "")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, row := range r.Rows {
			got = append(got, row.ID)
		}
		if want := byN[offset:min(offset+5, n)]; !slices.Equal(got, want) {
			t.Errorf("offset %d: %v, want %v", offset, got, want)
		}
	}
}

// TestWQL5_SumTooLarge: what no number can hold is an error and never Inf.
func TestWQL5_SumTooLarge(t *testing.T) {
	w := open(t, wql.Options{})
	w.declare(typeOf("Thing"))
	w.put(e("Thing", "a", "a", entities.Values{"n": 1.7e308}), e("Thing", "b", "b", entities.Values{"n": 1.7e308}))
	if got := show(w.query("SELECT SUM(t.n) FROM Thing", "")); got != "error: the sum is larger than a number can be" {
		t.Error(got)
	}
}

// TestWQL4_OrderOfLongTexts: texts of which only the beginning has a key are in
// natural order too, wherever the key ends: in a number, in a letter, before an
// accent.
func TestWQL4_OrderOfLongTexts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := open(t, wql.Options{})
		w.declare(typeOf("Thing"))
		unit := rapid.SampledFrom([]string{"a", "A", "é", "7", "ab1", "ß", "日", "e\u0301"}).Draw(rt, "unit")
		var list []entities.Entity
		for i := range 30 {
			text := strings.Repeat(unit, (240+rapid.IntRange(0, 30).Draw(rt, "length"))/len(unit)) +
				rapid.StringMatching("[aA019é\u0301 ]{0,12}").Draw(rt, "tail")
			list = append(list, e("Thing", fmt.Sprintf("t%02d", i), "x", entities.Values{"s": text}))
		}
		w.put(list...)
		slices.SortFunc(list, func(a, b entities.Entity) int {
			return cmp.Or(entities.CompareNatural(norm.NFC.String(a.Fields["s"].(string)), norm.NFC.String(b.Fields["s"].(string))), strings.Compare(a.ID, b.ID))
		})
		want := ""
		for _, e := range list {
			want += " " + e.ID
		}
		if got := show(w.query("SELECT x FROM Thing ORDER BY x.s", "")); got != want[1:] {
			rt.Fatalf("%s\nwant %s", got, want[1:])
		}
	})
}
