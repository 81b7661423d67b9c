package wql_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
)

// TestWQL8_InOrderAsSorted compares rows that come in the order of an index with the
// same rows sorted, while entities change: random ties, missing values, long texts,
// conditions, limits and offsets. The sorted ones are of the same query with a condition
// that is true of every row and that no index answers.
func TestWQL8_InOrderAsSorted(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := open(t, wql.Options{})
		w.declare(entities.Type{Name: "Task", Fields: []entities.Field{
			{Name: "title", Type: record.Text},
			{Name: "points", Type: record.Number},
			{Name: "due", Type: record.Date},
			{Name: "status", Type: record.Select, Options: []string{"Open", "Done", "Later"}},
			{Name: "urgent", Type: record.Boolean},
		}})
		titles := []string{
			"a", "A", "Ä", "a\u0308", "a 9", "a 10", "a 010", "ab", "b", "\x00", "a\x00", strings.Repeat("x", 300),
		}
		long := rapid.IntRange(0, 9).Draw(rt, "long") == 0
		task := func(id string) entities.Entity {
			v := entities.Values{}
			if rapid.IntRange(0, 3).Draw(rt, "has") > 0 {
				v["title"] = rapid.SampledFrom(titles).Draw(rt, "title")
				v["points"] = rapid.SampledFrom([]float64{-1e300, -2.5, -1, 0, 1, 2, 3, 1e-9, 1e300}).Draw(rt, "points")
				v["urgent"] = rapid.Bool().Draw(rt, "urgent")
			}
			if rapid.IntRange(0, 3).Draw(rt, "has") > 0 {
				v["due"] = fmt.Sprintf("2026-0%d-0%d", rapid.IntRange(1, 3).Draw(rt, "month"), rapid.IntRange(1, 3).Draw(rt, "day"))
				v["status"] = rapid.SampledFrom([]string{"Open", "open", "Done", "Later"}).Draw(rt, "status")
			}
			if long && rapid.IntRange(0, 20).Draw(rt, "is long") == 0 {
				v["title"] = strings.Repeat("x", 1100)
			}
			return e("Task", id, rapid.SampledFrom([]string{"x", "X", "x 9", "x 10", "y"}).Draw(rt, "name"), v)
		}
		var list []entities.Entity
		for i := range rapid.IntRange(60, 120).Draw(rt, "n") {
			list = append(list, task(fmt.Sprintf("t%03d", i)))
		}
		w.put(list...)
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			switch id := fmt.Sprintf("t%03d", rapid.IntRange(0, 130).Draw(rt, "id")); rapid.IntRange(0, 4).Draw(rt, "do") {
			case 0:
				if w.store.Get(id).Live() {
					w.archive(id)
				}
			case 1, 2:
				if w.store.Get(id) == nil || w.store.Get(id).Live() {
					w.put(task(id))
				}
			}
			if _, p := plan(t, w, "SELECT x FROM Task x ORDER BY x.points LIMIT 3", ""); p.Access != wql.AccessOrder {
				rt.Fatalf("rows in the order of points come by %s", p.Access)
			}
			keys := make([]string, rapid.IntRange(1, 2).Draw(rt, "keys"))
			for i := range keys {
				keys[i] = "x." + rapid.SampledFrom([]string{
					"title", "points", "due", "status", "urgent", "name", "createdAt",
				}).Draw(rt, "key") + rapid.SampledFrom([]string{"", " DESC"}).Draw(rt, "direction") +
					rapid.SampledFrom([]string{"", "", " NULLS FIRST", " NULLS LAST"}).Draw(rt, "nulls")
			}
			cond := rapid.SampledFrom([]string{
				"", "", "x.status = 'open'", "x.due >= '2026-02-01'", "x.due < '2026-02-02'", "x.points > 0", "x.points <= 1",
				"x.points > -1e308 AND x.points < 2", "x.due BETWEEN '2026-01-02' AND '2026-03-01'", "x.due = '2026-02-02'",
				"x.title = 'a'", "x.points != 1", "x.status = 'open' AND x.points > 0", "x.status = 'nobody'",
			}).Draw(rt, "condition")
			if strings.Count(cond, "x.") == 1 && rapid.Bool().Draw(rt, "by itself") {
				keys[0] = strings.Fields(cond)[0]
			}
			tail := fmt.Sprintf(" ORDER BY %s LIMIT %d OFFSET %d", strings.Join(keys, ", "),
				rapid.IntRange(1, 12).Draw(rt, "limit"), rapid.IntRange(0, 4).Draw(rt, "offset"))
			sorted, ordered := " WHERE length(x.id) > 0", ""
			if cond != "" {
				sorted, ordered = sorted+" AND "+cond, " WHERE "+cond
			}
			want, err := w.query("SELECT x FROM Task x"+sorted+tail, "")
			if err != nil {
				rt.Fatal(err)
			}
			for range 2 { // it is built, and it is there
				got, p := plan(t, w, "SELECT x FROM Task x"+ordered+tail, "")
				if got.Total != want.Total || got.Truncated != want.Truncated || !slices.Equal(got.Rows, want.Rows) {
					rt.Fatalf("%s%s by %s:\n got %s\nwant %s", ordered, tail, p.Access, show(got, nil), show(want, nil))
				}
			}
		}
	})
}

// TestWQL8_InOrderPlans checks when rows come in the order of an index, and how many are
// looked at.
func TestWQL8_InOrderPlans(t *testing.T) {
	for _, c := range []struct{ tail, want string }{
		{"ORDER BY x.due LIMIT 3", "Task order sorted(ORDER BY due)=3; 400 of 3"},
		{"ORDER BY x.due DESC LIMIT 3 OFFSET 2", "Task order sorted(ORDER BY due DESC)=5; 400 of 5"},
		{"ORDER BY x.name LIMIT 3", "Task order sorted(ORDER BY name)=3; 400 of 3"},
		{"ORDER BY x.due, x.title LIMIT 3", "Task order sorted(ORDER BY due)=10; 400 of 10"}, // a day has ten
		{"WHERE x.due >= '2026-01-05' ORDER BY x.due LIMIT 3", "Task order sorted(ORDER BY due)=3 ordered(due >= '2026-01-05')=360; 360 of 3"},
		{"WHERE x.due < '2026-02-05' ORDER BY x.due DESC LIMIT 3", "Task order sorted(ORDER BY due DESC)=3 ordered(due < '2026-02-05')=350; 350 of 3"},
		{"WHERE x.points > 390 ORDER BY x.points LIMIT 3", "Task order sorted(ORDER BY points)=3 ordered(points > 390)=9; 9 of 3"},
		{"WHERE x.status = 'done' ORDER BY x.due LIMIT 3", "Task order sorted(ORDER BY due)=4 equality(status = 'done')=396; 396 of 4"},
		// Few rows meet the condition: they are sorted.
		{"WHERE x.status = 'open' ORDER BY x.due LIMIT 3", "Task index equality(status = 'open')=4; 4 of 4"},
		{"WHERE x.points < 7 ORDER BY x.due LIMIT 3", "Task range ordered(points < 7)=7; 7 of 7"},
		// Many do and all of them come late: the way ends, and they are sorted.
		{"WHERE x.points > 250 ORDER BY x.due LIMIT 30", "Task scan not ordered(points > 250)=149; 149 of 400"},
		// How many there are is not known without a look at all.
		{"WHERE x.status != 'done' ORDER BY x.due LIMIT 3", "Task scan; 4 of 400"},
		{"WHERE x.points > 9 AND x.status = 'done' ORDER BY x.due LIMIT 3", "Task scan not ordered(points > 9)=390 not equality(status = 'done')=396; 387 of 400"},
		// No index has the order.
		{"ORDER BY length(x.title) LIMIT 3", "Task scan; 400 of 400"},
		{"ORDER BY x.owner LIMIT 3", "Task scan; 400 of 400"},
		{"ORDER BY x.labels LIMIT 3", "Task scan; 400 of 400"},
		{"ORDER BY x.due", "Task scan; 400 of 400"}, // half of all rows
		{"ORDER BY x.due LIMIT 100 OFFSET 300", "Task scan; 400 of 400"},
	} {
		w := planWorld(t)
		_, p := plan(t, w, "SELECT x FROM Task x "+c.tail, "")
		if got := showPlan(p); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.tail, got, c.want)
		}
	}
}

// TestWQL8_InOrderForOtherReaders: hidden entities are neither counted nor on the way, and
// come when they are hidden no more.
func TestWQL8_InOrderForOtherReaders(t *testing.T) {
	w := planWorld(t)
	hides := true
	reader := w.wql.Showing(wql.Visibility{Hides: func(e *entities.Entity) bool { return hides && e.Name < "Task 2" }})
	w.db.OnCommit(reader.Apply)
	ask := func() (*wql.Result, error) {
		return reader.Query(t.Context(), "SELECT x FROM Task x ORDER BY x.points LIMIT 2", wql.QueryOptions{})
	}
	for range 2 {
		if got := show(ask()); got != "t002 t003 …288" {
			t.Error(got)
		}
	}
	hides = false
	reader.Forget()
	if got := show(ask()); got != "t000 t001 …400" {
		t.Error(got)
	}
	w.patch(entities.Patch{ID: "t007", Fields: entities.Values{"points": -1.0}})
	if got := show(ask()); got != "t007 t000 …400" {
		t.Error(got)
	}
}
