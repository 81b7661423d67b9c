package wql_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
)

// PERF-8: 20,000 entities of 8 fields, 2 of them references, 20 to a team.
const (
	benchEntities = 20_000
	benchQuery    = "SELECT p FROM Person WHERE p.team = {this}"
	benchThis     = "p00007"
	benchRoles    = 200
)

// indexed are queries that an index serves, each with what it is to expr over a
// map of the fields of one entity.
var indexed = []struct {
	name, query, naive string
	rows               int
}{
	{"reference", benchQuery, "team == this", 20},
	{"list", "SELECT p FROM Person WHERE p.knows CONTAINS {this}", "knows != nil && this in knows", 1},
	{"select", "SELECT p FROM Person WHERE p.role = 'role 7'", "role == 'Role 7'", 100},
	{"number", "SELECT p FROM Person WHERE p.age >= 99.5", "age != nil && age >= 99.5", 100},
	{"date", "SELECT p FROM Person WHERE p.born >= '1990-02-01' AND p.born < '1990-03-01'", "born != nil && born >= '1990-02-01' && born < '1990-03-01'", 28},
}

func benchWorld(tb testing.TB) *world {
	tb.Helper()
	w := open(tb, wql.Options{})
	var roles []string
	for i := range benchRoles {
		roles = append(roles, fmt.Sprintf("Role %d", i))
	}
	w.declare(entities.Type{Name: "Person", Fields: []entities.Field{
		{Name: "role", Type: record.Select, Options: roles},
		{Name: "age", Type: record.Number},
		{Name: "active", Type: record.Boolean},
		{Name: "born", Type: record.Date},
		{Name: "level", Type: record.Select, Options: []string{"Junior", "Senior"}},
		{Name: "skills", Type: record.TextList},
		{Name: "team", Type: record.EntityRef},
		{Name: "knows", Type: record.EntityRefList},
	}})
	list := make([]entities.Entity, benchEntities)
	for i := range list {
		list[i] = e("Person", fmt.Sprintf("p%05d", i), fmt.Sprintf("Person %d", i), entities.Values{
			"role": roles[i%benchRoles], "age": float64(i%200) / 2, "active": i%3 == 0,
			"born":  time.Date(1960, 1, 1+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly),
			"level": []string{"Junior", "Senior"}[i%2], "skills": []string{"go", "sql"},
			"team": fmt.Sprintf("p%05d", i%1000), "knows": []string{fmt.Sprintf("p%05d", (i*7)%benchEntities)},
		})
	}
	w.put(list...)
	return w
}

// naive answers a query as one does without an engine: expr runs over a map
// that is made for each entity, and the rows that are left are sorted.
type naive struct {
	program *vm.Program
	people  []*entities.Entity
}

func newNaive(tb testing.TB, w *world, condition string) naive {
	tb.Helper()
	program, err := expr.Compile(condition, expr.AllowUndefinedVariables())
	if err != nil {
		tb.Fatal(err)
	}
	return naive{program, w.store.OfType("Person")}
}

func (n naive) run(tb testing.TB) []wql.Row {
	tb.Helper()
	var rows []wql.Row
	for _, e := range n.people {
		env := map[string]any{"id": e.ID, "name": e.Name, "type": e.Type, "this": benchThis}
		for name, value := range e.Fields {
			env[name] = value
		}
		out, err := expr.Run(n.program, env)
		if err != nil {
			tb.Fatal(err)
		}
		if out.(bool) {
			rows = append(rows, wql.Row{ID: e.ID, Name: e.Name, Type: e.Type})
		}
	}
	slices.SortFunc(rows, func(a, b wql.Row) int {
		return cmp.Or(entities.CompareNatural(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	return rows
}

// TestPERF8_BothGiveTheSameRows checks that what is compared does the same.
func TestPERF8_BothGiveTheSameRows(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	w := benchWorld(t)
	for _, c := range indexed {
		r, err := w.query(c.query, benchThis)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := r.Rows, newNaive(t, w, c.naive).run(t); !slices.Equal(got, want) || len(got) != c.rows {
			t.Errorf("%s gives %d rows and the scan %d, want %d of the same", c.query, len(got), len(want), c.rows)
		}
	}
}

// BenchmarkPERF8 is PERF-8: a computed field whose result is kept, the queries
// that an index serves, and each of them as a scan with expr.
func BenchmarkPERF8(b *testing.B) {
	w := benchWorld(b)
	b.Run("computed", func(b *testing.B) {
		ent := w.store.Get(benchThis)
		f := entities.Field{Name: "people", Type: record.Computed, Query: benchQuery}
		b.ReportAllocs()
		for b.Loop() {
			if r, err := w.wql.Computed(context.Background(), ent, f); err != nil || r.Total != 20 {
				b.Fatal(err)
			}
		}
	})
	for _, c := range indexed {
		b.Run(c.name+"/ctxd", func(b *testing.B) { benchRun(b, w, c.query, benchThis, c.rows) })
		b.Run(c.name+"/naive", func(b *testing.B) {
			n := newNaive(b, w, c.naive)
			b.ReportAllocs()
			for b.Loop() {
				if rows := n.run(b); len(rows) != c.rows {
					b.Fatal(len(rows))
				}
			}
		})
	}
}

func benchRun(b *testing.B, w *world, query, this string, rows int) {
	if _, err := w.query(query, this); err != nil { // makes what is made once
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		r, err := w.query(query, this)
		if err != nil {
			b.Fatal(err)
		}
		if r.Total != rows && rows >= 0 {
			b.Fatalf("%d rows, want %d", r.Total, rows)
		}
	}
}

func BenchmarkPERF8_Scan(b *testing.B) {
	benchRun(b, benchWorld(b), "SELECT p FROM Person WHERE p.team = {this} OR length(p.role) = 99", benchThis, 20)
}

func BenchmarkPERF8_ScanFourConditions(b *testing.B) {
	benchRun(b, benchWorld(b), "SELECT p FROM Person WHERE p.age >= 18 AND p.level = 'senior' AND p.born < today() AND p.role LIKE 'role 1%'", "", 5000)
}

func BenchmarkPERF8_ScanOrdered(b *testing.B) {
	benchRun(b, benchWorld(b), "SELECT p FROM Person ORDER BY p.role, p.age DESC LIMIT 20", "", benchEntities)
}

// BenchmarkWQL8_InOrder is the first rows by a field: as an index has them, and sorted, for
// which the field is wrapped in a function. With a condition the rows are counted as well.
func BenchmarkWQL8_InOrder(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		w := orderWorld(b, n)
		for _, c := range []struct {
			name, where string
			rows        int // -1: as many as there are
		}{
			{"all", "", n},
			{"half", " WHERE t.status = 'open'", n / 2},
			{"few", " WHERE t.team = 'team7'", n / 200},
			{"since", " WHERE t.due >= '2020-01-01' AND t.due < '2025-06-23'", -1},
		} {
			for _, by := range []struct{ name, key string }{{"index", "t.due"}, {"sorted", "coalesce(t.due, t.due)"}} {
				b.Run(fmt.Sprint(n, "/", c.name, "/", by.name), func(b *testing.B) {
					benchRun(b, w, "SELECT t FROM Task t"+c.where+" ORDER BY "+by.key+" LIMIT 20", "", c.rows)
				})
			}
		}
	}
}

// BenchmarkWQL8_PutBesideInOrder is a write without and with an index in order.
func BenchmarkWQL8_PutBesideInOrder(b *testing.B) {
	for _, indexes := range []int{0, 1} {
		b.Run(fmt.Sprint(indexes), func(b *testing.B) {
			w := orderWorld(b, 10_000)
			if indexes > 0 {
				benchQueryOnce(b, w)
			}
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				i++
				day := time.Date(2020, 1, 1+i%3000, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
				w.put(e("Task", fmt.Sprintf("t%06d", i%10_000), fmt.Sprintf("Task %d", i%10_000), entities.Values{"due": day}))
			}
		})
	}
}

// BenchmarkWQL8_BuildInOrder is the first query, that makes the index.
func BenchmarkWQL8_BuildInOrder(b *testing.B) {
	w := orderWorld(b, 100_000)
	for b.Loop() {
		w.wql.Forget()
		benchQueryOnce(b, w)
	}
}

func benchQueryOnce(b *testing.B, w *world) {
	b.Helper()
	if _, err := w.query("SELECT t FROM Task t ORDER BY t.due LIMIT 20", ""); err != nil {
		b.Fatal(err)
	}
}

// orderWorld has n tasks, which are due on 4,000 days.
func orderWorld(tb testing.TB, n int) *world {
	tb.Helper()
	w := open(tb, wql.Options{})
	w.declare(entities.Type{Name: "Task", Fields: []entities.Field{
		{Name: "due", Type: record.Date},
		{Name: "status", Type: record.Select, Options: []string{"open", "done"}},
		{Name: "team", Type: record.EntityRef},
	}})
	list := make([]entities.Entity, n)
	for i := range list {
		list[i] = e("Task", fmt.Sprintf("t%06d", i), fmt.Sprintf("Task %d", i), entities.Values{
			"due":    time.Date(2020, 1, 1+i*7919%4000, 0, 0, 0, 0, time.UTC).Format(time.DateOnly),
			"status": []string{"open", "done"}[i*7/4%2], "team": fmt.Sprintf("team%d", i%200),
		})
	}
	w.put(list...)
	return w
}

// BenchmarkPERF8_IndexedAfterWrite is a write and the query that follows it: the
// index is kept, not built again.
func BenchmarkPERF8_IndexedAfterWrite(b *testing.B) {
	w := benchWorld(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.store.Put(context.Background(), e("Person", "new", "New", entities.Values{"team": "p00008"}), nil); err != nil {
			b.Fatal(err)
		}
		if r, err := w.query(benchQuery, benchThis); err != nil || r.Total != 20 {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	w := company(b, wql.Options{})
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		i++
		text := fmt.Sprintf("SELECT proj FROM Project WHERE proj.lead = {this} AND proj.status = 'active' AND proj.budget < %d", i)
		if _, err := w.query(text, "alice"); err != nil {
			b.Fatal(err)
		}
	}
}
