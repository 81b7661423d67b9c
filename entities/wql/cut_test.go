package wql_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
)

// TestWQL6_AComputedListIsWholeInsideAQuery has more rows in computed lists than are returned
// unless asked for: inside another query they count all the same, and outside they are cut
// as ever, whichever is asked for first.
func TestWQL6_AComputedListIsWholeInsideAQuery(t *testing.T) {
	const people = wql.DefaultRows + 60
	members := computedField("members", "SELECT p FROM Person WHERE p.team = {this}")
	for _, shownFirst := range []bool{false, true} {
		w := open(t, wql.Options{})
		w.declare(
			entities.Type{Name: "Person", Fields: []entities.Field{{Name: "team", Type: record.EntityRef, TargetType: "Team"}}},
			entities.Type{Name: "Team", Fields: []entities.Field{
				members, computedField("ten", "SELECT p FROM Person WHERE p.team = {this} LIMIT 10"),
				computedField("many", "SELECT p FROM Person WHERE p.team = {this} LIMIT 230 OFFSET 5"),
				computedField("size", "SELECT COUNT(p.team.members) FROM Person WHERE p.id = 'p1'"),
			}},
		)
		list := []entities.Entity{e("Team", "all", "All", nil), e("Team", "none", "None", nil)}
		for i := range people {
			list = append(list, e("Person", fmt.Sprint("p", i), fmt.Sprint("Person ", i), entities.Values{"team": "all"}))
		}
		w.put(list...)
		shown := func() {
			t.Helper()
			r, err := w.wql.Computed(context.Background(), w.store.Get("all"), members)
			if err != nil || len(r.Rows) != wql.DefaultRows || r.Total != people || !r.Truncated {
				t.Errorf("the list shows %d rows of %d (truncated %v, %v)", len(r.Rows), r.Total, r.Truncated, err)
			}
		}
		if shownFirst {
			shown()
		}
		last := fmt.Sprint("p", people-1)
		for text, want := range map[string]string{
			"SELECT COUNT(t.members) FROM Team t":                              "= 260",
			"SELECT COUNT(t.members.name) FROM Team t":                         "= 260",
			"SELECT COUNT(t.ten) FROM Team t":                                  "= 10",
			"SELECT COUNT(t.many) FROM Team t":                                 "= 230",
			"SELECT SUM(t.size) FROM Team t WHERE t.id = 'all'":                "= 260",
			"SELECT t FROM Team t WHERE length(t.members) = 260":               "all",
			"SELECT t FROM Team t WHERE t.members CONTAINS '" + last + "'":     "all",
			"SELECT t FROM Team t WHERE t.members.name = 'Person 259'":         "all",
			"SELECT t FROM Team t WHERE t.ten CONTAINS '" + last + "'":         "none",
			"SELECT t FROM Team t WHERE NOT t.members CONTAINS '" + last + "'": "none",
		} {
			if got := show(w.query(text, "")); got != want {
				t.Errorf("%s gives %s, want %s", text, got, want)
			}
		}
		shown()
		w.archive("p7")
		if got := show(w.query("SELECT COUNT(t.members) FROM Team t", "")); got != "= 259" {
			t.Errorf("without one of them there are %s", got)
		}
	}
}

// TestWQL6_AListThatIsTooLongInsideAQueryIsSaidSo has a computed list of more entities than
// a query looks at for one row.
func TestWQL6_AListThatIsTooLongInsideAQueryIsSaidSo(t *testing.T) {
	if testing.Short() {
		t.Skip("100,001 entities")
	}
	w := open(t, wql.Options{})
	w.declare(typeOf("Thing"), entities.Type{Name: "Hub", Fields: []entities.Field{
		computedField("all", "SELECT t FROM Thing"), computedField("some", "SELECT t FROM Thing LIMIT 50000"),
	}})
	list := []entities.Entity{e("Hub", "h", "The hub", nil)}
	for i := range 100_001 {
		list = append(list, e("Thing", fmt.Sprint("t", i), "x", nil))
	}
	w.put(list...)
	got := show(w.query("SELECT COUNT(h.all) FROM Hub h", ""))
	if want := "error: the computed field all gives more than 100000 entities"; got != want {
		t.Errorf("it gives %s, want %s", got, want)
	}
	if got := show(w.query("SELECT COUNT(h.some) FROM Hub h", "")); got != "= 50000" {
		t.Errorf("of 50000 there are %s", got)
	}
}
