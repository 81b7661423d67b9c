package wql_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
)

// planWorld is a store of 400 tasks, ten days of due dates, a few with each
// value.
func planWorld(t *testing.T) *world {
	t.Helper()
	w := open(t, wql.Options{})
	w.declare(
		entities.Type{Name: "Task", Fields: []entities.Field{
			{Name: "title", Type: record.Text},
			{Name: "points", Type: record.Number},
			{Name: "due", Type: record.Date},
			{Name: "Status", Type: record.Select, Options: []string{"Open", "Done", "Later"}},
			{Name: "urgent", Type: record.Boolean},
			{Name: "labels", Type: record.TextList},
			{Name: "owner", Type: record.EntityRef},
			{Name: "watchers", Type: record.EntityRefList},
			{Name: "contact", Type: record.Email},
			{Name: "page", Type: record.URL},
		}},
		entities.Type{Name: "Idea", Fields: []entities.Field{
			{Name: "points", Type: record.Text},
			{Name: "owner", Type: record.EntityRef},
		}},
	)
	var list []entities.Entity
	for i := range 400 {
		list = append(list, e("Task", fmt.Sprintf("t%03d", i), fmt.Sprintf("Task %d", i), entities.Values{
			"title": fmt.Sprint(i % 40), "points": float64(i), "due": time.Date(2026, 1, 1+i/10, 0, 0, 0, 0, time.UTC).Format(time.DateOnly),
			"Status": []string{"Open", "Done"}[min(i%100, 1)], "urgent": i%50 == 0, "labels": []string{fmt.Sprint("l", i%30), "all"},
			"owner": fmt.Sprintf("t%03d", i%80), "watchers": []string{fmt.Sprintf("t%03d", i%90), "t000"},
			"contact": fmt.Sprintf("p%d@example.org", i%70), "page": fmt.Sprintf("https://example.org/%d", i%60),
		}))
	}
	for i := range 20 {
		list = append(list, e("Idea", fmt.Sprintf("i%02d", i), fmt.Sprintf("Idea %d", i), entities.Values{"points": fmt.Sprint(i), "owner": "t001"}))
	}
	w.put(list...)
	return w
}

// showPlan writes what is to be compared of a plan.
func showPlan(p *wql.Plan) string {
	var parts []string
	for _, t := range p.Types {
		s := t.Type + " " + t.Access
		for _, u := range t.Uses {
			s += fmt.Sprintf(" %s(%s)=%d", u.Kind, u.Condition, u.Rows)
		}
		for _, u := range t.Considered {
			s += fmt.Sprintf(" not %s(%s)=%d", u.Kind, u.Condition, u.Rows)
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, "; ") + fmt.Sprintf("; %d of %d", p.RowsMatched, p.RowsExamined)
}

// TestWQL8_Plans checks what each kind of condition is answered by.
func TestWQL8_Plans(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	for _, c := range []struct{ from, cond, want string }{
		{"Task", "x.owner = {this}", "Task index reference(owner = {this})=5; 5 of 5"},
		{"Task", "x.watchers CONTAINS {this}", "Task index reference(watchers CONTAINS {this})=5; 5 of 5"},
		{"Task", "{this} = x.watchers", "Task index reference(watchers = {this})=5; 5 of 5"},
		{"Task", "x.watchers STARTS WITH {this}", "Task index reference(watchers STARTS WITH {this})=5; 5 of 5"},
		{"Task", "x.status = 'OPEN'", "Task index equality(status = 'OPEN')=4; 4 of 4"},
		{"Task", "x.urgent = true", "Task index equality(urgent = true)=8; 8 of 8"},
		{"Task", "x.urgent = 'TRUE'", "Task index equality(urgent = 'TRUE')=8; 8 of 8"},
		{"Task", "x.title = '7'", "Task index equality(title = '7')=10; 10 of 10"},
		{"Task", "x.title = 7", "Task index ordered(title = 7)=10; 10 of 10"},
		{"Task", "x.title > 38.5", "Task range ordered(title > 38.5)=10; 10 of 10"},
		{"Task", "x.title IN ('7', 8, true)", "Task index equality(title IN ('7', 8, true))=10 ordered(title IN ('7', 8, true))=10 equality(title IN ('7', 8, true))=0; 20 of 20"},
		{"Task", "x.labels CONTAINS 'l7'", "Task index equality(labels CONTAINS 'l7')=14; 14 of 14"},
		{"Task", "x.contact = 'p3@example.org'", "Task index equality(contact = 'p3@example.org')=6; 6 of 6"},
		{"Task", "x.page = 'https://example.org/3'", "Task index equality(page = 'https://example.org/3')=7; 7 of 7"},
		{"Task", "x.name = 'Task 9'", "Task index equality(name = 'Task 9')=1; 1 of 1"},
		{"Task", "x = {this}", "Task index id(id = {this})=1; 1 of 1"},
		{"Task", "x.id IN ('t001', 't002', 'i01')", "Task index id(id IN ('t001', 't002', 'i01'))=3; 2 of 2"},
		{"Task", "x.points < 7", "Task range ordered(points < 7)=7; 7 of 7"},
		{"Task", "x.points <= 7", "Task range ordered(points <= 7)=8; 8 of 8"},
		{"Task", "390 < x.points", "Task range ordered(points > 390)=9; 9 of 9"},
		{"Task", "x.points >= '390'", "Task range ordered(points >= '390')=10; 10 of 10"},
		{"Task", "x.points = 7", "Task index ordered(points = 7)=1; 1 of 1"},
		{"Task", "x.points IN (7, 9, null)", "Task index ordered(points IN (7, 9, null))=2; 2 of 2"},
		{"Task", "x.points BETWEEN 7 AND 9", "Task range ordered(points >= 7 AND points <= 9)=3; 3 of 3"},
		{"Task", "x.points > 7 AND x.points < 11", "Task range ordered(points > 7 AND points < 11)=3; 3 of 3"},
		{"Task", "x.points > 11 AND x.points < 7", "Task index not ordered(points > 11)=-1 not ordered(points < 7)=-1; 0 of 0"},
		{"Task", "NOT (x.points >= 7)", "Task range ordered(points < 7)=7; 7 of 7"},
		{"Task", "x.points NOT BETWEEN 3 AND 396", "Task range ordered(points < 3)=3 ordered(points > 396)=3; 6 of 6"},
		{"Task", "x.due = date('2026-01-03')", "Task index ordered(due = date('2026-01-03'))=10; 10 of 10"},
		{"Task", "x.due BETWEEN '2026-01-03' AND today() - 55d", "Task range ordered(due >= '2026-01-03' AND due <= today() -55d)=20; 20 of 20"},
		{"Task", "x.due < {this.title}", "Task index; 0 of 0"},
		{"Task", "x.createdAt < today()", "Task range ordered(createdAt < today())=0; 0 of 0"},
		{"Task", "x.updatedAt > now()", "Task range ordered(updatedAt > now())=0; 0 of 0"},
		// AND takes the best, OR the union.
		{"Task", "x.owner = {this} AND x.points < 100", "Task index reference(owner = {this})=5 not ordered(points < 100)=-1; 2 of 5"},
		{"Task", "x.status = 'done' AND x.due = '2026-01-03' AND length(x.title) = 2", "Task index ordered(due = '2026-01-03')=10 not equality(status = 'done')=396; 10 of 10"},
		{"Task", "x.owner = {this} OR x.points > 397", "Task range reference(owner = {this})=5 ordered(points > 397)=2; 7 of 7"},
		{"Task", "(x.owner = {this} OR x.points > 397) AND x.urgent = true", "Task index equality(urgent = true)=8 not reference(owner = {this})=5 not ordered(points > 397)=-1; 0 of 8"},
		// Nothing serves.
		{"Task", "x.owner = {this} OR length(x.title) = 9", "Task scan not reference(owner = {this})=-1; 5 of 400"},
		{"Task", "x.status = 'done'", "Task scan not equality(status = 'done')=396; 396 of 400"},
		{"Task", "x.status != 'done'", "Task scan; 4 of 400"},
		{"Task", "x.title CONTAINS '39'", "Task scan; 10 of 400"},
		{"Task", "x.title < '1'", "Task scan; 10 of 400"},
		{"Task", "x.points = x.title", "Task scan; 40 of 400"},
		{"Task", "x.owner.points = 3", "Task scan; 5 of 400"},
		{"Task", "x.labels IS NULL", "Task scan; 0 of 400"},
		// What can't be true asks nothing.
		{"Task", "x.points = null", "Task index; 0 of 0"},
		{"Task", "x.points = 'many'", "Task index; 0 of 0"},
		{"Task", "x.type = 'idea'", "Task index; 0 of 0"},
		// Types differ: points is a number here and a text there.
		{"Task, Idea", "x.points = 7", "Task index ordered(points = 7)=1; Idea index ordered(points = 7)=1; 2 of 2"},
		{"Task, Idea", "x.due = '2026-01-03'", "Task index ordered(due = '2026-01-03')=10; Idea index; 10 of 10"},
		{"Task, Idea", "x.owner = 't001'", "Task index reference(owner = 't001')=5; Idea scan not reference(owner = 't001')=20; 25 of 25"},
		{"Task, Idea", "x.type = 'idea'", "Task index; Idea scan; 20 of 20"},
	} {
		t.Run(c.from+" "+c.cond, func(t *testing.T) {
			w := planWorld(t)
			_, p := plan(t, w, "SELECT x FROM "+c.from+" x WHERE "+c.cond, "t003")
			if got := showPlan(p); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
			for _, ty := range p.Types {
				if (ty.Access == wql.AccessScan) != (ty.Why != "") {
					t.Errorf("%s of %s: why is %q", ty.Access, ty.Type, ty.Why)
				}
			}
		})
	}
}

// TestWQL8_Explain checks the rest of a plan: what was built and kept, and what
// a value depends on.
func TestWQL8_Explain(t *testing.T) {
	w := planWorld(t)
	task := *w.store.Type("Task")
	const text = "SELECT x FROM Task x WHERE x.owner = {this} AND x.Status = 'open' ORDER BY x.due"
	task.Fields = append(task.Fields, computedField("open", text))
	w.declare(task)
	_, p := plan(t, w, text, "t000")
	if p.CachedProgram || p.CachedResult || !p.Types[0].Uses[0].Built || p.Micros <= 0 || p.Access != wql.AccessIndex {
		t.Errorf("the first time: %+v", p)
	}
	want := []string{"entity t000", "Task with owner = 't000': due, name, owner, Status"}
	if diff := cmp.Diff(want, p.DependsOn); diff != "" {
		t.Error(diff)
	}
	f, _ := task.Field("open")
	if _, err := w.wql.Computed(t.Context(), w.store.Get("t000"), f); err != nil {
		t.Fatal(err)
	}
	_, p = plan(t, w, text, "t000")
	if !p.CachedProgram || !p.CachedResult || p.Types[0].Uses[0].Built || p.Expires != "" {
		t.Errorf("the second time: %+v", p)
	}
	for cond, want := range map[string]struct{ depends, expires string }{
		"length(x.title) = 3":                            {"Task: name, title", ""},
		"x.points BETWEEN 1 AND 2":                       {"Task with points at least 1 and at most 2: name, points", ""},
		"x.due < today() - 1d AND x.due >= '2026-02-01'": {"Task with due at least 2026-02-01 and at most 2026-02-26: due, name", "day"},
		"x.createdAt > now() - 1h":                       {"", "now"},
		"x.owner = 't001' AND x.owner.title = 'a'":       {"Task with owner = 't001': name, owner|entity t001: title", ""},
		"x.points = 3":                                   {"Task with points = 3: name, points", ""},
		"x.points > 300 AND x.points < 399":              {"Task with points above 300 and below 399: name, points", ""},
		"x.points <= 3":                                  {"Task with points at most 3: name, points", ""},
		"x.owner = {this.owner}":                         {"entity t005: owner|Task with owner = 't005': name, owner", ""},
	} {
		_, p := plan(t, w, "SELECT x FROM Task x WHERE "+cond, "t005")
		if got := strings.TrimPrefix(strings.Join(p.DependsOn, "|"), "entity t005|"); want.depends != "" && got != want.depends || p.Expires != want.expires {
			t.Errorf("%s depends on %q and expires %q, want %q and %q", cond, got, p.Expires, want.depends, want.expires)
		}
	}
}

// TestWQL8_ResultsAreKeptExactly: a commit makes stale what depends on what it
// touched, and nothing else.
func TestWQL8_ResultsAreKeptExactly(t *testing.T) {
	type v = entities.Values
	change := func(id string, fields v) func(w *world) {
		return func(w *world) { w.patch(entities.Patch{ID: id, Fields: fields}) }
	}
	rename := func(id, name string) func(w *world) {
		return func(w *world) { w.patch(entities.Patch{ID: id, Name: &name}) }
	}
	for _, c := range []struct {
		query string // a computed field of Task t003
		kept  map[string]func(w *world)
		stale map[string]func(w *world)
	}{
		{
			"SELECT x FROM Task x WHERE x.owner = {this}",
			map[string]func(*world){
				"another type":              func(w *world) { w.put(e("Idea", "i99", "New", v{"owner": "t003"})) },
				"a field that is not read":  change("t083", v{"points": 9999.0}),
				"one of this itself":        change("t003", v{"title": "x"}),
				"another owner's":           change("t084", v{"owner": "t007"}),
				"a new one of another":      func(w *world) { w.put(e("Task", "t900", "New", v{"owner": "t004"})) },
				"another is archived":       func(w *world) { w.archive("t084") },
				"a name among other owners": rename("t084", "Anew"),
			},
			map[string]func(*world){
				"one comes":       func(w *world) { w.put(e("Task", "t900", "New", v{"owner": "t003"})) },
				"one leaves":      change("t083", v{"owner": "t007"}),
				"one has none":    change("t083", v{"owner": nil}),
				"one arrives":     change("t084", v{"owner": "t003"}),
				"one is archived": func(w *world) { w.archive("t083") },
				"a name":          rename("t083", "Anew"),
				"a type":          func(w *world) { w.declare(typeOf("Thing")) },
				"it moves":        func(w *world) { w.put(e("Idea", "t083", "t", v{"owner": "t003"})) },
			},
		},
		{
			"SELECT COUNT(*) FROM Task x WHERE x.points BETWEEN 10 AND 20",
			map[string]func(*world){
				"a name":                    rename("t015", "Anew"),
				"outside stays outside":     change("t030", v{"points": 31.0}),
				"a field that is not read":  change("t015", v{"due": "2026-05-05"}),
				"a new one that is outside": func(w *world) { w.put(e("Task", "t900", "New", v{"points": 99.0})) },
			},
			map[string]func(*world){
				"into the range":     change("t030", v{"points": 20.0}),
				"out of it":          change("t010", v{"points": 9.5}),
				"within it":          change("t010", v{"points": 11.0}), // the count is the same, but that is not known
				"out of the store":   func(w *world) { w.archive("t012") },
				"a new one in range": func(w *world) { w.put(e("Task", "t900", "New", v{"points": 10.0})) },
			},
		},
		{
			"SELECT x FROM Task x WHERE x.owner = {this.owner} AND x.owner.title = '3' ORDER BY x.due",
			map[string]func(*world){
				"a title that is not read": change("t010", v{"title": "3"}),
				"another field of owner":   change("t003", v{"points": 77.0}),
			},
			map[string]func(*world){
				"this has another owner": change("t003", v{"owner": "t004"}),
				"the owner's title":      change("t003", v{"title": "4"}),
				"the order":              change("t083", v{"due": "2026-11-11"}),
				"the owner is gone":      func(w *world) { w.archive("t003") },
			},
		},
		{
			"SELECT x FROM Task x WHERE length(x.title) = 9 OR x.owner.points = 1",
			map[string]func(*world){
				"a field that is not read": change("t010", v{"due": "2026-11-11"}),
				"another type":             func(w *world) { w.put(e("Thing", "x1", "New", v{"n": 1.0})) },
			},
			map[string]func(*world){
				"a title":           change("t010", v{"title": "123456789"}),
				"points of a Task":  change("t001", v{"points": 5.0}),
				"points of an Idea": change("i01", v{"points": "5"}), // any type may be an owner
				"a new Task":        func(w *world) { w.put(e("Task", "t900", "New", v{})) },
			},
		},
		{
			"SELECT COUNT(*) FROM Idea x WHERE x.owner.owned = 5 AND x.id = 'i01'",
			map[string]func(*world){
				"another owner's":          change("t084", v{"owner": "t007"}),
				"a field that is not read": change("t081", v{"points": 1.0}),
			},
			map[string]func(*world){
				"the nested value":  change("t081", v{"owner": "t007"}),
				"the one reference": change("i01", v{"owner": "t002"}),
			},
		},
		{
			"SELECT x FROM Task x WHERE x.due = today()",
			map[string]func(*world){
				"an hour passes": func(w *world) { w.now = w.now.Add(time.Hour) },
				"another day's":  change("t010", v{"due": "2026-11-11"}),
			},
			map[string]func(*world){
				"a day passes":    func(w *world) { w.now = w.now.Add(12 * time.Hour) },
				"one is due":      change("t010", v{"due": "2026-02-28"}),
				"the clock stays": nil,
			},
		},
		{
			"SELECT x FROM Task x WHERE x.createdAt <= now() AND x.owner = {this}",
			nil,
			map[string]func(*world){"nothing at all": func(*world) {}},
		},
	} {
		for what, changes := range map[string]map[string]func(*world){"kept": c.kept, "stale": c.stale} {
			for name, change := range changes {
				if change == nil {
					continue
				}
				t.Run(c.query+"/"+what+"/"+name, func(t *testing.T) {
					w := planWorld(t)
					w.declare(typeOf("Thing"))
					task := *w.store.Type("Task")
					f := computedField("asked", c.query)
					task.Fields = append(task.Fields, computedField("owned", "SELECT COUNT(*) FROM Task x WHERE x.owner = {this}"))
					w.declare(task)
					task.Fields = append(task.Fields, f)
					w.declare(task)
					ask := func() *wql.Result {
						r, err := w.wql.Computed(t.Context(), w.store.Get("t003"), f)
						if err != nil {
							t.Fatal(err)
						}
						return r
					}
					first := ask()
					change(w)
					if got := w.wql.Current(first); got != (what == "kept") {
						t.Errorf("Current = %v", got)
					}
					if again := ask(); (again == first) != (what == "kept") {
						t.Errorf("the same result: %v", again == first)
					}
				})
			}
		}
	}
}

// TestWQL8_CurrentInDoubt: what is not known to hold does not.
func TestWQL8_CurrentInDoubt(t *testing.T) {
	w := planWorld(t)
	f := computedField("people", "SELECT x FROM Task x WHERE x.owner = {this}")
	ent := w.store.Get("t003")
	alone := wql.New(w.store, wql.Options{}) // without Apply
	r, err := w.wql.Computed(t.Context(), ent, f)
	s, err2 := alone.Computed(t.Context(), ent, f)
	q, err3 := w.query(f.Query, "t003")
	if err != nil || err2 != nil || err3 != nil {
		t.Fatal(err, err2, err3)
	}
	for name, c := range map[string]struct {
		got, want bool
	}{
		"own":                   {w.wql.Current(r), true},
		"another engine's":      {alone.Current(r), false},
		"without Apply":         {alone.Current(s), true},
		"of a query":            {w.wql.Current(q), false},
		"none":                  {w.wql.Current(nil), false},
		"not from Computed":     {w.wql.Current(&wql.Result{}), false},
		"a copy still knows it": {func() bool { c := *r; return w.wql.Current(&c) }(), true},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v", name, c.got)
		}
	}
	w.put(e("Idea", "new", "New", entities.Values{}))
	if !w.wql.Current(r) || alone.Current(s) {
		t.Errorf("after a commit to another type: %v with Apply, %v without", w.wql.Current(r), alone.Current(s))
	}
	// An entity that is not the stored one is computed, but not kept.
	other := *w.store.Get("t003")
	if r, err := w.wql.Computed(t.Context(), &other, f); err != nil || w.wql.Current(r) || r.Total != 5 {
		t.Errorf("of a copy: %+v, %v", r, err)
	}
}

// TestSEC3_HidingEngineKnowsNothing: for an engine that hides entities they are
// neither rows nor targets nor this, and what it kept goes when one is hidden.
func TestSEC3_HidingEngineKnowsNothing(t *testing.T) {
	w := planWorld(t)
	hiding := w.wql.Showing(wql.Visibility{Hides: func(e *entities.Entity) bool { return e.Private }})
	w.db.OnCommit(hiding.Apply)
	yes := true
	f := computedField("owned", "SELECT COUNT(*) FROM Task x WHERE x.owner = {this} AND x.owner.points = 3")
	ask := func(eng *wql.Engine) string { return show(eng.Computed(t.Context(), w.store.Get("t003"), f)) }
	kept, err := hiding.Computed(t.Context(), w.store.Get("t003"), f)
	if err != nil || ask(w.wql) != "= 5" || ask(hiding) != "= 5" || !hiding.Current(kept) {
		t.Fatalf("at first: %s, %s, %v", ask(w.wql), ask(hiding), err)
	}
	w.patch(entities.Patch{ID: "t083", Private: &yes})
	if ask(w.wql) != "= 5" || ask(hiding) != "= 4" || hiding.Current(kept) {
		t.Errorf("a row became private: %s, %s", ask(w.wql), ask(hiding))
	}
	w.patch(entities.Patch{ID: "t003", Private: &yes})
	if _, err := hiding.Query(context.Background(), f.Query, wql.QueryOptions{This: "t003"}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("this became private: %v", err)
	}
	if _, err := hiding.Computed(context.Background(), w.store.Get("t003"), f); fault.KindOf(err) != fault.NotFound {
		t.Errorf("the entity became private: %v", err)
	}
}

// TestWQL8_IndexesAreNotBuiltAgain: a commit is taken into the indexes that
// there are, also into long lists of entities with one value, and gives what a
// scan gives.
func TestWQL8_IndexesAreNotBuiltAgain(t *testing.T) {
	w := open(t, wql.Options{})
	options := []string{"a", "b", "c", "d", "e"}
	w.declare(entities.Type{Name: "Task", Fields: []entities.Field{
		{Name: "status", Type: record.Select, Options: options},
		{Name: "points", Type: record.Number},
		{Name: "due", Type: record.Date},
		{Name: "labels", Type: record.TextList},
		{Name: "owner", Type: record.EntityRef},
	}})
	rnd := rand.New(rand.NewPCG(3, 4))
	values := func() entities.Values {
		return entities.Values{
			"status": options[rnd.IntN(5)], "points": float64(rnd.IntN(20)), "due": fmt.Sprintf("2026-01-%02d", 1+rnd.IntN(28)),
			"labels": []string{options[rnd.IntN(5)], options[rnd.IntN(5)]}, "owner": options[rnd.IntN(5)],
		}
	}
	const n = 500
	var list []entities.Entity
	for i := range n {
		list = append(list, e("Task", fmt.Sprint("t", i), fmt.Sprint("Task ", i), values()))
	}
	w.put(list...)
	conds := []string{
		"x.status = 'A'", "x.points BETWEEN 3 AND 5", "x.points = 7", "x.due > '2026-01-23'", "x.labels CONTAINS 'c' AND x.status = 'b'", "x.owner = 'd'",
		"x.createdAt > now() - 1h AND x.status = 'e'", "x.owner IN ('a', 'b') AND x.points > 15", "x.name = 'Task 7' OR x.status = 'c'",
	}
	for step := range 120 {
		switch id := fmt.Sprint("t", rnd.IntN(n)); rnd.IntN(6) {
		case 0:
			w.archive(id)
		case 1:
			_, _ = w.store.Delete(t.Context(), id, nil)
		default:
			w.put(e("Task", id, "Task", values()), e("Task", fmt.Sprint("t", rnd.IntN(n)), "Task", values()))
		}
		for _, cond := range conds {
			r, p := plan(t, w, "SELECT x FROM Task x WHERE "+cond+" LIMIT 150", "")
			scan, q := plan(t, w, "SELECT x FROM Task x WHERE ("+cond+") OR length(x.name) = 99 LIMIT 150", "")
			if got, want := show(r, nil), show(scan, nil); got != want {
				t.Fatalf("step %d: %s: %s gives %s, %s gives %s", step, cond, p.Access, got, q.Access, want)
			}
			if q.Access != wql.AccessScan {
				t.Fatal("nothing to compare with")
			}
			for _, u := range p.Types[0].Uses {
				if u.Built && step > 0 {
					t.Fatalf("step %d: %s built an index on %s", step, cond, u.Field)
				}
			}
		}
	}
}
