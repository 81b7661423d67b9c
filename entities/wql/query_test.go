package wql_test

import (
	"testing"

	"github.com/ctxd/ctxd/entities/wql"
)

// golden is a query, the id of {this} and what it must give.
type golden struct{ query, this, want string }

func runGolden(t *testing.T, table []golden) {
	t.Helper()
	w := company(t, wql.Options{})
	for _, g := range table {
		t.Run(g.query, func(t *testing.T) {
			if got := show(w.query(g.query, g.this)); got != g.want {
				t.Errorf("with this = %q\n got %s\nwant %s", g.this, got, g.want)
			}
		})
	}
}

func TestWQL1_NamesAndQualifiers(t *testing.T) {
	runGolden(t, []golden{
		{"select P from PERSON where P.AGE = 29", "", "bob carl"},
		{"SELECT * FROM person WHERE age = 41", "", "alice"},
		{"SELECT p FROM Person p WHERE p.name = 'Bob'", "", "bob"},
		{"SELECT * FROM Person p WHERE p.name = 'Bob' AND name = 'Bob'", "", "bob"},
		{"SELECT c FROM Città WHERE c.GRÖSSE = 2", "", "w"},
		{"SELECT c FROM `città` c WHERE c.[größe] >= 2", "", "w"},
		{"SELECT p FROM Person WHERE p.[first name] = 'Alice'", "", "alice"},
		{"SELECT p FROM Person WHERE p.`First Name` IS NOT NULL", "", "alice"},
		{"SELECT p FROM Person WHERE p.level = senior", "", "dora"},
		{"SELECT p FROM Person WHERE p.name = p.[first name]", "", "alice"},
		{"SELECT p FROM Person WHERE name = role", "", "none"},
		{"SELECT p FROM Person WHERE p.id = 'bob'", "", "bob"},
		{"SELECT p FROM Person, Team WHERE p.type = 'team'", "", "eng ops"},
		{"SELECT p FROM Person WHERE p != {this} AND p.team = 'eng'", "bob", "alice"},
		{"SELECT p -- all of them\nFROM Person -- and more\nWHERE p.age > 40;", "", "alice"},
		{"SELECT p FROM Person WHERE q.age = 1", "", "error: q is neither the alias nor a field"},
		{"SELECT p FROM Person q WHERE q.age = 29", "", "error: p is not the alias"},
		{"SELECT p FROM Person WHERE p.createdAt = '2026-02-28' AND p.updatedAt >= today() AND p.age = 41", "", "alice"},
	})
}

func TestWQL2_This(t *testing.T) {
	runGolden(t, []golden{
		{"SELECT p FROM Person WHERE p.team = {this}", "eng", "alice bob"},
		{"SELECT p FROM Person WHERE {this} = p.team", "eng", "alice bob"},
		{"SELECT p FROM Person WHERE p.team = { this }", "ops", "dora"},
		{"SELECT p FROM Person WHERE p.team = {this.team} AND p.id != {this}", "alice", "bob"},
		{"SELECT p FROM Person WHERE p.team = {this.team}", "emil", "none"},
		{"SELECT p FROM Project WHERE p.members = {this}", "bob", "p1 p2"},
		{"SELECT p FROM Project WHERE p.members CONTAINS {this}", "bob", "p1 p2"},
		{"SELECT p FROM Project WHERE p.members != {this}", "bob", "p3 p4"},
		{"SELECT p FROM Project WHERE p.members NOT CONTAINS {this}", "bob", "p3"},
		{"SELECT p FROM Person WHERE p.age < {this.age}", "alice", "bob carl"},
		{"SELECT p FROM Person WHERE p.team = {this.lead.team}", "p1", "alice bob"},
		{"SELECT p FROM Person WHERE p IN ({this.members})", "p1", "alice bob"},
		{"SELECT p FROM Person WHERE p.team = {this}", "", "error: {this} has no meaning here"},
		{"SELECT p FROM Person WHERE p.team = {this.team}", "", "error: {this} has no meaning here"},
		{"SELECT p FROM Person WHERE p.age = {this.city}", "alice", "error: type Person has no field city"},
		{"SELECT p FROM Person", "nobody", `error: no entity with id "nobody"`},
	})
}

func TestWQL3_TypedComparison(t *testing.T) {
	runGolden(t, []golden{
		{"SELECT p FROM Person WHERE p.age > 9", "", "alice bob carl"},
		{"SELECT p FROM Person WHERE p.age = '29'", "", "bob carl"},
		{"SELECT p FROM Person WHERE p.age = 'many'", "", "none"},
		{"SELECT p FROM Person WHERE p.code > 9", "", "alice emil"}, // x9 is no number: NULL
		{"SELECT p FROM Person WHERE p.code = 10", "", "alice emil"},
		{"SELECT p FROM Person WHERE p.code != 10", "", "bob dora"}, // dora has none; x9 is NULL
		{"SELECT p FROM Person WHERE p.code < '9'", "", "alice emil"},
		{"SELECT p FROM Person WHERE p.active = true", "", "alice bob"},
		{"SELECT p FROM Person WHERE p.active != true", "", "carl dora emil"},
		{"SELECT p FROM Person WHERE NOT p.active = true", "", "carl"},
		{"SELECT p FROM Person WHERE p.born >= '1996-12-01'", "", "bob carl"},
		{"SELECT p FROM Person WHERE p.born > date('1996-12-01')", "", "carl"},
		{"SELECT p FROM Person WHERE p.level = 'JUNIOR'", "", "bob"},
		{"SELECT p FROM Person WHERE p.role = 'manager'", "", "none"},
		{"SELECT p FROM Person WHERE p.role = 'Cafe\u0301 owner'", "", "dora"},
		{"SELECT p FROM Person WHERE p.role CONTAINS 'Dev'", "", "bob carl"},
		{"SELECT p FROM Person WHERE p.role CONTAINS 'dev'", "", "none"},
		{"SELECT p FROM Person WHERE p.role CONTAINS '%'", "", "carl"},
		{"SELECT p FROM Person WHERE p.role STARTS WITH 'Dev'", "", "bob carl"},
		{"SELECT p FROM Person WHERE p.role NOT CONTAINS 'Dev'", "", "alice dora"},
		{"SELECT p FROM Person WHERE p.skills CONTAINS 'go'", "", "alice bob"},
		{"SELECT p FROM Person WHERE p.skills = 'sql'", "", "alice"},
		{"SELECT p FROM Person WHERE p.skills CONTAINS 'g'", "", "none"},
		{"SELECT p FROM Person WHERE p.skills STARTS WITH 'go'", "", "alice bob"},
		{"SELECT p FROM Person WHERE p.role LIKE 'dev%'", "", "bob carl"},
		{"SELECT p FROM Person WHERE p.role LIKE '%e_op%'", "", "bob carl"},
		{"SELECT p FROM Person WHERE p.role LIKE '%100\\%'", "", "carl"},
		{"SELECT p FROM Person WHERE p.role LIKE 'CAFÉ_______'", "", "none"},
		{"SELECT p FROM Person WHERE p.role LIKE 'CAFÉ______'", "", "dora"},
		{"SELECT p FROM Person WHERE p.role NOT LIKE '%e%'", "", "none"},
		{"SELECT p FROM Person WHERE p.age BETWEEN 29 AND 40", "", "bob carl"},
		{"SELECT p FROM Person WHERE p.age NOT BETWEEN 29 AND 40", "", "alice"},
		{"SELECT p FROM Person WHERE p.age IN (41, '29')", "", "alice bob carl"},
		{"SELECT p FROM Person WHERE p.level NOT IN ('junior')", "", "alice dora"},
		{"SELECT p FROM Person WHERE p.level IN ('junior', null)", "", "bob"},
		{"SELECT p FROM Person WHERE p.level NOT IN ('junior', null)", "", "none"},
		{"SELECT p FROM Person WHERE p.age IS NULL", "", "dora emil"},
		{"SELECT p FROM Person WHERE NOT p.age IS NULL", "", "alice bob carl"},
		{"SELECT p FROM Person WHERE p.age = null", "", "none"},
		{"SELECT p FROM Person WHERE p.age != null", "", "none"},
		{"SELECT p FROM Project p WHERE p.status != 'done'", "", "p3 p1 p4"},
		{"SELECT p FROM Project p WHERE NOT p.status = 'done'", "", "p1 p4"},
		{"SELECT p FROM Person WHERE p.team = '[[Ghost]]'", "", "carl"},
		{"SELECT p FROM Person WHERE p.team.name = 'Engineering'", "", "alice bob"},
		{"SELECT p FROM Person WHERE p.team.lead.name = 'dora'", "", "dora"},
		{"SELECT p FROM Person WHERE p.team.lead != 'dora'", "", "alice bob carl emil"},
		{"SELECT p FROM Person WHERE p.mentor.city = 'Wien'", "", "carl"}, // no targetType: the target's own
		{"SELECT p FROM Person WHERE p.mentor.age = 41", "", "bob"},
		{"SELECT p FROM Person WHERE p.knows.name = 'dora'", "", "alice"},
		{"SELECT p FROM Project WHERE p.members.team.name = 'Engineering'", "", "p1 p2"},
		{"SELECT p FROM Project WHERE p.members.team.name NOT IN ('Engineering')", "", "p3"},
	})
}

func TestWQL3_Dates(t *testing.T) {
	runGolden(t, []golden{
		{"SELECT p FROM Project WHERE p.due = today()", "", "p1"},
		{"SELECT p FROM Project WHERE p.due <= now()", "", "p3 p1"},
		{"SELECT p FROM Project WHERE p.due < today()", "", "p3"},
		{"SELECT p FROM Project WHERE p.due = today() + 7d", "", "p2"},
		{"SELECT p FROM Project WHERE p.due = today() + 1w", "", "p2"},
		{"SELECT p FROM Project WHERE p.due + 2m = date('2026-02-28')", "", "p3"}, // 31 December + 2 months
		{"SELECT p FROM Project WHERE p.due - 1y = date('2025-02-28')", "", "p1"},
		{"SELECT p FROM Project WHERE p.due BETWEEN today() - 90d AND today() + 1d", "", "p3 p1"},
		{"SELECT p FROM Project WHERE now() - 13h < p.due", "", "p1 p2"},
		{"SELECT p FROM Project WHERE p.due < today() + 100000000y", "", "none"},
		{"SELECT p FROM Project WHERE p.createdAt > now() - 1h AND p.createdAt < now() + 1h", "", "p3 p1 p2 p4"},
		{"SELECT p FROM Project WHERE p.createdAt = '2026-02-28T11:00:00Z' AND p.due IS NULL", "", "p4"},
		{"SELECT p FROM Project WHERE year(p.due) = 2026 AND month(p.due) = 3 AND day(p.due) = 7", "", "p2"},
		{"SELECT p FROM Project WHERE days_between(today(), p.due) = 7", "", "p2"},
		{"SELECT p FROM Project WHERE days_between(p.due, today()) > 0", "", "p3"},
		{"SELECT p FROM Project WHERE p.due = date('2026-02-30')", "", "error: '2026-02-30' is not a date"},
		{"SELECT p FROM Project WHERE p.due > 2026-01-01", "", "error: a date stands in quotes"},
	})
}

func TestWQL3_Functions(t *testing.T) {
	runGolden(t, []golden{
		{"SELECT p FROM Person WHERE lower(p.role) = 'manager'", "", "alice"},
		{"SELECT p FROM Person WHERE upper(name) = 'ÉMILE'", "", "emil"},
		{"SELECT p FROM Person WHERE length(p.name) = 4", "", "carl dora"},
		{"SELECT p FROM Person WHERE length(p.skills) = 2", "", "alice"},
		{"SELECT p FROM Person WHERE trim('  Bob ') = p.name", "", "bob"},
		{"SELECT p FROM Person WHERE coalesce(p.age, 0) < 30", "", "bob carl dora emil"},
		{"SELECT p FROM Person WHERE lower(coalesce(p.[first name], p.name)) = 'bob'", "", "bob"},
		{"SELECT p FROM Person WHERE lower(p.level) != 'senior'", "", "alice bob carl emil"},
		{"SELECT p FROM Person WHERE lowr(p.level) = 'senior'", "", "error: there is no function lowr"},
		{"SELECT p FROM Person WHERE lower() = 'senior'", "", "error: lower takes 1 argument, not 0"},
		{"SELECT p FROM Person WHERE year(p.age) = 3", "", "error: year does not take a number"},
	})
}

func TestWQL4_Order(t *testing.T) {
	runGolden(t, []golden{
		{"SELECT p FROM Project ORDER BY p.name", "", "p3 p1 p2 p4"},
		{"SELECT p FROM Project ORDER BY p.name DESC", "", "p4 p2 p1 p3"},
		{"SELECT p FROM Project ORDER BY p.due", "", "p3 p1 p2 p4"},
		{"SELECT p FROM Project ORDER BY p.due DESC", "", "p2 p1 p3 p4"},
		{"SELECT p FROM Project ORDER BY p.due DESC NULLS FIRST", "", "p4 p2 p1 p3"},
		{"SELECT p FROM Project ORDER BY p.due NULLS FIRST", "", "p4 p3 p1 p2"},
		{"SELECT p FROM Project ORDER BY lead DESC, due DESC", "", "p3 p2 p1 p4"},
		{"SELECT p FROM Person ORDER BY p.team.name, p.age DESC", "", "alice bob dora carl emil"},
		{"SELECT p FROM Person ORDER BY p.level NULLS LAST LIMIT 3", "", "bob dora alice …5"},
		{"SELECT p FROM Person ORDER BY length(p.name), name DESC", "", "bob dora carl emil alice"},
		{"SELECT p FROM Person ORDER BY p.nme", "", "error: type Person has no field nme"},
		{"SELECT p FROM Persn", "", "error: there is no type Persn"},
		{"SELECT x FROM Person, Team WHERE x.city = 'Wien'", "", "eng"},
		{"SELECT x FROM Person, Team WHERE x.zip = 'Wien'", "", "error: no type in FROM has a field zip"},
	})
}

func TestWQL5_LimitsAndTotals(t *testing.T) {
	runGolden(t, []golden{
		{"SELECT p FROM Person", "", "alice bob carl dora emil"},
		{"SELECT DISTINCT p FROM Person, person", "", "alice bob carl dora emil"},
		{"SELECT x FROM Person, Team", "", "alice bob carl dora eng ops emil"},
		{"SELECT p FROM Person LIMIT 2", "", "alice bob …5"},
		{"SELECT p FROM Person LIMIT 2 OFFSET 1", "", "bob carl …5"},
		{"SELECT p FROM Person LIMIT 2 OFFSET 4", "", "emil"},
		{"SELECT p FROM Person LIMIT 2 OFFSET 40", "", "none"},
		{"SELECT p FROM Person LIMIT 0", "", "…5"},
		{"SELECT p FROM Project", "", "p3 p1 p2 p4"},
		{"SELECT COUNT(*) FROM Person", "", "= 5"},
		{"SELECT COUNT(p) FROM Person WHERE p.age > 30", "", "= 1"},
		{"SELECT COUNT(p.age) FROM Person", "", "= 3"},
		{"SELECT COUNT(skills) FROM Person", "", "= 3"},
		{"SELECT SUM(p.budget) FROM Project", "", "= 0.6"},
		{"SELECT AVG(p.age) FROM Person p", "", "= 33"},
		{"SELECT MIN(p.due) FROM Project", "", "= 2025-12-31"},
		{"SELECT MAX(p.name) FROM Project WHERE name STARTS WITH 'Item'", "", "= Item 10"},
		{"SELECT MAX(p.budget) FROM Project WHERE p.lead = 'nobody'", "", "= <nil>"},
		{"SELECT SUM(p.members.age) FROM Project WHERE p = 'p1'", "", "= 70"},
		{"SELECT SUM(p.name) FROM Project", "", "error: SUM needs numbers, not a text"},
		{"SELECT MIN(p.lead) FROM Project", "", "error: MIN needs values with an order, not a reference"},
	})
}

func TestWQL5_EffectiveLimit(t *testing.T) {
	w := open(t, wql.Options{})
	w.declare(typeOf("Thing"))
	w.put(things(12_000)...)
	for _, c := range []struct {
		query string
		limit int
		rows  int
	}{
		{"SELECT t FROM Thing", 0, 200},
		{"SELECT t FROM Thing LIMIT 500", 0, 200},
		{"SELECT t FROM Thing LIMIT 500", 1000, 500},
		{"SELECT t FROM Thing LIMIT 50", 1000, 50},
		{"SELECT t FROM Thing", 10_000, 10_000},
		{"SELECT t FROM Thing LIMIT 99999999999", 1 << 30, 10_000},
		{"SELECT t FROM Thing ORDER BY t.n DESC", 3, 3},
	} {
		r, err := w.wql.Query(t.Context(), c.query, wql.QueryOptions{Limit: c.limit})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Rows) != c.rows || r.Total != 12_000 || !r.Truncated {
			t.Errorf("%s with limit %d: %d rows of %d, truncated %v", c.query, c.limit, len(r.Rows), r.Total, r.Truncated)
		}
	}
	r, err := w.wql.Query(t.Context(), "SELECT t FROM Thing ORDER BY t.n DESC", wql.QueryOptions{Limit: 3})
	if got := show(r, err); got != "t11999 t11998 t11997 …12000" {
		t.Errorf("first of many: %s", got)
	}
	if _, err := w.wql.Query(t.Context(), "SELECT t FROM Thing", wql.QueryOptions{Limit: -1}); err == nil {
		t.Error("a negative limit was accepted")
	}
}

func TestWQL9_ExistingTexts(t *testing.T) {
	runGolden(t, []golden{
		{"SELECT p FROM Person WHERE p.team = {this}", "eng", "alice bob"},
		{"SELECT proj FROM Project WHERE proj.lead = {this} AND proj.status = 'active'", "alice", "p1 p4"},
		{"SELECT o FROM OKR WHERE o.owner = {this} ORDER BY o.name ASC", "alice", "o1 o2"},
		{"SELECT d FROM Decision WHERE d.owner = {this} LIMIT 10", "alice", "d00 d01 d02 d03 d04 d05 d06 d07 d08 d09 …12"},
	})
}
