package wql_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
)

func plan(t *testing.T, w *world, text, this string) (*wql.Result, *wql.Plan) {
	t.Helper()
	r, err := w.wql.Query(t.Context(), text, wql.QueryOptions{This: this, Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	return r, r.Plan
}

// TestWQL8_ReferencesUseAnIndex checks which conditions are answered without a
// look at every row, and that the rows are the same.
func TestWQL8_ReferencesUseAnIndex(t *testing.T) {
	w := open(t, wql.Options{})
	w.declare(typeOf("Thing"))
	w.put(things(4000)...)
	for _, c := range []struct {
		cond     string
		examined int // -1: all
		total    int
	}{
		{"t.team = 'team7'", 2, 2},
		{"'team7' = t.team", 2, 2},
		{"t.TEAM CONTAINS 'team7'", 2, 2},
		{"t.team IN ('team7', 'team8', 'nothing')", 4, 4},
		{"t.team = 'team7' AND t.n > 1000", 2, 1},
		{"t.n > 1000 AND (t.s != 'x' AND t.team = 'team7')", 2, 1},
		{"NOT (t.team != 'team7')", 2, 2},
		{"t.peers = 't5'", 5, 5},
		{"t.peers CONTAINS 't5'", 5, 5},
		{"t.team = {this.team}", 2, 2},
		{"t.team = {this}", 0, 0},
		{"t.id = 't5'", 1, 1},
		{"t = {this}", 1, 1},
		{"t.peers = {this} AND t.team = {this.team}", 2, 0},
		{"t.team = 'team7' OR t.n = 1", 3, 3},
		{"t.team = 'team7' OR length(t.s) = 1", -1, 2},
		{"t.team != 'team7'", -1, 3998},
		{"t.team = 'nothing'", 0, 0},
		{"t.peers CONTAINS {this.peers}", 5, 2}, // all of them; candidates have the rarest
		{"t.peers = {this.peers}", 8, 8},        // any of them
		{"NOT (t.team != 'team7' OR t.n < 1000)", 2, 1},
	} {
		r, p := plan(t, w, "SELECT t FROM Thing WHERE "+c.cond, "t17")
		want := c.examined
		if want < 0 {
			want = 4000
		}
		if p.RowsExamined != want || r.Total != c.total || (p.Access == "scan") != (c.examined < 0) {
			t.Errorf("%s: %s of %d rows gives %d, want %d and %d", c.cond, p.Access, p.RowsExamined, r.Total, c.examined, c.total)
		}
	}
}

// TestWQL8_IndexStaysCurrent changes a store at random and compares each answer
// of the index with that of a scan. Without Apply the index is built again.
func TestWQL8_IndexStaysCurrent(t *testing.T) {
	for _, applied := range []bool{true, false} {
		t.Run(fmt.Sprintf("applied=%v", applied), func(t *testing.T) {
			w := open(t, wql.Options{})
			if !applied {
				w.wql = wql.New(w.store, wql.Options{})
			}
			w.declare(typeOf("Thing"), typeOf("Other"))
			rnd := rand.New(rand.NewPCG(1, 2))
			id := func() string { return fmt.Sprintf("t%d", rnd.IntN(40)) }
			ctx := context.Background()
			for step := range 600 {
				switch rnd.IntN(8) {
				case 0:
					_, _ = w.store.Archive(ctx, id(), nil)
				case 1:
					_, _ = w.store.Restore(ctx, id(), nil)
				case 2:
					_, _ = w.store.Delete(ctx, id(), nil)
				case 3:
					if step%50 == 3 {
						w.declare(typeOf("Thing"))
					}
				default:
					values := entities.Values{"team": "team" + id(), "peers": []string{id(), id(), id()}}
					if rnd.IntN(3) == 0 {
						delete(values, "team")
					}
					w.put(e([]string{"Thing", "Thing", "Other"}[rnd.IntN(3)], id(), "x", values))
				}
				x := id()
				for _, field := range []string{"t.team = 'team" + x + "'", "t.peers = '" + x + "'"} {
					text := "SELECT t FROM Thing, Other WHERE " + field
					fast, p := plan(t, w, text, "")
					slow, q := plan(t, w, text+" OR length(t.s) = 7", "")
					if got, want := show(fast, nil), show(slow, nil); got != want {
						t.Fatalf("step %d: %s: %s gives %s, %s gives %s", step, field, p.Access, got, q.Access, want)
					}
					if q.Access != "scan" {
						t.Fatal("nothing to compare with")
					}
				}
			}
		})
	}
}

// TestWQL8_Concurrency runs queries while the store changes, for the race
// detector, and checks that a reader sees its own writes.
func TestWQL8_Concurrency(t *testing.T) {
	w := open(t, wql.Options{})
	w.declare(typeOf("Thing"))
	w.put(things(200)...)
	members := computedField("members", "SELECT t FROM Thing WHERE t.team = {this} AND t.n >= 0")
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			hub := w.store.Get(fmt.Sprintf("t%d", g))
			for i := range 60 {
				id, team := fmt.Sprintf("g%d", g), fmt.Sprintf("g%d-%d", g, i)
				if _, err := w.store.Put(context.Background(), e("Thing", id, "x", entities.Values{"team": team}), nil); err != nil {
					t.Error(err)
				}
				if got := show(w.query("SELECT t FROM Thing WHERE t.team = '"+team+"'", "")); got != id {
					t.Errorf("after its write %s is not found: %s", id, got)
				}
				// A computed field that is kept: those of before, and the new one.
				member := e("Thing", fmt.Sprintf("m%d-%d", g, i), "x", entities.Values{"team": hub.ID, "n": float64(i)})
				if _, err := w.store.Put(context.Background(), member, nil); err != nil {
					t.Error(err)
				}
				if r, err := w.wql.Computed(context.Background(), hub, members); err != nil || r.Total != i+1 {
					t.Errorf("after its write %d members are found, want %d: %v", r.Total, i+1, err)
				}
				if _, err := w.query("SELECT t FROM Thing WHERE t.n > 3 ORDER BY t.s, t.n DESC LIMIT 3", ""); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func computedField(name, query string) entities.Field {
	return entities.Field{Name: name, Type: record.Computed, Query: query}
}

// TestWQL6_ComputedFields covers computed fields that use computed fields.
func TestWQL6_ComputedFields(t *testing.T) {
	w := company(t, wql.Options{})
	team := *w.store.Type("Team")
	team.Fields = append(slices.Clone(team.Fields),
		computedField("people", "SELECT p FROM Person WHERE p.team = {this}"),
		computedField("headcount", "SELECT COUNT(*) FROM Person p WHERE p.team = {this}"),
		computedField("oldest", "SELECT MIN(p.born) FROM Person WHERE p.team = {this}"),
		computedField("large", "SELECT t FROM Team WHERE t.headcount > 1"),
		computedField("seniors", "SELECT p FROM Person WHERE p IN ({this.people}) AND p.level = 'staff'"))
	w.declare(team)
	for query, want := range map[string]string{
		"SELECT t FROM Team WHERE t.headcount = 2":               "eng",
		"SELECT t FROM Team WHERE t.headcount < 5":               "eng ops",
		"SELECT t FROM Team WHERE t.people.name = 'Bob'":         "eng",
		"SELECT t FROM Team WHERE t.people = 'dora'":             "ops",
		"SELECT t FROM Team WHERE t.people CONTAINS 'dora'":      "ops",
		"SELECT p FROM Person WHERE p.team.headcount = 2":        "alice bob",
		"SELECT t FROM Team WHERE t.oldest < date('1990-01-01')": "eng",
		"SELECT t FROM Team WHERE t.oldest IS NULL":              "ops",
		"SELECT t FROM Team ORDER BY t.headcount":                "ops eng",
		"SELECT t FROM Team WHERE t.large = t.id":                "eng",
		"SELECT SUM(t.people.age) FROM Team":                     "= 70",
		"SELECT t FROM Team WHERE t.seniors = 'alice'":           "eng",
		"SELECT t FROM Team WHERE t.headcount.name = 'x'":        "error: headcount is a number: only references to entities lead further",
	} {
		if got := show(w.query(query, "")); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	for name, want := range map[string]string{"people": "alice bob", "headcount": "= 2", "oldest": "= 1985-01-31", "seniors": "alice"} {
		f, _ := team.Field(name)
		if got := show(w.wql.Computed(t.Context(), w.store.Get("eng"), f)); got != want {
			t.Errorf("eng.%s: %s, want %s", name, got, want)
		}
	}
}

// TestWQL6_CyclesAndDepth: cycles at the level of (type, field) are named, and
// a chain ends after five.
func TestWQL6_CyclesAndDepth(t *testing.T) {
	w := open(t, wql.Options{})
	cyclic := func(name, other string) entities.Type {
		return entities.Type{Name: name, Fields: []entities.Field{
			{Name: "to", Type: record.EntityRef},
			computedField("calc", "SELECT COUNT(*) FROM "+other+" x WHERE x.calc > 0"),
		}}
	}
	w.declare(cyclic("A", "B"), cyclic("B", "C"))
	_, _, err := w.store.PutType(t.Context(), cyclic("C", "A"), nil, false)
	if fault.KindOf(err) != fault.Query || !strings.Contains(err.Error(), "C.calc → A.calc → B.calc → C.calc") {
		t.Errorf("a cycle of three: %v", err)
	}
	// A chain, a level at a time.
	db := open(t, wql.Options{})
	db.declare(entities.Type{Name: "N", Fields: []entities.Field{
		{Name: "to", Type: record.EntityRef},
		computedField("c1", "SELECT x FROM N WHERE x.c2 = {this}"),
		{Name: "c2", Type: record.EntityRef},
	}})
	for i := 1; i <= 7; i++ {
		below := fmt.Sprintf("x.d%d > 0", i-1)
		if i == 1 {
			below = "x.to IS NOT NULL"
		}
		name := fmt.Sprintf("d%d", i)
		n := *db.store.Type("N")
		n.Fields = append(slices.Clone(n.Fields), computedField(name, "SELECT COUNT(*) FROM N x WHERE "+below))
		_, _, err := db.store.PutType(t.Context(), n, nil, false)
		// The sixth level is d6, which uses d5 … d1: five below it.
		if wantErr := i > 6; (err != nil) != wantErr {
			t.Fatalf("level %d: %v", i, err)
		} else if wantErr {
			if fault.KindOf(err) != fault.Query || !strings.Contains(err.Error(), "5 deep") {
				t.Errorf("level %d: %v", i, err)
			}
			break
		}
	}
	// Without a targetType the types are not known: a cycle is found when it is run into.
	db.put(e("N", "n1", "n1", entities.Values{"to": "n2"}), e("N", "n2", "n2", entities.Values{"to": "n1"}))
	loop := computedField("loop", "SELECT x FROM N WHERE x.to.loop = {this}")
	n := *db.store.Type("N")
	n.Fields = append(slices.Clone(n.Fields), loop)
	if _, _, err := db.store.PutType(t.Context(), n, nil, false); err != nil {
		t.Fatal(err)
	}
	if _, err := db.wql.Computed(t.Context(), db.store.Get("n1"), loop); fault.KindOf(err) != fault.Query || !strings.Contains(err.Error(), "N.loop → N.loop") {
		t.Errorf("a cycle over an open reference: %v", err)
	}
}

// TestWQL8_ComputedIsCurrent: a cached result never outlives what it depends on.
func TestWQL8_ComputedIsCurrent(t *testing.T) {
	w := company(t, wql.Options{})
	f := computedField("people", "SELECT p FROM Person WHERE p.team = {this}")
	ask := func() string { return show(w.wql.Computed(t.Context(), w.store.Get("eng"), f)) }
	first, err := w.wql.Computed(t.Context(), w.store.Get("eng"), f)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := w.wql.Computed(t.Context(), w.store.Get("eng"), f)
	if first != again {
		t.Error("nothing changed and the result was computed again")
	}
	w.put(e("Person", "fred", "Fred", entities.Values{"team": "eng"}))
	if got := ask(); got != "alice bob fred" {
		t.Errorf("after a new entity: %s", got)
	}
	if _, err := w.store.Archive(t.Context(), "alice", nil); err != nil {
		t.Fatal(err)
	}
	if got := ask(); got != "bob fred" {
		t.Errorf("after a are archived: %s", got)
	}
	name := "Aaron"
	if _, err := w.store.Patch(t.Context(), entities.Patch{ID: "fred", Name: &name}, nil); err != nil {
		t.Fatal(err)
	}
	if got := ask(); got != "fred bob" {
		t.Errorf("after a rename: %s", got)
	}
	person := *w.store.Type("Person")
	person.Fields = slices.DeleteFunc(slices.Clone(person.Fields), func(f entities.Field) bool { return f.Name == "team" })
	w.declare(person)
	if got := ask(); got != "error: type Person has no field team" {
		t.Errorf("after the field is gone: %s", got)
	}
	if _, err := w.wql.Computed(t.Context(), w.store.Get("eng"), entities.Field{Name: "city", Type: record.Text}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a stored field: %v", err)
	}
}

// TestWQL5_ResultJSON: an aggregate has a value, also when it is null.
func TestWQL5_ResultJSON(t *testing.T) {
	w := company(t, wql.Options{})
	for query, want := range map[string]string{
		"SELECT p FROM Person WHERE p.age = 41":              `{"rows":[{"id":"alice","name":"Alice","type":"Person"}],"total":1,"truncated":false}`,
		"SELECT COUNT(*) FROM Person p WHERE p.age > 99":     `{"rows":[],"total":0,"truncated":false,"value":0}`,
		"SELECT SUM(p.age) FROM Person WHERE p.name = 'Ann'": `{"rows":[],"total":0,"truncated":false,"value":null}`,
	} {
		r, err := w.query(query, "")
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(r)
		if err != nil || string(data) != want {
			t.Errorf("%s: %s, %v", query, data, err)
		}
		var back wql.Result
		if err := json.Unmarshal(data, &back); err != nil || show(&back, nil) != show(r, nil) || back.IsValue != r.IsValue {
			t.Errorf("%s is read back as %+v, %v", data, back, err)
		}
	}
}
