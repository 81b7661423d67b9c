package wql_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/expr-lang/expr"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/wql"
)

// PERF-8: 20,000 entities of 8 fields, 2 of them references, 20 to a team.
const (
	benchEntities = 20_000
	benchQuery    = "SELECT p FROM Person WHERE p.team = {this}"
)

func benchWorld(b *testing.B) *world {
	w := open(b, wql.Options{})
	w.declare(entities.Type{Name: "Person", Fields: []entities.Field{
		{Name: "role", Type: entities.Text},
		{Name: "age", Type: entities.Number},
		{Name: "active", Type: entities.Boolean},
		{Name: "born", Type: entities.Date},
		{Name: "level", Type: entities.Select, Options: []string{"Junior", "Senior"}},
		{Name: "skills", Type: entities.TextList},
		{Name: "team", Type: entities.EntityRef},
		{Name: "knows", Type: entities.EntityRefList},
	}})
	list := make([]entities.Entity, benchEntities)
	for i := range list {
		list[i] = e("Person", fmt.Sprintf("p%05d", i), fmt.Sprintf("Person %d", i), entities.Values{
			"role": fmt.Sprintf("Role %d", i%50), "age": float64(i % 60), "active": i%3 == 0, "born": "1990-01-31",
			"level": []string{"Junior", "Senior"}[i%2], "skills": []string{"go", "sql"},
			"team": fmt.Sprintf("p%05d", i%1000), "knows": []string{fmt.Sprintf("p%05d", (i*7)%benchEntities)},
		})
	}
	w.put(list...)
	return w
}

func benchRun(b *testing.B, w *world, query, this string, rows int) {
	if _, err := w.query(query, this); err != nil { // makes what is made once
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		r, err := w.query(query, this)
		if err != nil || r.Total != rows {
			b.Fatal(r, err)
		}
	}
}

func BenchmarkPERF8_ComputedCached(b *testing.B) {
	w := benchWorld(b)
	ent := w.store.Get("p00007")
	f := entities.Field{Name: "people", Type: entities.Computed, Query: benchQuery}
	b.ReportAllocs()
	for b.Loop() {
		if r, err := w.wql.Computed(context.Background(), ent, f); err != nil || r.Total != 20 {
			b.Fatal(r, err)
		}
	}
}

func BenchmarkPERF8_Indexed(b *testing.B) { benchRun(b, benchWorld(b), benchQuery, "p00007", 20) }

func BenchmarkPERF8_IndexedList(b *testing.B) {
	benchRun(b, benchWorld(b), "SELECT p FROM Person WHERE p.knows CONTAINS {this}", "p00007", 1)
}

func BenchmarkPERF8_Scan(b *testing.B) {
	benchRun(b, benchWorld(b), "SELECT p FROM Person WHERE p.team = {this} OR p.age = 99", "p00007", 20)
}

func BenchmarkPERF8_ScanFourConditions(b *testing.B) {
	benchRun(b, benchWorld(b), "SELECT p FROM Person WHERE p.age >= 18 AND p.level = 'senior' AND p.born < today() AND p.role LIKE 'role 1%'", "", 1664)
}

func BenchmarkPERF8_ScanOrdered(b *testing.B) {
	benchRun(b, benchWorld(b), "SELECT p FROM Person ORDER BY p.role, p.age DESC LIMIT 20", "", benchEntities)
}

// BenchmarkPERF8_NaiveEnvMap is the baseline: expr over a map made for each row.
func BenchmarkPERF8_NaiveEnvMap(b *testing.B) {
	w := benchWorld(b)
	program, err := expr.Compile("team == this", expr.AllowUndefinedVariables())
	if err != nil {
		b.Fatal(err)
	}
	rows := w.store.OfType("Person")
	b.ReportAllocs()
	for b.Loop() {
		found := 0
		for _, row := range rows {
			env := map[string]any{"id": row.ID, "name": row.Name, "type": row.Type, "this": "p00007"}
			for name, value := range row.Fields {
				env[name] = value
			}
			out, err := expr.Run(program, env)
			if err != nil {
				b.Fatal(err)
			}
			if out.(bool) {
				found++
			}
		}
		if found != 20 {
			b.Fatal(found)
		}
	}
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
		if r, err := w.query(benchQuery, "p00007"); err != nil || r.Total != 20 {
			b.Fatal(r, err)
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
