package wql_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/entities/wql/syntax"
)

var update = flag.Bool("update", false, "write the golden files")

// mistakes are texts with something to say about them, each a golden entry.
var mistakes = []string{
	"",
	"   ",
	"SELEC p FROM Person",
	"SELECT FROM Person",
	"SELECT p.name FROM Person",
	"SELECT p, q FROM Person",
	"SELECT p.name, p.role FROM Person p WHERE p.age > 3\n  ORDER BY p.age LIMIT 3;",
	"SELECT name, role FROM Person WHERE age > 3",
	"SELECT p, name FROM Person WHERE p.age > 3",
	"SELECT COUNT(*), AVG(p.age) FROM Person p WHERE p.active = true",
	"SELECT team, COUNT(*) FROM Person GROUP BY team",
	"SELECT COUNT(*), team",
	"SELECT SUM(p.age), MAX(p.age) FROM Person WHERE p.name = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'",
	"SELECT DISTINCT team FROM Person WHERE age > 3",
	"SELECT DISTINCT p.team FROM Person p",
	"SELECT team FROM Person WHERE team.role = 'x'",
	"SELECT name FROM Person WHERE age > 3",
	"SELECT role FROM Person p WHERE p.age > 3",
	"SELECT DISTINCT p FROM Person",
	"SELECT DISTINCT team FROM Person team WHERE age > 3",
	"SELECT COUNT(DISTINCT p.age) FROM Person",
	"SELECT TOTAL(p.age) FROM Person",
	"SELECT p FROM",
	"SELECT p FROM Persn",
	"SELECT p FROM Person, Teem, OKRs",
	"SELECT p FROM Person WHRE p.age = 1",
	"SELECT p FROM Person p WHRE p.agee = 1",
	"SELECT p FROM Person AS q WHERE p.age = 1",
	"SELECT p FROM Person WHERE p.agee = 1 AND p.rol = 'x' OR p.tem.name = 'y'",
	"SELECT p FROM Person WHERE q.age = 1 AND age.name = 2",
	"SELECT p FROM Person WHERE p.team.nme = 'x' AND p.role.name = 'y'",
	"SELECT p FROM Person WHERE p.mentor.nothing = 'x'",
	"SELECT p FROM Person\nWHERE p.age = \n  AND p.role LIKE\n  OR (p.name = 'x'\nORDER BY",
	"SELECT p FROM Person WHERE p.active AND NOT p.active OR p.age",
	"SELECT p FROM Person WHERE p.name = 'unclosed",
	"SELECT p FROM Person WHERE p.[unclosed = 1",
	"SELECT p FROM Person WHERE p.age = 1 && p.age = 2",
	"SELECT p FROM Person WHERE p.name = “x”",
	"SELECT p FROM Person WHERE p.level = junir AND p.level = 'Intern' AND p.level = Senior",
	"SELECT p FROM Person WHERE p.age = 'many' AND p.active = 1 AND p.born < 'soon' AND p.team = 7",
	"SELECT p FROM Person WHERE p.team = 'Engineering' AND p.knows CONTAINS 'bob' AND p.id IN ('carl', 'dora')",
	"SELECT p FROM Person WHERE p.team > 'x' OR p.skills < 'y'",
	"SELECT p FROM Person WHERE p.age = null OR p.age IN (1, null)",
	"SELECT p FROM Person WHERE p.born > 2026-01-31",
	"SELECT p FROM Person WHERE p.born > date('31.1.2026') OR p.born = today() - 7days OR p.born = 7d",
	"SELECT p FROM Person WHERE lenght(p.name) = 3 OR length() = 3 OR year(p.age) = 1",
	"SELECT p FROM Person WHERE p.age IN 1, 2",
	"SELECT p FROM Person WHERE p.age IN (1; 2)",
	"SELECT p FROM Person WHERE p.age BETWEEN 1, 2",
	"SELECT p FROM Person WHERE p.name CONTAIN 'x'",
	"SELECT p FROM Person WHERE p.skills CONTAINS ['3', '4'] AND p.skills = [go, chess] AND p.age IN ([3]) AND p.skills CONTAINS [go]",
	"SELECT p FROM Person WHERE p.skills CONTAINS ('3', '4')",
	"SELECT p FROM Person WHERE {that} = p.team OR {this = 1",
	"SELECT p FROM Person WHERE p.team = {this.citty}",
	"SELECT p FROM Person WHERE p.team = {this}.lead AND p.team = {this}.",
	"SELECT p FROM Person WHERE (p.age = 1))",
	"SELECT p FROM Person ORDER p.name",
	"SELECT p FROM Person ORDER BY p.name NULLS, p.nme DESC, 3",
	"SELECT p FROM Person LIMIT ten",
	"SELECT p FROM Person LIMIT 10, 20",
	"SELECT p FROM Person LIMIT -1",
	"SELECT p FROM Person OFFSET 3",
	"SELECT p FROM Person LIMIT 3 WHERE p.age = 1",
	"SELECT p FROM Person GROUP BY p.team",
	"SELECT p FROM Person JOIN Team",
	"SELECT COUNT(*) FROM Person ORDER BY p.name LIMIT 3",
	"SELECT p FROM Person WHERE p.name = '🙂🙂' AND p.oops = 1",
	"SELECT p FROM Person WHERE p.名前 = '日本語' AND p.oops = 1",
	"SELECT p FROM Person WHERE p.name = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' AND p.oops = 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'",
	"\tSELECT p FROM Person WHERE\tp.oops = 1",
}

// TestWQL4_WhatAHintSaysToWriteIsAQuery takes from the hints for several things behind SELECT
// what is to be written instead: it is free of errors, and of hints of that kind.
func TestWQL4_WhatAHintSaysToWriteIsAQuery(t *testing.T) {
	w := company(t, wql.Options{})
	tried := 0
	for _, text := range mistakes {
		for _, d := range w.wql.Check(text, "Person") {
			_, written, ok := strings.Cut(d.Hint, "write a query for each: ")
			if !ok {
				_, written, ok = strings.Cut(d.Hint, "write ")
				var whole, apart bool
				written, _, whole = strings.Cut(written, " for whole entities")
				written, _, apart = strings.Cut(written, " with a condition for each value")
				ok = ok && (whole || apart)
			}
			if !ok || strings.Contains(written, "…") || !strings.Contains(text, " FROM ") {
				continue
			}
			for _, instead := range strings.Split(written, "; ") {
				tried++
				for _, found := range w.wql.Check(instead, "Person") {
					t.Errorf("for %s it says to write %s: %s", text, instead, found.Message)
				}
			}
		}
	}
	if tried < 12 {
		t.Errorf("%d queries were tried", tried)
	}
}

// TestWQL4_Diagnostics compares everything that is said about the mistakes with
// testdata/diagnostics.golden.
func TestWQL4_Diagnostics(t *testing.T) {
	w := company(t, wql.Options{})
	var b strings.Builder
	for _, text := range mistakes {
		fmt.Fprintf(&b, "=== %s\n", strings.ReplaceAll(text, "\n", "\n    "))
		found := w.wql.Check(text, "Person")
		for _, d := range found {
			fmt.Fprintf(&b, "%d:%d %s: %s\n", d.Line, d.Column, d.Severity, d.Message)
			for _, line := range strings.Split(d.Source, "\n") {
				fmt.Fprintf(&b, "    | %s\n", line)
			}
			fmt.Fprintf(&b, "    Try: %s\n", d.Hint)
		}
		// A query fails with the first of the errors, and only then.
		_, err := w.query(text, "alice")
		var first *syntax.Diagnostic
		for i := range found {
			if found[i].Severity == record.SeverityError {
				first = &found[i]
				break
			}
		}
		var f *fault.Error
		if err != nil {
			f = err.(*fault.Error)
		}
		switch {
		case first == nil && err != nil:
			t.Errorf("%s: no error is found, but it fails: %v", text, err)
		case first != nil && (f == nil || f.Kind != fault.Query || f.Line != first.Line || f.Column != first.Column || f.Msg != first.Message || f.Hint == ""):
			t.Errorf("%s: fails with %+v, check says %+v", text, f, first)
		}
	}
	const file = "testdata/diagnostics.golden"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		got, have := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
		for i := range got {
			if i >= len(have) || got[i] != have[i] {
				t.Fatalf("line %d of %s: got %q (run with -update to accept)", i+1, file, got[i])
			}
		}
		t.Fatalf("%s is longer", file)
	}
}

// TestWQL4_ColumnsAreUTF16 checks places behind wide characters.
func TestWQL4_ColumnsAreUTF16(t *testing.T) {
	w := company(t, wql.Options{})
	for text, want := range map[string][2]int{
		"SELECT p FROM Person WHERE p.name = '🙂🙂' AND p.oops = 1": {1, 50},
		"SELECT p FROM Person WHERE p.name = 'äö' AND p.oops = 1": {1, 48},
		"SELECT p\nFROM Person -- 🙂\nWHERE oops = 1":              {3, 7},
		"SELECT p\r\nFROM Person\r\nWHERE oops = 1":               {3, 7},
	} {
		found := w.wql.Check(text, "")
		if len(found) != 1 || found[0].Line != want[0] || found[0].Column != want[1] {
			t.Errorf("%q: %+v, want %v", text, found, want)
		}
	}
}

// TestWQL4_UndeclaredTypesWarn: a type may be declared before those it asks
// about, and its own fields count while it is checked.
func TestWQL4_UndeclaredTypesWarn(t *testing.T) {
	w := open(t, wql.Options{})
	computed := func(query string) entities.Type {
		return entities.Type{Name: "Team", Fields: []entities.Field{
			{Name: "city", Type: record.Text},
			{Name: "people", Type: record.Computed, Query: query},
		}}
	}
	put := func(query string) ([]entities.Diagnostic, error) {
		_, found, err := w.store.PutType(context.Background(), computed(query), nil, false)
		return found, err
	}
	found, err := put("SELECT p FROM Person WHERE p.team = {this} AND p.city = {this.city}")
	if err != nil || len(found) != 1 || found[0].Severity != record.SeverityWarning || found[0].Field != "people" {
		t.Errorf("undeclared type: %+v, %v", found, err)
	}
	_, err = put("SELECT p FROM Person WHERE p.city = {this.citty}")
	if fault.KindOf(err) != fault.Query {
		t.Errorf("an unknown field of this: %v", err)
	}
	_, err = put("SELECT p FROM Team WHERE p.city = {this.city} AND")
	if fault.KindOf(err) != fault.Query {
		t.Errorf("a syntax error: %v", err)
	}
	found, err = put("SELECT p FROM Team WHERE p.city = {this.city}")
	if err != nil || len(found) != 0 {
		t.Errorf("a type about itself: %+v, %v", found, err)
	}
	_, err = put("SELECT p FROM Team WHERE p.people = {this}")
	if fault.KindOf(err) != fault.Query || !strings.Contains(err.Error(), "Team.people → Team.people") {
		t.Errorf("a field that needs itself: %v", err)
	}
}

// TestWQL2_CheckWithoutThis: the text of a computed field can be checked
// without saying what this is.
func TestWQL2_CheckWithoutThis(t *testing.T) {
	w := company(t, wql.Options{})
	found := w.wql.Check("SELECT p FROM Person WHERE p.team = {this} AND p.age = {this.whatever}", "")
	for _, d := range found {
		if d.Severity != record.SeverityWarning {
			t.Errorf("%+v", d)
		}
	}
	if len(found) == 0 {
		t.Error("nothing was said")
	}
	found = w.wql.Check("SELECT p FROM Person WHERE p.team = {this}", "Team")
	if len(found) != 0 {
		t.Errorf("with a type: %+v", found)
	}
	found = w.wql.Check("SELECT p FROM Person", "Teem")
	if len(found) != 1 || found[0].Severity != record.SeverityError {
		t.Errorf("unknown type of this: %+v", found)
	}
}
