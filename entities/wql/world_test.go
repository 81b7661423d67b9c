package wql_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
)

// noon is the time of all tests: a Saturday in Vienna.
var noon = time.Date(2026, 2, 28, 12, 0, 0, 0, vienna)

var vienna = time.FixedZone("CET", 3600)

// world is a store with an engine over it.
type world struct {
	t     testing.TB
	db    *kv.Store
	store *entities.Store
	wql   *wql.Engine
	now   time.Time
}

func open(t testing.TB, opts wql.Options) *world {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	w := &world{t: t, db: db, now: noon}
	if opts.Now == nil {
		opts.Now = func() time.Time { return w.now }
	}
	if opts.Location == nil {
		opts.Location = vienna
	}
	w.store, err = entities.Open(db, entities.Options{
		Now:        func() time.Time { return noon },
		CheckQuery: func(ty *entities.Type, f entities.Field) []entities.Diagnostic { return w.wql.CheckField(ty, f) },
	})
	if err != nil {
		t.Fatal(err)
	}
	w.wql = wql.New(w.store, opts)
	db.OnCommit(w.wql.Apply)
	return w
}

func (w *world) declare(types ...entities.Type) {
	w.t.Helper()
	for _, ty := range types {
		if _, _, err := w.store.PutType(context.Background(), ty, nil, true); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) put(list ...entities.Entity) {
	w.t.Helper()
	for len(list) > 0 {
		n := min(len(list), entities.MaxMany)
		if _, err := w.store.PutMany(context.Background(), list[:n]); err != nil {
			w.t.Fatal(err)
		}
		list = list[n:]
	}
}

func (w *world) patch(p entities.Patch) {
	w.t.Helper()
	if _, err := w.store.Patch(context.Background(), p, nil); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) archive(id string) {
	w.t.Helper()
	if _, err := w.store.Archive(context.Background(), id, nil); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) query(text, this string) (*wql.Result, error) {
	return w.wql.Query(context.Background(), text, wql.QueryOptions{This: this})
}

// show writes a result as the golden tables do: ids, or "= value".
func show(r *wql.Result, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	if r.IsValue {
		return fmt.Sprintf("= %v", r.Value)
	}
	s := ""
	for _, row := range r.Rows {
		s += " " + row.ID
	}
	if r.Truncated {
		s += fmt.Sprintf(" …%d", r.Total)
	}
	if s == "" {
		return "none"
	}
	return s[1:]
}

func e(typeName, id, name string, fields entities.Values) entities.Entity {
	return entities.Entity{ID: id, Type: typeName, Name: name, Fields: fields}
}

// company is the world of the golden tables.
func company(tb testing.TB, opts wql.Options) *world {
	tb.Helper()
	w := open(tb, opts)
	w.declare(
		entities.Type{Name: "Team", Fields: []entities.Field{
			{Name: "lead", Type: record.EntityRef, TargetType: "Person"},
			{Name: "city", Type: record.Text},
		}},
		entities.Type{Name: "Person", Fields: []entities.Field{
			{Name: "team", Type: record.EntityRef, TargetType: "Team"},
			{Name: "role", Type: record.Text},
			{Name: "age", Type: record.Number},
			{Name: "active", Type: record.Boolean},
			{Name: "born", Type: record.Date},
			{Name: "level", Type: record.Select, Options: []string{"Junior", "Senior", "Staff"}},
			{Name: "skills", Type: record.TextList},
			{Name: "knows", Type: record.EntityRefList},
			{Name: "code", Type: record.Text},
			{Name: "mentor", Type: record.EntityRef},
			{Name: "first name", Type: record.Text},
		}},
		entities.Type{Name: "Project", Fields: []entities.Field{
			{Name: "lead", Type: record.EntityRef, TargetType: "Person"},
			{Name: "members", Type: record.EntityRefList, TargetType: "Person"},
			{Name: "status", Type: record.Select, Options: []string{"Active", "Done", "On Hold"}},
			{Name: "due", Type: record.Date},
			{Name: "budget", Type: record.Number},
		}},
		entities.Type{Name: "OKR", Fields: []entities.Field{{Name: "owner", Type: record.EntityRef, TargetType: "Person"}}},
		entities.Type{Name: "Decision", Fields: []entities.Field{{Name: "owner", Type: record.EntityRef}}},
		entities.Type{Name: "Città", Fields: []entities.Field{{Name: "größe", Type: record.Number}}},
	)
	type v = entities.Values
	w.put(
		e("Team", "eng", "Engineering", v{"lead": "alice", "city": "Wien"}),
		e("Team", "ops", "Operations", v{"lead": "dora", "city": "Graz"}),
		e("Person", "alice", "Alice", v{
			"team": "eng", "role": "Manager", "age": 41.0, "active": true, "born": "1985-01-31", "level": "Staff",
			"skills": []string{"go", "sql"}, "knows": []string{"bob", "dora"}, "code": "10", "first name": "Alice",
		}),
		e("Person", "bob", "Bob", v{
			"team": "eng", "role": "Developer", "age": 29.0, "active": true, "born": "1996-12-01", "level": "junior",
			"skills": []string{"go"}, "knows": []string{"alice"}, "code": "9", "mentor": "alice",
		}),
		e("Person", "carl", "Carl", v{
			"team": "[[Ghost]]", "role": "Devops 100%", "age": 29.0, "active": false, "born": "1996-12-31", "code": "x9",
			"mentor": "eng",
		}),
		e("Person", "dora", "dora", v{"team": "ops", "role": "Café owner", "level": "Senior", "knows": []string{"bob"}}),
		e("Person", "emil", "Émile", v{"code": "010"}),
		e("Project", "p1", "Item 9", v{"lead": "alice", "status": "Active", "due": "2026-02-28", "budget": 0.1, "members": []string{"alice", "bob"}}),
		e("Project", "p2", "Item 10", v{"lead": "alice", "status": "Done", "due": "2026-03-07", "budget": 0.2, "members": []string{"bob"}}),
		e("Project", "p3", "item 2", v{"lead": "bob", "due": "2025-12-31", "budget": 0.3, "members": []string{"dora"}}),
		e("Project", "p4", "Zoo", v{"lead": "alice", "status": "active"}),
		e("Project", "px", "Trashed", v{"lead": "alice", "status": "active"}),
		e("OKR", "o2", "Second", v{"owner": "alice"}),
		e("OKR", "o1", "First", v{"owner": "alice"}),
		e("OKR", "o3", "Third", v{"owner": "bob"}),
		e("Città", "w", "Wien", v{"größe": 2.0}),
	)
	for i := range 12 {
		w.put(e("Decision", fmt.Sprintf("d%02d", i), fmt.Sprintf("Decision %d", i), v{"owner": "alice"}))
	}
	if _, err := w.store.Archive(context.Background(), "px", nil); err != nil {
		tb.Fatal(err)
	}
	return w
}

// typeOf declares a type with a number n, a text s and references.
func typeOf(name string) entities.Type {
	return entities.Type{Name: name, Fields: []entities.Field{
		{Name: "n", Type: record.Number},
		{Name: "s", Type: record.Text},
		{Name: "team", Type: record.EntityRef},
		{Name: "peers", Type: record.EntityRefList},
	}}
}

// things makes n entities of type Thing, a thousand to a team.
func things(n int) []entities.Entity {
	list := make([]entities.Entity, n)
	for i := range list {
		list[i] = e("Thing", fmt.Sprintf("t%d", i), fmt.Sprintf("Thing %d", i), entities.Values{
			"n": float64(i), "s": "some text", "team": fmt.Sprintf("team%d", i%2000), "peers": []string{fmt.Sprintf("t%d", i/2), fmt.Sprintf("t%d", i/3)},
		})
	}
	return list
}
