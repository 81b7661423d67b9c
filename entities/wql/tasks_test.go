package wql_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
)

// manyTasks gives a note each ten of so many tasks.
func manyTasks(n int) wql.Tasks {
	return func(ctx context.Context, found func(*record.Note, []record.Task) error) error {
		for i := 0; i < n; i += 10 {
			tasks := make([]record.Task, min(10, n-i))
			for k := range tasks {
				at := i + k
				tasks[k] = record.Task{
					Name: fmt.Sprint("Task ", at), Done: at%3 == 0, Cancelled: at%7 == 1, Tags: []string{fmt.Sprint("tag", at%5)},
					Due: fmt.Sprintf("2026-%02d-%02d", 1+at%12, 1+at%28), Note: fmt.Sprint("Note ", i/10), Heading: "Plan", Line: k + 1,
				}
				if at%2 == 0 {
					tasks[k].Due = ""
				}
				if at%4 == 0 {
					tasks[k].Priority = "high"
				}
			}
			if err := found(&record.Note{ID: fmt.Sprint("n", i/10), UpdatedAt: noon}, tasks); err != nil {
				return err
			}
		}
		return ctx.Err()
	}
}

func TestSRCH55_QueriesReadTasks(t *testing.T) {
	w := open(t, wql.Options{})
	w.wql.ReadTasks(manyTasks(40))
	w.declare(entities.Type{Name: "Person", Fields: []entities.Field{{Name: "age", Type: record.Number}}})
	w.put(entities.Entity{Type: "Person", Name: "Ann", Fields: entities.Values{"age": 4.0}})
	for query, want := range map[string]string{
		"SELECT COUNT(*) FROM Task":                                       "40",
		"SELECT COUNT(t) FROM task t WHERE t.done = true":                 "14",
		"SELECT COUNT(*) FROM Task WHERE done != true AND cancelled":      "error",
		"SELECT COUNT(*) FROM Task t WHERE t.due < today()":               "4",
		"SELECT COUNT(*) FROM Task t WHERE t.due IS NULL":                 "20",
		"SELECT COUNT(*) FROM Task t WHERE t.priority = 'HIGH'":           "10",
		"SELECT COUNT(*) FROM Task t WHERE t.tags CONTAINS 'tag1'":        "8",
		"SELECT COUNT(*) FROM Task t WHERE t.id = 'n2' AND t.line > 7":    "3",
		"SELECT MIN(t.due) FROM Task t":                                   "2026-02-02",
		"SELECT COUNT(*) FROM Task t WHERE t.note LIKE 'note 1'":          "10",
		"SELECT COUNT(*) FROM Task t WHERE t.type = 'task'":               "40",
		"SELECT COUNT(*) FROM Task, Person":                               "41",
		"SELECT COUNT(*) FROM vault.Task v WHERE v.heading = 'Plan'":      "40",
		"SELECT x FROM Task, Person x WHERE x.age = 4 OR x.name = Task 3": "error",
	} {
		res, err := w.wql.Query(t.Context(), query, wql.QueryOptions{})
		got := "error"
		if err == nil {
			got = fmt.Sprint(res.Value)
		}
		if got != want {
			t.Errorf("%s: %s (%v), want %s", query, got, err, want)
		}
	}
	res, err := w.wql.Query(t.Context(), "SELECT t FROM Task t WHERE t.done = false AND t.due < today() ORDER BY t.due DESC, t.line LIMIT 2", wql.QueryOptions{Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Rows) != 2 || res.Rows[0].Name != "Task 25" || res.Rows[0].ID != "n2" || res.Rows[0].Type != "Task" || res.Rows[0].Task.Due != "2026-02-26" ||
		res.Total != 4 || !res.Truncated || len(res.Plan.Types) != 1 || res.Plan.Types[0].Access != wql.AccessScan || res.Plan.RowsExamined != 40 {
		t.Errorf("%+v, plan %+v", res, res.Plan)
	}
	if res, err := w.wql.Query(t.Context(), "SELECT p FROM Person p", wql.QueryOptions{}); err != nil || res.Rows[0].Task != nil {
		t.Errorf("an entity: %+v %v", res, err)
	}
	res, err = w.wql.Query(t.Context(), "SELECT COUNT(*) FROM Task t WHERE t.line = 1", wql.QueryOptions{})
	if ids, _ := res.StandsOn(); err != nil || len(ids) > 0 || strings.Join(res.StandsOnNotes(), " ") != "n0 n1 n2 n3" {
		t.Errorf("a count stands on %q and %q", ids, res.StandsOnNotes())
	}
}

func TestSRCH55_ErrorsOfQueriesKnowTasks(t *testing.T) {
	w := open(t, wql.Options{})
	w.wql.ReadTasks(manyTasks(10))
	for query, want := range map[string]string{
		"SELECT t FROM Tsk t":                       "Task",
		"SELECT t FROM Task t WHERE t.deu < now()":  "due",
		"SELECT t FROM Task t WHERE MATCHES 'a'":    "CONTAINS",
		"SELECT t FROM Task t WHERE t.note.title=1": "end the path at note",
		"SELECT t FROM vault.Tsk t":                 "",
	} {
		_, err := w.wql.Query(t.Context(), query, wql.QueryOptions{})
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Query || !strings.Contains(f.Hint, want) {
			t.Errorf("%s: %v", query, err)
		}
		if len(w.wql.Check(query, "")) == 0 {
			t.Errorf("%s: a check finds nothing", query)
		}
	}
	// A computed field means a type of the store, which may be declared later.
	w.declare(entities.Type{Name: "Project", Fields: []entities.Field{{Name: "tasks", Type: record.Computed, Query: "SELECT t FROM Task WHERE t.project = {this}"}}})
	w.declare(entities.Type{Name: "Task", Fields: []entities.Field{{Name: "project", Type: record.EntityRef, TargetType: "Project"}}})
	w.put(entities.Entity{ID: "p", Type: "Project", Name: "P"}, entities.Entity{Type: "Task", Name: "T", Fields: entities.Values{"project": "p"}})
	res, err := w.wql.Query(t.Context(), "SELECT COUNT(*) FROM Project p WHERE p.tasks IS NOT NULL", wql.QueryOptions{})
	if err != nil || res.Value != 1.0 {
		t.Errorf("a computed field over a declared type: %+v %v", res, err)
	}
	_, err = w.wql.Query(t.Context(), "SELECT t FROM Task t WHERE t.due < today()", wql.QueryOptions{})
	if fault.KindOf(err) != fault.Query {
		t.Errorf("the declared type goes first: %v", err)
	}
}

// TestSRCH55_AQueryOverTasksEndsInTime: its deadline is looked at between rows.
func TestSRCH55_AQueryOverTasksEndsInTime(t *testing.T) {
	w := open(t, wql.Options{})
	all := manyTasks(1000)
	ctx, cancel := context.WithCancel(t.Context())
	w.wql.ReadTasks(func(ctx context.Context, found func(*record.Note, []record.Task) error) error {
		cancel()
		return all(context.WithoutCancel(ctx), found)
	})
	if _, err := w.wql.Query(ctx, "SELECT t FROM Task t WHERE t.done = true", wql.QueryOptions{}); fault.KindOf(err) != fault.Cancelled {
		t.Errorf("a query whose caller has left: %v", err)
	}
}

// BenchmarkSRCH55_Query asks the same of 100,000 tasks and of 100,000 entities.
func BenchmarkSRCH55_Query(b *testing.B) {
	const n = 100_000
	w := open(b, wql.Options{})
	var notes []*record.Note
	var lists [][]record.Task
	_ = manyTasks(n)(b.Context(), func(n *record.Note, tasks []record.Task) error {
		notes, lists = append(notes, n), append(lists, tasks)
		return nil
	})
	w.wql.ReadTasks(func(_ context.Context, found func(*record.Note, []record.Task) error) error {
		for i := range notes {
			if err := found(notes[i], lists[i]); err != nil {
				return err
			}
		}
		return nil
	})
	w.declare(entities.Type{Name: "Item", Fields: record.TaskType.Fields})
	var list []entities.Entity
	for i := range lists {
		for _, x := range lists[i] {
			e := entities.Entity{Type: "Item", Name: x.Name, Fields: entities.Values{"done": x.Done, "tags": x.Tags, "note": x.Note, "line": float64(x.Line)}}
			if x.Due != "" {
				e.Fields["due"] = x.Due
			}
			list = append(list, e)
		}
	}
	w.put(list...)
	for _, c := range []struct{ name, where string }{
		{"filtered", "t.done = false AND t.due < today()"}, {"scan", "t.done != true AND lower(t.name) != 'x'"},
	} {
		for _, from := range []string{"Task", "Item"} {
			b.Run(c.name+"/"+from, func(b *testing.B) {
				query := "SELECT t FROM " + from + " WHERE " + c.where + " ORDER BY t.due LIMIT 50"
				for b.Loop() {
					if _, err := w.wql.Query(b.Context(), query, wql.QueryOptions{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
