package wql_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
)

// TestWQL3_ThreeValuedLogic checks AND, OR and NOT over TRUE, FALSE and UNKNOWN
// against Kleene's tables: each condition, its negation, and whether either
// holds tell the three apart.
func TestWQL3_ThreeValuedLogic(t *testing.T) {
	w := open(t, wql.Options{})
	w.declare(entities.Type{Name: "T", Fields: []entities.Field{{Name: "n", Type: record.Number}, {Name: "gap", Type: record.Number}}})
	w.put(e("T", "t", "t", entities.Values{"n": 1.0}))
	const (
		f = iota
		u
		y
	)
	atoms := []string{f: "x.n = 2", u: "x.gap = 2", y: "x.n = 1"}
	value := func(cond string) int {
		is := show(w.query("SELECT x FROM T WHERE "+cond, ""))
		not := show(w.query("SELECT x FROM T WHERE NOT ("+cond+")", ""))
		twice := show(w.query("SELECT x FROM T WHERE NOT NOT ("+cond+")", ""))
		if is != twice {
			t.Errorf("%s gives %s, twice negated %s", cond, is, twice)
		}
		switch {
		case is == "t" && not == "none":
			return y
		case is == "none" && not == "t":
			return f
		case is == "none" && not == "none":
			return u
		}
		t.Fatalf("%s gives %s and negated %s", cond, is, not)
		return 0
	}
	for a := f; a <= y; a++ {
		if got := value(atoms[a]); got != a {
			t.Fatalf("%s is %d, want %d", atoms[a], got, a)
		}
		if got := value("NOT " + atoms[a]); got != y-a {
			t.Errorf("NOT %d is %d", a, got)
		}
		for b := f; b <= y; b++ {
			for c := f; c <= y; c++ {
				for text, want := range map[string]int{
					"%s AND %s AND %s":          min(a, b, c),
					"%s OR %s OR %s":            max(a, b, c),
					"%s AND %s OR %s":           max(min(a, b), c),
					"%s AND (%s OR %s)":         min(a, max(b, c)),
					"NOT (%s AND %s) OR %s":     max(y-min(a, b), c),
					"NOT (%s OR NOT %s) AND %s": min(y-max(a, y-b), c),
				} {
					if got := value(fmt.Sprintf(text, atoms[a], atoms[b], atoms[c])); got != want {
						t.Errorf(text+" is %d, want %d", atoms[a], atoms[b], atoms[c], got, want)
					}
				}
			}
		}
	}
	// Every operator is UNKNOWN of a missing field, except IS NULL and !=.
	for _, cond := range []string{
		"x.gap = 1", "x.gap < 1", "x.gap <= 1", "x.gap > 1", "x.gap >= 1", "x.gap IN (1, 2)", "x.gap NOT IN (1)", "x.n IN (2, null)",
		"x.gap CONTAINS 'a'", "x.gap NOT CONTAINS 'a'", "x.gap LIKE 'a'", "x.gap NOT LIKE 'a'", "x.gap STARTS WITH 'a'",
		"x.gap BETWEEN 1 AND 2", "x.gap NOT BETWEEN 1 AND 2", "x.n BETWEEN 1 AND x.gap", "x.n = null", "x.n != null", "x.n = 'text'", "x.n != 'text'",
	} {
		if got := value(cond); got != u {
			t.Errorf("%s is %d, want UNKNOWN", cond, got)
		}
	}
	for cond, want := range map[string]int{
		"x.gap != 1": y, "x.gap <> x.n": y, "x.n != 1": f, "x.n != 2": y, "x.gap IS NULL": y, "x.gap IS NOT NULL": f, "x.n IS NULL": f,
		"x.n BETWEEN 2 AND x.gap": f, "x.n IN (1, null)": y,
	} {
		if got := value(cond); got != want {
			t.Errorf("%s is %d, want %d", cond, got, want)
		}
	}
}

// TestWQL7_ProgramIsBounded checks what WHERE becomes: calls of the fixed
// functions with numbers, && and ||, whatever the query holds.
func TestWQL7_ProgramIsBounded(t *testing.T) {
	w := company(t, wql.Options{})
	r, err := w.wql.Query(t.Context(), `SELECT p FROM Person WHERE NOT (p.name = '$env' OR p.role LIKE 'repeat("a", 9)%')
		AND p.age NOT IN (1, 2) AND (p.team.name != 'all(1..9, true)' OR lower(p.code) = 'x') AND p.born BETWEEN '1990-01-01' AND today()`,
		wql.QueryOptions{Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	const want = "(differs(0, 1) && unlike(2, 3)) && noneOf(4, 0) && (ne(7, 8) || eq(10, 11)) && (ge(12, 13) && le(12, 14))"
	if r.Plan.Program != want {
		t.Errorf("program\n got %s\nwant %s", r.Plan.Program, want)
	}
	if got := strings.Join(r.Plan.Slots, "; "); !strings.Contains(got, "10 = lower(code)") || !strings.Contains(got, "14 = today()") {
		t.Errorf("slots: %s", got)
	}
	if r.Plan.Access != wql.AccessRange || r.Plan.RowsExamined != 2 || r.Plan.CachedProgram {
		t.Errorf("plan: %+v", r.Plan)
	}
}
