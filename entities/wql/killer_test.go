package wql_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/entities/wql/syntax"
)

// TestWQL7_Killers sends what is known to take a process down through raw expr,
// and its like in WQL. Each ends soon, small and with an answer.
func TestWQL7_Killers(t *testing.T) {
	w := company(t, wql.Options{})
	cond := func(c string) string { return "SELECT p FROM Person WHERE " + c }
	for name, c := range map[string]struct {
		query string
		kind  fault.Kind
	}{
		"repeat":          {cond(`repeat(repeat("a",999998),1000000) = 'a'`), fault.Query},
		"all":             {cond(`all(1..9999999, all(1..9999999, true))`), fault.Query},
		"reduce":          {cond(`reduce(1..60, #acc + #acc, "aaaaaaaa") = 'a'`), fault.Query},
		"map":             {cond(`map(1..100000000, #) = 1`), fault.Query},
		"env":             {cond(`$env = 1`), fault.Query},
		"a million (":     {cond(strings.Repeat("(", 1_000_000)), fault.Limit},
		"4,000 (":         {cond(strings.Repeat("(", 4000)), fault.Query},
		"4,000 ( closed":  {cond(strings.Repeat("(", 2000) + strings.Repeat(")", 2000)), fault.Query},
		"NOT NOT":         {cond(strings.Repeat("NOT ", 1000) + "p.age = 1"), fault.Query},
		"nested calls":    {cond(strings.Repeat("lower(", 500) + "'a'" + strings.Repeat(")", 500) + " = 'a'"), fault.Query},
		"many OR":         {cond(strings.TrimSuffix(strings.Repeat("age=1 OR ", 400), " OR ")), fault.Query},
		"many in a list":  {cond("p.age IN (" + strings.TrimSuffix(strings.Repeat("1,", 1900), ",") + ")"), fault.Query},
		"long path":       {cond("p" + strings.Repeat(".team", 700) + " = 1"), fault.Query},
		"a large number":  {cond("p.age = 1e999999999"), fault.Query},
		"a long duration": {cond("p.born = today() - 999999999999999999999d"), fault.Query},
		"many keys":       {"SELECT p FROM Person ORDER BY " + strings.TrimSuffix(strings.Repeat("p.name, p.age, ", 20), ", "), fault.Query},
		"only quotes":     {strings.Repeat("'", 4095), fault.Query},
		"only brackets":   {strings.Repeat("[", 4095), fault.Query},
		"only NUL":        {strings.Repeat("\x00", 4095), fault.Query},
		"not UTF-8":       {cond("p.name = '\xff\xfe'"), fault.Query},
		"too long":        {"SELECT p FROM Person" + strings.Repeat(" ", syntax.MaxSource), fault.Limit},
	} {
		t.Run(name, func(t *testing.T) {
			used := measure(func() {
				_, err := w.query(c.query, "")
				if got := fault.KindOf(err); err == nil || got != c.kind {
					t.Errorf("error %v of kind %s, want %s", err, got, c.kind)
				}
				w.wql.Check(c.query, "")
			})
			if used.bytes > 32<<20 || used.time > 30*time.Second {
				t.Errorf("took %v and %d bytes", used.time, used.bytes)
			}
		})
	}
}

type usage struct {
	time  time.Duration
	bytes uint64
}

func measure(f func()) usage {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	f()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	return usage{took, after.TotalAlloc - before.TotalAlloc}
}

// TestWQL7_LongestAllowed runs queries at the limits themselves.
func TestWQL7_LongestAllowed(t *testing.T) {
	w := company(t, wql.Options{})
	deep := strings.Repeat("(", syntax.MaxDepth) + "p.age = 41" + strings.Repeat(")", syntax.MaxDepth)
	if got := show(w.query("SELECT p FROM Person WHERE "+deep, "")); got != "alice" {
		t.Errorf("%d parentheses: %s", syntax.MaxDepth, got)
	}
	// SELECT, FROM, and three nodes a comparison, one for the chain.
	wide := strings.TrimSuffix(strings.Repeat("age=41 OR ", (syntax.MaxNodes-3)/3), " OR ")
	if got := show(w.query("SELECT p FROM Person WHERE "+wide, "")); got != "alice" {
		t.Errorf("%d nodes: %s", syntax.MaxNodes, got)
	}
	// A NOT and its parenthesis are two levels.
	negated := strings.Repeat("NOT (", syntax.MaxDepth/2) + "age = 41" + strings.Repeat(")", syntax.MaxDepth/2)
	if got := show(w.query("SELECT p FROM Person WHERE "+negated, "")); got != "alice" {
		t.Errorf("nested NOTs: %s", got)
	}
	if got := show(w.query("SELECT p FROM Person WHERE NOT ("+negated+")", "")); got != "error: the query is nested more than 64 deep" {
		t.Errorf("one more: %s", got)
	}
}

// TestWQL7_Deadline runs queries that take long and must end with their
// context, whether the work is in many rows or in one.
func TestWQL7_Deadline(t *testing.T) {
	w := open(t, wql.Options{})
	w.declare(typeOf("Thing"))
	list := things(3000)
	list[0].Fields["s"] = strings.Repeat("a", 200_000)
	list[1].Fields["s"] = strings.Repeat("\u00e4x", 60_000)
	everybody := make([]string, 0, 3000)
	for i := range 3000 {
		everybody = append(everybody, fmt.Sprintf("t%d", i))
	}
	for i := range 40 {
		list[i].Fields["peers"] = everybody
	}
	w.put(list...)
	for _, query := range []string{
		"SELECT t FROM Thing WHERE " + strings.Repeat("upper(lower(", 25) + "{this.s}" + strings.Repeat("))", 25) + " = coalesce(t.s, 'x')",
		"SELECT t FROM Thing WHERE t.n >= 0 ORDER BY " + strings.Repeat("upper(lower(", 25) + "{this.s}" + strings.Repeat("))", 25),
		"SELECT t FROM Thing WHERE t.peers.peers.team = t.peers.peers.s", // long lists against each other
		"SELECT t FROM Thing WHERE t.s LIKE '%" + strings.Repeat("a", 1500) + "b" + strings.Repeat("a", 1500) + "%'",
		"SELECT t FROM Thing WHERE t.peers.peers.peers.peers.s = 'nothing'",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		start := time.Now()
		_, err := w.wql.Query(ctx, query, wql.QueryOptions{This: "t1"})
		took := time.Since(start)
		cancel()
		if fault.KindOf(err) != fault.Deadline || took > 30*time.Second {
			t.Errorf("%.60s…: %v after %v", query, err, took)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.wql.Query(ctx, "SELECT t FROM Thing", wql.QueryOptions{}); fault.KindOf(err) != fault.Cancelled {
		t.Errorf("cancelled: %v", err)
	}
}

// TestWQL7_Memory sorts everything by all fields: rows beyond the limit are not
// kept.
func TestWQL7_Memory(t *testing.T) {
	w := open(t, wql.Options{})
	w.declare(typeOf("Thing"))
	w.put(things(10_000)...)
	used := measure(func() {
		r, err := w.wql.Query(t.Context(), "SELECT t FROM Thing ORDER BY t.s, t.team.name, t.peers, t.n DESC, t.name, t.createdAt", wql.QueryOptions{Limit: 10})
		if got := show(r, err); !strings.HasSuffix(got, "…10000") {
			t.Error(got)
		}
	})
	if used.bytes > 64<<20 {
		t.Errorf("allocated %d bytes in all", used.bytes)
	}
}

// TestWQL3_Matches goes through the hook.
func TestWQL3_Matches(t *testing.T) {
	asked := []string{}
	w := company(t, wql.Options{Match: func(_ context.Context, words string) (func(string) bool, error) {
		asked = append(asked, words)
		return func(id string) bool { return id == "bob" || id == "p1" }, nil
	}})
	for query, want := range map[string]string{
		`SELECT p FROM Person WHERE MATCHES "road map"`:               "bob",
		`SELECT p FROM Person WHERE NOT MATCHES 'x' AND p.age = 29`:   "carl",
		`SELECT p FROM Person WHERE MATCHES "x" AND p.team = {this}`:  "bob",
		`SELECT p FROM Person WHERE MATCHES ""`:                       "error: MATCHES needs words",
		`SELECT p FROM Person WHERE MATCHES "a" OR NOT MATCHES "bee"`: "alice bob carl dora emil",
	} {
		if got := show(w.query(query, "eng")); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	if len(asked) != 5 {
		t.Errorf("the index was asked %q", asked)
	}
	w = company(t, wql.Options{})
	if _, err := w.query(`SELECT p FROM Person WHERE MATCHES "x"`, ""); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("without an index: %v", err)
	}
}

// FuzzParse: whatever the text, the parser ends, its findings have a place, and
// what it accepts it can write and read again.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"SELECT p FROM Person WHERE p.team = {this}",
		"SELECT COUNT(p.x) FROM `A b`, [c] q WHERE NOT (q.a.b IN ('x', \"y\", 1, null) OR q.c BETWEEN today() - 7d AND date('2026-01-31')) ORDER BY lower(q.x) DESC NULLS FIRST LIMIT 5 OFFSET 2; -- end",
		"select * from T where a NOT CONTAINS 'it''s' and MATCHES \"w\" and b STARTS WITH c or d is not null",
		"SELECT p FROM WHERE ( ) AND ORDER BY , LIMIT x",
		"SELECT p FROM T WHERE p.größe = -1.5e3 + 3d",
		"SELECT a, COUNT(*), b.c(, FROM T GROUP BY x; SELECT DISTINCT p., , (",
	} {
		f.Add(seed)
	}
	w := company(f, wql.Options{})
	f.Fuzz(func(t *testing.T, text string) {
		q, found := syntax.Parse(text)
		bad := false
		for _, d := range found {
			if d.Line < 1 || d.Column < 1 || d.Message == "" || d.Hint == "" || !strings.HasSuffix(d.Source, "^") {
				t.Fatalf("finding without a place or a hint: %+v", d)
			}
			bad = bad || d.Severity == record.SeverityError
		}
		w.wql.Check(text, "Person")
		if bad {
			return
		}
		if q == nil {
			t.Fatal("no tree and no error")
		}
		written := q.String()
		again, found := syntax.Parse(written)
		if len(written) <= syntax.MaxSource && (len(found) > 0 || again.String() != written) {
			t.Fatalf("written as %s, which is read as %v with %v", written, again, found)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if _, err := w.wql.Query(ctx, text, wql.QueryOptions{This: "alice"}); err != nil && fault.KindOf(err) == fault.Internal {
			t.Fatal(err)
		}
	})
}

// TestWQL7_MemoryOfResults: of the values of computed fields only so many are
// kept that they take tens of megabytes, however many are asked for.
func TestWQL7_MemoryOfResults(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	w := open(t, wql.Options{})
	thing := typeOf("Thing")
	all := computedField("all", "SELECT t FROM Thing WHERE t.n = 7 AND t.s != {this}")
	thing.Fields = append(thing.Fields, all)
	w.declare(thing)
	list := things(3000)
	for i := range list {
		list[i].Fields["n"] = float64(i % 15) // 200 rows have each
	}
	w.put(list...)
	var results []*wql.Result
	for _, ent := range w.store.OfType("Thing") {
		r, err := w.wql.Computed(t.Context(), ent, all)
		if err != nil || len(r.Rows) != 200 {
			t.Fatal(len(r.Rows), err)
		}
		results = append(results, r)
	}
	rows := 0
	for _, r := range results {
		if w.wql.Current(r) {
			rows += len(r.Rows)
		}
	}
	if rows > 400_000 || rows < 200_000 {
		t.Errorf("%d rows are kept", rows)
	}
}

// TestWQL7_MemoryOfIndexes: when the indexes have too many entries, the one that
// was not asked for longest makes room.
func TestWQL7_MemoryOfIndexes(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	w := open(t, wql.Options{})
	thing := entities.Type{Name: "Thing"}
	for f := range 5 {
		thing.Fields = append(thing.Fields, entities.Field{Name: fmt.Sprint("f", f), Type: record.TextList})
	}
	w.declare(thing)
	var list []entities.Entity
	for i := range 1000 {
		values := entities.Values{}
		for _, f := range thing.Fields {
			items := make([]string, 120)
			for n := range items {
				items[n] = fmt.Sprint(i, ".", n)
			}
			values[f.Name] = items
		}
		list = append(list, e("Thing", fmt.Sprint("t", i), "T", values))
	}
	w.put(list...)
	built := func(field string) bool {
		_, p := plan(t, w, "SELECT t FROM Thing WHERE t."+field+" CONTAINS '7.7'", "")
		if p.RowsMatched != 1 || p.RowsExamined != 1 {
			t.Fatalf("%s: %+v", field, p)
		}
		return p.Types[0].Uses[0].Built
	}
	// 120,000 entries each: four have room.
	for _, c := range []struct {
		field string
		built bool
	}{{"f0", true}, {"f1", true}, {"f2", true}, {"f3", true}, {"f0", false}, {"f4", true}, {"f0", false}, {"f3", false}, {"f1", true}} {
		if got := built(c.field); got != c.built {
			t.Errorf("%s built: %v, want %v", c.field, got, c.built)
		}
	}
}

// TestWQL7_MemoryOfOrder orders by long texts: behind references, made anew for
// each row, in lists, and different ones for each row. What is held stays small,
// or the query is refused.
func TestWQL7_MemoryOfOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	w := open(t, wql.Options{})
	w.declare(
		entities.Type{Name: "Hub", Fields: []entities.Field{{Name: "bio", Type: record.Text}}},
		entities.Type{Name: "P", Fields: []entities.Field{
			{Name: "hub", Type: record.EntityRef},
			{Name: "hubs", Type: record.EntityRefList},
			{Name: "n", Type: record.Number},
			{Name: "own", Type: record.Text},
		}},
	)
	list := []entities.Entity{e("Hub", "h", "H", entities.Values{"bio": strings.Repeat("lorem Ipsum 12 ", 3400)})}
	const n = 1500
	for i := range n {
		own := strings.Repeat("Long ", 5000) + fmt.Sprintf("%d.", n-i)
		list = append(list, e("P", fmt.Sprint("p", i), fmt.Sprint("P ", i), entities.Values{"hub": "h", "hubs": []string{"h", "h"}, "n": float64(-i), "own": own}))
	}
	for len(list) > 0 { // a transaction has a limit, too
		w.put(list[:min(100, len(list))]...)
		list = list[min(100, len(list)):]
	}
	for _, c := range []struct{ order, want string }{
		{"p.hub.bio, p.n LIMIT 2", "p1499 p1498 …1500"},
		{"p.hubs.bio, upper(p.hub.bio), lower(p.hub.bio), p.n LIMIT 2", "p1499 p1498 …1500"},
		{"p.hub.bio DESC, upper(p.hub.bio), p.n LIMIT 1 OFFSET 1499", "p0"},
		{"p.own LIMIT 3", "p1499 p1498 p1497 …1500"},
		{"upper(p.own) DESC LIMIT 2", "p0 p1 …1500"},
		{"p.own, upper(p.own), lower(p.own) LIMIT 1500", "error: the values that the rows are ordered by take more than 100663296 bytes"},
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		r, err := w.wql.Query(t.Context(), "SELECT p FROM P ORDER BY "+c.order, wql.QueryOptions{Limit: 10_000})
		runtime.ReadMemStats(&after) // with such garbage as there is
		if got := show(r, err); got != c.want {
			t.Errorf("%s: %s, want %s", c.order, got, c.want)
		}
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 200<<20 {
			t.Errorf("%s: %d bytes more", c.order, grown)
		}
	}
}

// TestWQL5_SumIsExact: however the rows come, and whatever cancels out.
func TestWQL5_SumIsExact(t *testing.T) {
	w := open(t, wql.Options{})
	w.declare(typeOf("Thing"))
	for i, n := range []float64{1e100, 0.1, -1e100, 0.2, 1e16, 0.3, -1e16, 1} {
		w.put(e("Thing", fmt.Sprint("t", i), fmt.Sprint("T", (i*5)%8), entities.Values{"n": n}))
	}
	for query, want := range map[string]string{
		"SELECT SUM(t.n) FROM Thing":                "= 1.6",
		"SELECT AVG(t.n) FROM Thing":                "= 0.2",
		"SELECT SUM(t.n) FROM Thing WHERE t.n > 99": "= 1e+100",
	} {
		if got := show(w.query(query, "")); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// TestWQL7_MemoryOfPaths: one row may reach many values, and no more than can
// be held.
func TestWQL7_MemoryOfPaths(t *testing.T) {
	w := open(t, wql.Options{})
	w.declare(
		entities.Type{Name: "Hub", Fields: []entities.Field{{Name: "tags", Type: record.TextList}}},
		entities.Type{Name: "P", Fields: []entities.Field{{Name: "hubs", Type: record.EntityRefList}}},
	)
	tags := make([]string, 1000)
	for i := range tags {
		tags[i] = fmt.Sprint("t", i)
	}
	var list []entities.Entity
	var hubs []string
	for i := range 300 {
		hubs = append(hubs, fmt.Sprint("h", i))
		list = append(list, e("Hub", hubs[i], "H", entities.Values{"tags": tags}))
	}
	w.put(append(list, e("P", "few", "A few", entities.Values{"hubs": hubs[:99]}), e("P", "many", "Many", entities.Values{"hubs": hubs}))...)
	const few, refused = "SELECT p FROM P WHERE p.id = 'few' AND ", "error: paths over many entities give more than 100000 values for one row"
	for query, want := range map[string]string{
		few + "p.hubs.tags CONTAINS 't7'":                                       "few",
		few + "p.hubs.tags CONTAINS 't7' AND length(p.hubs.tags) = 99000":       "few", // a list is made once
		"SELECT p FROM P WHERE p.hubs.tags CONTAINS 'x'":                        refused,
		"SELECT p FROM P ORDER BY p.hubs.tags":                                  refused,
		"SELECT COUNT(p.hubs.tags) FROM P":                                      refused,
		"SELECT COUNT(p.hubs.tags) FROM P WHERE p.id = 'few'":                   "= 99000",
		"SELECT p FROM P WHERE {this.hubs.tags} CONTAINS 'x' AND p.id = {this}": refused,
	} {
		var r *wql.Result
		var err error
		used := measure(func() { r, err = w.query(query, "many") })
		if got := show(r, err); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
		if used.bytes > 128<<20 {
			t.Errorf("%s: %d bytes", query, used.bytes)
		}
	}
}

// TestWQL3_LongLists: long lists against each other are compared as short ones
// are, and not pair by pair.
func TestWQL3_LongLists(t *testing.T) {
	w := open(t, wql.Options{})
	w.declare(entities.Type{Name: "T", Fields: []entities.Field{
		{Name: "tags", Type: record.TextList},
		{Name: "more", Type: record.TextList},
	}})
	texts := func(n int, prefix string, extra ...string) []string {
		list := slices.Clone(extra)
		for i := range n {
			list = append(list, fmt.Sprint(prefix, i))
		}
		return list
	}
	for i, c := range []struct {
		tags, more []string
		equal, all bool
	}{
		{texts(9000, "a"), texts(9000, "b"), false, false},
		{texts(9000, "a"), texts(9000, "b", "a8999"), true, false},
		{texts(9000, "a", "caf\u00e9"), texts(8000, "a", "cafe\u0301"), true, true},
		{texts(100, "a"), texts(101, "a"), true, false},
		{texts(2, "a"), texts(3, "b", "a1"), true, false},
	} {
		id := fmt.Sprint("t", i)
		w.put(e("T", id, "T", entities.Values{"tags": c.tags, "more": c.more}))
		for cond, want := range map[string]bool{
			"x.tags = x.more": c.equal, "x.more = x.tags": c.equal, "x.tags CONTAINS x.more": c.all, "x.tags IN ('none', x.more)": c.equal,
			"NOT (x.tags = x.more)": !c.equal, "x.tags NOT CONTAINS x.more": !c.all,
		} {
			if got := show(w.query("SELECT x FROM T x WHERE x.id = '"+id+"' AND "+cond, "")); (got == id) != want {
				t.Errorf("%s: %s gives %s", id, cond, got)
			}
		}
	}
}
